"""``clonometer report``: a run as one HTML file, and as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.app.results import read_results
from clonometer.cli.options import FILE, examples, force_option, out_option, run_argument
from clonometer.cli.outputs import Pages, with_previous_kept
from clonometer.errors import InputError, UsageError
from clonometer.inputs import InputKind, read_input

if TYPE_CHECKING:
    from clonometer.tracing.types import Explanation, Versus
    from clonometer.tracing.work.types import WorkExplanation

#: More than any explanation has; a file that is larger is not read into memory.
EXPLANATION = InputKind("an explanation", 8 << 20, "name a file that 'clonometer explain --out' wrote")

#: Its place in the list of commands.
ORDER = 30

_EXAMPLES = examples(
    "clonometer report clonometer-run.parquet --out clonometer-report.html",
    "clonometer explain launch.fork --vs launch.pthread --out why.json",
    "clonometer report clonometer-run.parquet --explain why.json --out clonometer-report.html",
    "clonometer report clonometer-run.parquet --markdown issue.md",
)


@click.command(name="report", epilog=_EXAMPLES)
@run_argument
@out_option("The HTML file; by default RUN-report.html, and an existing one becomes RUN-report.previous.html.")
@click.option(
    "--explain",
    "explained",
    metavar="FILE",
    multiple=True,
    type=FILE,
    help="Also explain why: a file that 'clonometer explain --out' wrote; repeatable.",
)
@click.option("--markdown", metavar="FILE", type=FILE, help="Write Markdown; without --out no HTML file.")
@force_option
def command(run_file: Path, out: Path | None, explained: tuple[Path, ...], markdown: Path | None, force: bool) -> None:
    """Write the report of a run: one HTML file that needs no network."""
    from clonometer.views.documents.run import run_document

    Pages(out, markdown).check(force=force, inputs=[run_file, *explained])
    if out is not None:
        check_is_page(out, "--out")
    explanations = [read_explanation_file(path) for path in explained]
    document = run_document(read_results(run_file), explanations)
    if out is None and markdown is None:
        out = with_previous_kept(Path(f"{run_file.stem}-report.html"))
    Pages(out, markdown).write(document)


def check_is_page(path: Path, option: str) -> None:
    """Refuse a name that promises another kind of file than a page.

    Raises
    ------
    UsageError
        If it has an ending, and not that of a page.
    """
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise UsageError(f"{option} {path} is a page, and must end in .html", f"{option} {path.with_suffix('.html')}")


def read_explanation_file(path: Path) -> Explanation | Versus | WorkExplanation:
    """Read what ``clonometer explain --out`` has written.

    Raises
    ------
    InputError
        If it cannot be read or is no explanation; the message names the file.
    """
    from clonometer.tracing.from_json import read_explanation

    content = read_input(path, EXPLANATION)
    try:
        return read_explanation(content)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", error.hint) from error
