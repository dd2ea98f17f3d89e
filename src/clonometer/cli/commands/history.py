"""``clonometer history``: when the level of each row changed, and a status for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.fleet_folder import PLACE, read_folder, where_option
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    FILE,
    examples,
    force_option,
    json_option,
    max_regression_option,
    only_option,
    out_option,
    page_options,
    share_option,
)
from clonometer.cli.outputs import Pages, picture_format, write_and_say
from clonometer.errors import UsageError

if TYPE_CHECKING:
    from clonometer.dataset.history_types import History
    from clonometer.dataset.load import Dataset

EXPORT_FORMATS = ("openmetrics",)

#: Its place in the list of commands.
ORDER = 210

_EXAMPLES = examples(
    "clonometer history runs/",
    "clonometer history runs/ --by class --only 'launch.*temperature=warm*'",
    "clonometer history runs/ --since 2026-11-01 --max-regression 3%",
    "clonometer history runs/ --html history.html",
    "clonometer history runs/ --export openmetrics --out history.om",
    "clonometer history history.om          the same, from the export",
    "clonometer history runs/ --json | jq '.events[0].causes'",
)


@click.command(name="history", epilog=_EXAMPLES)
@click.argument("source", metavar="FOLDER|URL|FILE", type=PLACE)
@click.option(
    "--by", metavar="FACT", default="host", show_default=True, help="What defines a series: host, class or fact."
)
@only_option
@where_option
@max_regression_option
@share_option("--min-effect", "minimum_effect", "1%", "The smallest step to show.")
@click.option(
    "--recent",
    metavar="RUNS",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many of the last runs count: only steps among them are regressions.",
)
@click.option("--since", metavar="DATE", help="Only steps from this date on are regressions, instead of --recent.")
@click.option("--plot", metavar="FILE", type=FILE, help="Also draw it: FILE.png or FILE.svg.")
@click.option("--export", "export", metavar="FORMAT", help="Write all values: openmetrics.")
@out_option("Where --export writes.")
@page_options
@force_option
@json_option
@click.option("--wide", is_flag=True, help="Show every row and event.")
def command(
    *,
    source: Path | str,
    by: str,
    globs: tuple[str, ...],
    conditions: tuple[str, ...],
    max_regression: float,
    minimum_effect: float,
    recent: int,
    since: str | None,
    plot: Path | None,
    export: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    wide: bool,
    pages: Pages,
) -> int:
    """Find when the level of each row changed over many runs, and what changed with it.

    The exit status is 0 if no row became slower recently, and 1 if one did and stayed slower. It is 3 if history cannot
    tell: too few runs, too much noise in more than half of the rows, or a step that is only suspected. A step needs
    seven runs at the new level, and a second reboot if it came with one. Slow drift that noise can explain is not
    reported.

    FILE is one that --export openmetrics wrote.
    """
    from clonometer.app.history import history, moment_of
    from clonometer.views.documents.history import history_document

    since_when = moment_of(since)
    _check_outputs(plot, export, out, force)
    dataset = read_folder(source, globs, conditions)
    steps = history(
        dataset, by=by, max_regression=max_regression, minimum_effect=minimum_effect, recent=recent, since=since_when
    )
    if plot is not None:
        _draw(steps, plot)
    if export is not None and out is not None:
        _export(dataset, out)
    print_document(history_document, steps, pages=pages, as_json=as_json, wide=wide)
    return steps.verdict.exit_status


def _draw(history: History, plot: Path) -> None:
    from clonometer.views.history_picture import history_spec
    from clonometer.views.pictures import rendered

    write_and_say(plot, rendered(history_spec(history), plot.suffix.removeprefix(".")))


def _export(dataset: Dataset, out: Path) -> None:
    from clonometer.dataset.points import points_of
    from clonometer.views.exports.history import openmetrics_text

    write_and_say(out, openmetrics_text(points_of(dataset)))


def _check_outputs(plot: Path | None, export: str | None, out: Path | None, force: bool) -> None:
    """Refuse now what could not be written later."""
    from clonometer.errors import unknown
    from clonometer.runfile import check_output

    if plot is not None:
        picture_format(plot, "--plot", f"--html {plot} writes a page" if plot.suffix == ".html" else None)
        check_output(plot, force)
    if export is not None and export not in EXPORT_FORMATS:
        raise unknown("export format", export, EXPORT_FORMATS)
    if (export is None) != (out is None):
        raise UsageError("--export and --out go together", "--export openmetrics --out history.om")
    if export == "openmetrics" and out is not None:
        check_output(out, force)


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.dataset.history_types import History

    return [
        JsonSchema(
            "history",
            "When the levels of a folder of runs changed. Values of times are in nanoseconds.",
            {"history": History},
            title="clonometer history --json",
        ),
    ]
