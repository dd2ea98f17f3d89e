"""``clonometer fleet show``: what the hosts of a folder of runs measured."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.fleet_folder import by_option, folder_argument, read_folder, where_option
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import examples, json_option, only_option, page_options
from clonometer.cli.outputs import Pages

#: Its place in the list of commands.
ORDER = 20

_EXAMPLES = examples(
    "clonometer fleet show runs/",
    "clonometer fleet show runs/ --by kernel --only 'launch.fork*'",
    "clonometer fleet show runs/ --where cpu='AMD EPYC 9R14' --by microcode",
    "clonometer fleet show runs/ --json | jq '.odd_hosts[].host'",
)


@click.command(name="show", epilog=_EXAMPLES)
@folder_argument
@by_option("class")
@only_option
@where_option
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every group, row and outlier host.")
def command(
    *,
    folder: Path | str,
    by: str,
    globs: tuple[str, ...],
    conditions: tuple[str, ...],
    as_json: bool,
    pages: Pages,
    wide: bool,
) -> None:
    """Summarize a folder of run files: medians over hosts, how hosts and runs differ, outlier hosts.

    Each host counts once. The scatter between hosts, and within a host, is given as standard deviations, which are
    shares. A host is an outlier if all its rows of a workload are far from those of the others.

    Summaries of the runs are kept in the folder, so that only new files are read.
    """
    from clonometer.dataset.show import show_fleet
    from clonometer.views.documents.fleet import fleet_document

    shown = show_fleet(read_folder(folder, globs, conditions), by, with_hosts=bool(pages))
    print_document(fleet_document, shown, pages=pages, as_json=as_json, wide=wide)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.dataset.types import FleetCompared, FleetShown

    return [
        JsonSchema(
            "fleet",
            "A folder of runs, in which each host counts once: all groups of hosts, or groups compared with each "
            "other. Times are in nanoseconds, standard deviations are shares.",
            {"fleet_shown": FleetShown, "fleet_compared": FleetCompared},
            title="clonometer fleet show --json, clonometer fleet compare --json",
        ),
    ]
