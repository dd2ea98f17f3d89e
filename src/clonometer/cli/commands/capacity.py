"""``clonometer capacity``: the highest rate at which servers keep a limit of latency."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.completing import complete_settings, complete_workloads
from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import drawn_seed_option, examples, json_option, page_options
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_FAILED_CELLS, EXIT_INTERRUPTED

#: Its place in the list of commands.
ORDER = 75

_EXAMPLES = examples(
    "clonometer capacity serve.fork serve.thread",
    "clonometer capacity serve.fork --until 'p99<20ms' --set parent_bytes=1GiB",
    "clonometer capacity 'serve.*' --set block_ns=5000000 --wide",
    "clonometer capacity serve.event --json | jq '.servers[].kept_hz'",
)


@click.command(name="capacity", epilog=_EXAMPLES)
@click.argument("workloads", metavar="SERVER...", nargs=-1, required=True, shell_complete=complete_workloads)
@click.option(
    "--until",
    "limit",
    metavar="LIMIT",
    default="p99<5ms",
    show_default=True,
    help="Raise the rate until this breaks: p50, p90, p99, p99.9 or max below a time.",
)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=VALUE",
    multiple=True,
    shell_complete=complete_settings,
    help="Measure with this value of an axis; repeatable.",
)
@drawn_seed_option("Fixes the order of measuring.")
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every rate that was tried.")
def command(
    *,
    workloads: tuple[str, ...],
    limit: str,
    settings: tuple[str, ...],
    seed: int,
    as_json: bool,
    wide: bool,
    pages: Pages,
) -> int:
    """Find the highest rate at which servers keep a limit of latency.

    The rate is doubled until the limit breaks, and then narrowed to a tenth. A server takes about 30 seconds. Requests
    arrive at random, whether or not earlier ones were answered. It writes no run file.
    """
    from clonometer.app.capacity import capacity
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.capacity import capacity_document

    try:
        answer = capacity(workloads, limit=limit, settings=settings, seed=seed, progress=make_progress())
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before the search had ended", err=True)
        return EXIT_INTERRUPTED
    print_document(capacity_document, answer, pages=pages, as_json=as_json, wide=wide)
    return EXIT_FAILED_CELLS if any(server.reason is not None for server in answer.servers) else 0


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.capacity import Capacity

    return [
        JsonSchema(
            "capacity",
            "The highest rate at which each server keeps a limit of latency, and the steps of the search. Times are in "
            "nanoseconds.",
            {"capacity": Capacity},
            title="clonometer capacity --json",
        ),
    ]
