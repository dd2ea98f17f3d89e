"""``clonometer reproduce``: the published studies, measured again here, judged and reconciled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.completing import complete_studies
from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import budget_option, examples, json_option, page_options, seed_option
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.studies.types import Reproduction

DEFAULT_FOLDER = "clonometer-reproduce"

#: Its place in the list of commands.
ORDER = 160

_EXAMPLES = examples(
    "clonometer reproduce --quick                everything in 3 minutes",
    "clonometer reproduce loop-10000",
    "clonometer reproduce S12                    one claim, and what decides it",
    "clonometer reproduce threads are 13 times faster    the same by its words",
    "clonometer reproduce --html studies.html --pictures figures",
    "clonometer reproduce --quick --json | jq '.items[] | [.id, .status]'",
)


@click.command(name="reproduce", epilog=_EXAMPLES)
@click.argument("studies", metavar="[STUDY|ID|WORDS]...", nargs=-1, shell_complete=complete_studies)
@click.option("--quick", is_flag=True, help="Fewer processes and less memory: 3 minutes instead of 20.")
@click.option("--wide", is_flag=True, help="Show the evidence for every line.")
@json_option
@budget_option("For single claims: measure this much longer than before: 30s or 2m.")
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(DEFAULT_FOLDER),
    show_default=True,
    help="Where run files are kept; what is already there is not measured again.",
)
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write each figure as PNG and SVG.",
)
@seed_option
@page_options
@click.option("--force", is_flag=True, help="Measure again what the folder has, and replace existing files.")
def command(
    studies: tuple[str, ...],
    *,
    quick: bool,
    wide: bool,
    as_json: bool,
    budget_s: float | None,
    out: Path,
    pages: Pages,
    pictures: Path | None,
    seed: int,
    force: bool,
) -> int:
    """Repeat the published studies on this machine, and say which of their claims hold here.

    Studies: sysel-2020, bendersky-2018, burian-2015, loop-10000; all of them by default. An ID such as S12 or B7, or
    the words of a claim, is one figure or claim: only what it needs is measured, in a separate folder. The answer
    names the command that decides or reverses it. For whole studies, the answer begins with their contradictions: what
    holds here of each side, and what reverses that. Then come a verdict on each claim, and each published figure beside
    the one measured here.
    Interrupt it at any time: the same command resumes it.
    """
    from clonometer.app.reproduce import folder_of, reproduce
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.studies import studies_document

    if pictures is not None:
        from clonometer.views.drawing import check_installed

        check_installed()
    folder = folder_of(studies, out)
    try:
        reproduction = reproduce(
            studies, quick=quick, out=out, budget_s=budget_s, seed=seed, force=force, progress=make_progress()
        )
    except KeyboardInterrupt:
        click.echo(
            f"clonometer: interrupted; what was measured is kept in {folder}; the same command resumes it", err=True
        )
        return EXIT_INTERRUPTED
    print_document(studies_document, reproduction, pages=pages, as_json=as_json, wide=wide)
    _write_pictures(reproduction, pictures, force=force)
    click.echo(f"The run files are in {folder}; clonometer show opens each.", err=True)
    return 0


def _write_pictures(reproduction: Reproduction, pictures: Path | None, *, force: bool) -> None:
    if pictures is None:
        return
    from clonometer.runfile import check_output
    from clonometer.views.study_figures import study_pictures

    pictures.mkdir(parents=True, exist_ok=True)
    for name, data in study_pictures(reproduction):
        path = pictures / name
        check_output(path, force)
        write_and_say(path, data)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.studies.types import Reproduction

    return [
        JsonSchema(
            "reproduce",
            "The studies repeated on one machine: an entry for each figure, claim and question, then what reverses "
            "their contradictions.",
            {"reproduction": Reproduction},
            title="clonometer reproduce --json",
        ),
    ]
