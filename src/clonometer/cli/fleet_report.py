"""``clonometer fleet report``: a folder of runs as one HTML file."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.fleet_folder import by_option, folder_argument, read_folder, where_option
from clonometer.cli.options import examples, force_option, only_option, out_option
from clonometer.cli.outputs import write_and_say

_EXAMPLES = examples(
    "clonometer fleet report runs/ --out fleet.html",
    "clonometer fleet report runs/ --by kernel --only 'launch.*' --out kernels.html",
)


@click.command(name="report", epilog=_EXAMPLES)
@folder_argument
@out_option("The HTML file.", required=True)
@by_option("class")
@only_option
@where_option
@force_option
def command(
    *, folder: Path | str, out: Path, by: str, globs: tuple[str, ...], conditions: tuple[str, ...], force: bool
) -> None:
    """Write the report of a folder of runs: hosts by group, a map of cells by host, all rows.

    One HTML file that needs no network.
    """
    from clonometer.dataset.show import show_fleet
    from clonometer.runfile import check_output
    from clonometer.views.documents.fleet import fleet_document
    from clonometer.views.html.document import render_document_page

    check_output(out, force)
    shown = show_fleet(read_folder(folder, globs, conditions), by, with_hosts=True)
    write_and_say(out, render_document_page(fleet_document(shown, wide=True)))
