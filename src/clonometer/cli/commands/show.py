"""``clonometer show``: the answer of a run that was measured before."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.app.results import keep_cells, read_results
from clonometer.cli.answers import print_answer
from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import examples, json_option, page_options, run_argument
from clonometer.cli.outputs import Pages
from clonometer.errors import UsageError
from clonometer.plan.names import chosen_cells

#: Its place in the list of commands.
ORDER = 20

_EXAMPLES = examples(
    "clonometer show clonometer-run.parquet",
    "clonometer show run.parquet --only 'launch.pthread' --wide",
    "clonometer show run.parquet --workers --only 'work.factor*workers=8*'",
    "clonometer show run.parquet --workers --json | jq .cells",
    "clonometer show run.parquet --json | jq '.findings[].sentence'",
)


@click.command(name="show", epilog=_EXAMPLES)
@run_argument
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every row and column, however wide.")
@click.option("--only", "globs", metavar="GLOB", multiple=True, help="Show only cells that match; repeatable.")
@click.option("--workers", is_flag=True, help="Show what each worker did: times, switches, faults, waits.")
def command(*, run_file: Path, as_json: bool, pages: Pages, wide: bool, globs: tuple[str, ...], workers: bool) -> None:
    """Show the answer of a run file."""
    if workers:
        _print_workers(run_file, globs, as_json=as_json, pages=pages)
        return
    results = keep_cells(read_results(run_file), globs)
    print_answer(results, as_json=as_json, wide=wide)
    if pages:
        from clonometer.views.documents.run import run_document

        pages.write(run_document(results))


def _print_workers(path: Path, globs: tuple[str, ...], *, as_json: bool, pages: Pages) -> None:
    """Print a line for each worker of the cells that match, or one JSON object."""
    from clonometer.results.workers.each_worker import each_worker
    from clonometer.results.workers.types import WorkersOfRun
    from clonometer.runfile import open_run
    from clonometer.views.documents.workers import workers_document

    with open_run(path) as run:
        chosen = chosen_cells(globs, [entry.cell for entry in run.document.cells])
        sampled = set(run.cells())
        tables = each_worker(run, [cell for cell in chosen if cell in sampled])
    if not tables:
        raise UsageError("no cell here has workers", "measure some: clonometer run work.factor --set workers=1,2,4")
    print_document(workers_document, WorkersOfRun(str(path), tuple(tables)), pages=pages, as_json=as_json)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.types import Results
    from clonometer.results.workers.types import WorkersOfRun

    return [
        JsonSchema(
            "show",
            "Everything known about a run. Times are in nanoseconds.",
            {"results": Results},
            title="clonometer show --json",
        ),
        JsonSchema(
            "workers",
            "What each worker of a work program did, by worker number. Values are medians over all "
            "executions of all processes.",
            {"workers": WorkersOfRun},
            title="clonometer show --workers --json",
        ),
    ]
