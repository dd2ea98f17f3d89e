"""``clonometer compare``: runs against a run, or cells of a run against each other."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, NOISE_HELP, examples, json_option, minimum_effect_option, page_options
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import UsageError

PLOT_FORMATS = ("png", "svg")

#: Its place in the list of commands.
ORDER = 50

_EXAMPLES = examples(
    "clonometer compare before.parquet after.parquet",
    "clonometer compare old.parquet new.parquet newest.parquet --wide",
    "clonometer compare old1.parquet old2.parquet -- new1.parquet new2.parquet",
    "clonometer compare before.parquet after.parquet --noise noise.json",
    "clonometer compare run.parquet --cells 'launch.fork*' 'launch.pthread*'",
    "clonometer compare before.parquet after.parquet --plot change.svg",
    "clonometer compare old.parquet new.parquet --json | jq .counts",
)


#: What stands for ``--`` between two groups of runs: no file has such a name.
_APART = "\x1d"


class _Groups(click.RichCommand):
    """A command in which ``--`` parts two groups of files; click would only take it for the end of the options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep each ``--`` that follows something as a word of its own."""
        return super().parse_args(ctx, [_APART if word == "--" and index else word for index, word in enumerate(args)])


@click.command(name="compare", cls=_Groups, epilog=_EXAMPLES)
@click.argument("run_files", metavar="RUN [RUN]... [-- RUN...]", nargs=-1, required=True, type=FILE)
@click.option(
    "--cells",
    metavar="GLOB GLOB",
    nargs=2,
    help="Compare cells of one run: those that match the second glob with those that match the first.",
)
@minimum_effect_option
@click.option("--noise", "noise", metavar="FILE|FOLDER|SHARE", help=NOISE_HELP)
@click.option("--plot", metavar="FILE", type=FILE, help="Also draw the answer: FILE.png or FILE.svg.")
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every row, difference and reason.")
@click.option("--force", is_flag=True, help="Replace existing files.")
def command(
    *,
    run_files: tuple[Path, ...],
    cells: tuple[str, str] | None,
    minimum_effect: float,
    noise: str | None,
    plot: Path | None,
    as_json: bool,
    pages: Pages,
    wide: bool,
    force: bool,
) -> None:
    """Compare runs with the first one, cell by cell, or two groups of runs separated by --.

    Each row shows both medians and the change: 6% slower, likely 6% slower, the same, or between what it lies.

    The noise between runs comes from several runs per side, from --noise, or from three more runs in the same
    folder. Without these it is bounded by what the two runs show. Where a row stays open, the answer ends
    with the ab that decides it, and how long that takes.
    """
    from clonometer.app.compare import compare, compare_within
    from clonometer.views.documents.comparison import comparison_document

    groups = _groups([str(path) for path in run_files])
    if cells is None and sum(map(len, groups)) < 2:
        raise UsageError(
            "compare needs two runs, or --cells with two groups of one run",
            "clonometer compare before.parquet after.parquet",
        )
    if cells is not None and (len(groups) > 1 or len(run_files) != 1):
        raise UsageError(f"--cells compares cells of one run; {sum(map(len, groups))} are named", "name one RUN")
    if cells is not None and noise is not None:
        raise UsageError("--noise is for two runs: cells of one run have no noise between runs", "leave --noise out")
    image_format = _checked_plot(plot, force)
    if cells is not None:
        compared = compare_within(run_files[0], cells[0], cells[1], minimum_effect=minimum_effect)
    else:
        compared = compare(*groups, minimum_effect=minimum_effect, noise=noise)
    print_document(comparison_document, compared, pages=pages, as_json=as_json, wide=wide)
    if plot is not None:
        from clonometer.views.comparison_picture import comparison_picture

        provenances = [_provenance_text(path) for path in dict.fromkeys(path for group in groups for path in group)]
        write_and_say(plot, comparison_picture(compared, image_format, provenances))


def _provenance_text(path: Path) -> str:
    from clonometer.runfile import open_run
    from clonometer.views.pictures import provenance

    with open_run(path) as run:
        return provenance(run.document.host, run.document.started, f"run {path.name}")


def _groups(words: list[str]) -> list[list[Path]]:
    """Part the files at ``--``."""
    groups: list[list[Path]] = [[]]
    for word in words:
        if word == _APART:
            groups.append([])
        else:
            groups[-1].append(Path(word))
    if len(groups) > 2 or not all(groups):
        raise UsageError("-- separates two groups of runs", "clonometer compare OLD OLD -- NEW NEW")
    return groups


def _checked_plot(plot: Path | None, force: bool) -> str:
    """Refuse now a picture that could not be written later; give its format."""
    if plot is None:
        return ""
    from clonometer.runfile import check_output

    image_format = plot.suffix.removeprefix(".").lower()
    if image_format not in PLOT_FORMATS:
        raise UsageError(f"--plot {plot}: a picture is .png or .svg", f"for example --plot {plot.with_suffix('.svg')}")
    check_output(plot, force)
    return image_format


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.compare.types import Compared

    return [
        JsonSchema(
            "compare",
            "Runs compared with a run, or cells of a run compared with each other. Times are in nanoseconds.",
            {"compared": Compared},
            title="clonometer compare --json",
        ),
    ]
