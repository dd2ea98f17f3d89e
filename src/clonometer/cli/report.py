"""``clonometer report``: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.answers import read_results
from clonometer.cli.examples import examples
from clonometer.cli.outputs import write_text


@click.command(name="report", epilog=examples("clonometer report clonometer-run.parquet --out clonometer-report.html"))
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The HTML file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(run_file: Path, out: Path, force: bool) -> None:
    """Write the report of a run: one HTML file that needs no network."""
    from clonometer.runfile import check_output
    from clonometer.views.html import render_report

    check_output(out, force)
    write_text(out, render_report(read_results(run_file)))
    click.echo(f"wrote {out}", err=True)
