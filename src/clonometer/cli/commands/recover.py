"""``clonometer recover``: a killed run becomes a valid run file."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.options import FILE, examples, out_option
from clonometer.errors import InputError

#: Its place in the list of commands.
ORDER = 120


@click.command(
    name="recover", epilog=examples("clonometer recover clonometer-run.raw", "clonometer show clonometer-run.parquet")
)
@click.argument("raw_file", metavar="RAW", type=FILE)
@out_option("The run file; by default RAW with the suffix .parquet, and an existing one is kept under another name.")
@click.option("--force", is_flag=True, help="Replace an existing run file.")
def command(raw_file: Path, out: Path | None, force: bool) -> None:
    """Finish a run that was killed, from the .raw file that it left.

    The run file is marked partial. The .raw file is kept, but no longer needed.
    """
    from clonometer.runner.recover import recover

    if raw_file.suffix == ".parquet":
        raise InputError(f"{raw_file} is a run file, not the .raw file of an unfinished run")
    path = raw_file.with_suffix(".parquet") if out is None else out
    recovered = recover(raw_file, path, force, keep=out is None and not force)
    if recovered.kept is not None:
        click.echo(f"the former {path} is kept as {recovered.kept}", err=True)
    click.echo(
        f"{recovered.n_samples:,} samples of {recovered.n_processes:,} processes, status {recovered.status}", err=True
    )
    if recovered.fault:
        click.echo(f"the raw file could not be read to its end: {recovered.fault}", err=True)
    click.echo(f"wrote {recovered.path}; 'clonometer show {recovered.path}' shows it", err=True)
