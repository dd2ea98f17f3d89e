"""``clonometer reproduce``: the published studies, measured again here, judged and reconciled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.completing import complete_studies
from clonometer.cli.console import print_record
from clonometer.cli.options import FILE, examples, json_option, seed_option
from clonometer.cli.outputs import write_and_say
from clonometer.errors import EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from clonometer.studies.measured import Measurements
    from clonometer.studies.types import Reproduction

DEFAULT_FOLDER = "clonometer-reproduce"
REPORTS = (".html", ".md")

_EXAMPLES = examples(
    "clonometer reproduce --quick                everything within 3 minutes",
    "clonometer reproduce loop-10000",
    "clonometer reproduce --report studies.html --pictures figures",
    "clonometer reproduce --quick --json | jq '.items[] | [.id, .status]'",
)


@click.command(name="reproduce", epilog=_EXAMPLES)
@click.argument("studies", metavar="[STUDY]...", nargs=-1, shell_complete=complete_studies)
@click.option("--quick", is_flag=True, help="Fewer processes and less memory: within 3 minutes instead of 20.")
@click.option("--wide", is_flag=True, help="Show the evidence of every line.")
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(DEFAULT_FOLDER),
    show_default=True,
    help="Where the run files are kept; what is measured there is not measured again.",
)
@click.option("--report", metavar="FILE", type=FILE, help="Also write the report, .html or .md.")
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write each figure as PNG and SVG.",
)
@seed_option
@click.option("--force", is_flag=True, help="Measure again what the folder has, and replace existing files.")
def command(
    studies: tuple[str, ...],
    *,
    quick: bool,
    wide: bool,
    as_json: bool,
    out: Path,
    report: Path | None,
    pictures: Path | None,
    seed: int,
    force: bool,
) -> int:
    """Measure the published studies again on this machine, and say which of their claims hold here.

    Studies: sysel-2020, bendersky-2018, burian-2015, loop-10000; all of them by default. The answer begins with where
    the studies contradict each other: who is right here, and which condition reverses that. Then each published figure
    stands beside ours, and each claim has a verdict. Interrupt it at any time: the same command goes on where it ended.
    """
    from clonometer.studies.published import load_published
    from clonometer.views.terminal.studies import render_studies

    chosen = load_published().choose(studies)
    _check_outputs(report, force=force)
    if pictures is not None:
        from clonometer.views.drawing import check_installed

        check_installed()
    try:
        reproduction = _measure(chosen, quick=quick, out=out, seed=seed, force=force)
    except KeyboardInterrupt:
        click.echo(f"clonometer: interrupted; what was measured is kept in {out}, the same command goes on", err=True)
        return EXIT_INTERRUPTED
    print_record(reproduction, render_studies, as_json=as_json, wide=wide)
    _write(reproduction, report, pictures, force=force)
    click.echo(f"The run files are in {out}; clonometer show opens each.", err=True)
    return 0


def _check_outputs(report: Path | None, *, force: bool) -> None:
    if report is None:
        return
    if report.suffix not in REPORTS:
        raise UsageError(f"--report {report} is neither .html nor .md", "the suffix says which form is written")
    from clonometer.runfile import check_output

    check_output(report, force)


def _measure(studies: tuple[str, ...], *, quick: bool, out: Path, seed: int, force: bool) -> Reproduction:
    from clonometer.cli.measuring import find_catalogue
    from clonometer.cli.predicting import live
    from clonometer.cli.reproducing import Kept, observe_demos
    from clonometer.host.memory import free_bytes
    from clonometer.results.first.doubts import say_load
    from clonometer.studies.answer import answer
    from clonometer.studies.explained import EXPLANATIONS
    from clonometer.studies.measured import merge
    from clonometer.studies.parts import load_part, plans_for, say_shrunk

    drivers, catalogue = find_catalogue()
    kept = Kept(out, force=force)
    available = free_bytes(live())
    parts: list[Measurements] = []
    notes: list[str] = []
    for name in plans_for(studies):
        plan, shrunk = load_part(name, catalogue, quick=quick, available_bytes=available)
        notes += [note for note in say_shrunk(shrunk) if note not in notes]
        parts.append(kept.measure(plan, catalogue, drivers, seed))
    explained = {
        name: kept.explain(name, wanted, catalogue, drivers, quick=quick)
        for name, wanted in EXPLANATIONS.items()
        if wanted.study in studies
    }
    # Of the first plan: what came later also ran beside our own.
    busy = say_load(parts[0].host)
    return answer(merge(parts, observe_demos(), explained), studies, notes=notes, busy=busy, quick=quick, seed=seed)


def _write(reproduction: Reproduction, report: Path | None, pictures: Path | None, *, force: bool) -> None:
    if report is not None:
        if report.suffix == ".html":
            from clonometer.views.html.studies import render_studies_report as render
        else:
            from clonometer.views.exports.studies import studies_markdown as render
        write_and_say(report, render(reproduction))
    if pictures is not None:
        from clonometer.runfile import check_output
        from clonometer.views.study_figures import study_pictures

        pictures.mkdir(parents=True, exist_ok=True)
        for name, data in study_pictures(reproduction):
            path = pictures / name
            check_output(path, force)
            write_and_say(path, data)
