"""``clonometer fleet compare``: groups of hosts against each other."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.fleet_folder import by_option, folder_argument, read_folder, where_option
from clonometer.cli.options import examples, json_option, minimum_effect_option, only_option, page_options
from clonometer.cli.outputs import Pages

#: Its place in the list of commands.
ORDER = 30

_EXAMPLES = examples(
    "clonometer fleet compare runs/ --by kernel",
    "clonometer fleet compare runs/ --by kernel --base 6.6.58 --where instance=m7i.large",
    "clonometer fleet compare runs/ --by mitigations --json | jq .compared.counts",
)


@click.command(name="compare", epilog=_EXAMPLES)
@folder_argument
@by_option("kernel")
@click.option("--base", metavar="VALUE", help="The group to compare with; by default the oldest.")
@only_option
@where_option
@minimum_effect_option
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every row, difference and reason.")
def command(
    *,
    folder: Path | str,
    by: str,
    base: str | None,
    globs: tuple[str, ...],
    conditions: tuple[str, ...],
    minimum_effect: float,
    as_json: bool,
    pages: Pages,
    wide: bool,
) -> None:
    """Compare groups of hosts: kernels, mitigations, instance types.

    The rule is that of 'clonometer compare', with hosts as the units. Where at least half of a group's hosts are in
    both groups, as before and after an update, each host is compared with itself.
    """
    from clonometer.dataset.compare import compare_fleet
    from clonometer.views.documents.comparison import fleet_comparison_document

    dataset = read_folder(folder, globs, conditions)
    answer = compare_fleet(dataset, by, base=base, minimum_effect=minimum_effect)
    print_document(fleet_comparison_document, answer, pages=pages, as_json=as_json, wide=wide)
