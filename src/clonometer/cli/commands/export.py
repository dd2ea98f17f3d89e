"""``clonometer export``: a run in the format of another program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import rich_click as click

from clonometer.app.results import keep_cells, read_results
from clonometer.cli.completing import names_of
from clonometer.cli.options import examples, force_option, out_option, run_argument
from clonometer.files import write_pieces
from clonometer.plan.names import chosen_cells
from clonometer.views.exports import FORMATS, check_format

#: Its place in the list of commands.
ORDER = 90

_EXAMPLES = examples(
    "clonometer export run.parquet --format csv --out run.csv",
    "clonometer export run.parquet --format jsonl --samples | head",
    "clonometer export old.parquet --format benchstat --out old.txt",
    "clonometer export run.parquet --format markdown",
)


@click.command(name="export", epilog=_EXAMPLES)
@run_argument
@click.option(
    "--format",
    "name",
    required=True,
    metavar="FORMAT",
    shell_complete=names_of(*FORMATS),
    help=f"One of {', '.join(FORMATS)}.",
)
@out_option("The file; by default standard output.")
@force_option
@click.option("--samples", is_flag=True, help="Write every sample instead of the estimates: csv and jsonl only.")
@click.option("--only", "globs", metavar="GLOB", multiple=True, help="Export only cells that match; repeatable.")
def command(*, run_file: Path, name: str, out: Path | None, force: bool, samples: bool, globs: tuple[str, ...]) -> None:
    """Write a run in the format of another program.

    The figures are those of 'clonometer show --json': times in nanoseconds, unless the format prescribes a unit
    (OpenMetrics: seconds). benchstat gets the median of each process as one repetition, because
    the process is the independent unit.
    """
    from clonometer.runfile import check_output

    check_format(name, samples=samples)
    if out is not None:
        check_output(out, force, [run_file])
    pieces = _samples(run_file, name, globs) if samples else _estimates(run_file, name, globs)
    if out is None:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    write_pieces(out, pieces)
    click.echo(f"wrote {out}", err=True)


def _estimates(run_file: Path, name: str, globs: tuple[str, ...]) -> Iterator[str]:
    from clonometer.records import to_json
    from clonometer.views.exports import encode

    results = keep_cells(read_results(run_file), globs)
    return encode(name, to_json(results), results.process_medians)


def _samples(run_file: Path, name: str, globs: tuple[str, ...]) -> Iterator[str]:
    from clonometer.results.rows.samples import sample_columns, sample_rows
    from clonometer.runfile import open_run
    from clonometer.views.exports import encode_samples

    with open_run(run_file) as run:
        rows = sample_rows(run, chosen_cells(globs, run.cells()))
        yield from encode_samples(name, sample_columns(run), rows)
