"""``clonometer show``: the answer of a run that was measured before."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.answers import keep_cells, print_answer, read_results
from clonometer.cli.examples import examples

_EXAMPLES = examples(
    "clonometer show clonometer-run.parquet",
    "clonometer show run.parquet --only 'launch.pthread' --wide",
    "clonometer show run.parquet --json | jq '.findings[].sentence'",
)


@click.command(name="show", epilog=_EXAMPLES)
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--wide", is_flag=True, help="Show every row and column, however wide.")
@click.option("--only", "globs", metavar="GLOB", multiple=True, help="Show only cells that match; repeatable.")
def command(run_file: Path, as_json: bool, wide: bool, globs: tuple[str, ...]) -> None:
    """Show the answer of a run file."""
    print_answer(keep_cells(read_results(run_file), globs), as_json=as_json, wide=wide)
