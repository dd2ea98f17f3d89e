"""Pictures of results: the report's figures as PNG or SVG, from the same specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from clonometer.errors import InputError, unknown
from clonometer.families import is_launch
from clonometer.results.types import Results
from clonometer.views.drawing import draw_png, draw_svg
from clonometer.views.figures import figures
from clonometer.views.figures.scanned import drawn_kind
from clonometer.views.figures.types import Figure, Row
from clonometer.views.labels import cpu_name
from clonometer.views.specs import DARK, LIGHT, headed, theme
from clonometer.views.types import Spec

_BY_KIND = {figure.kind: figure for figure in figures()}
KINDS = tuple(sorted(_BY_KIND))
FORMATS = ("png", "svg")
PNG_SCALE = 2.0
# Letters of a line above panels so wide, in a font of 15 and in one of 12 points.
_TITLE_LETTERS, _TEXT_LETTERS = 9.0, 6.6
_NARROWEST, _MARGIN = 520, 90
_LONGEST_TITLE = 150


def picture(results: Results, kind: str, image_format: str = "svg", *, dark: bool = False) -> bytes | str:
    """Draw a picture; raises as `picture_spec` and as `rendered`."""
    return rendered(picture_spec(results, kind), image_format, dark=dark)


def rendered(spec: Spec, image_format: str, *, dark: bool = False) -> bytes | str:
    """Render a specification with the theme of pictures that stand alone.

    Raises
    ------
    UsageError
        If the format does not exist.
    """
    if image_format not in FORMATS:
        raise unknown("picture format", image_format, FORMATS)
    whole = {**spec, "config": theme(*(DARK if dark else LIGHT))}
    return draw_svg(whole) if image_format == "svg" else draw_png(whole, PNG_SCALE)


def picture_spec(results: Results, kind: str) -> Spec:
    """Build the Vega-Lite specification of a picture, without its theme.

    Raises
    ------
    UsageError
        If the kind does not exist.
    InputError
        If the run has nothing to draw for this kind.
    """
    if kind not in _BY_KIND:
        raise unknown("picture", kind, KINDS)
    figure = _BY_KIND[kind]
    rows = figure.rows(results)
    if not rows:
        others = drawable_kinds(results)
        raise InputError(
            f"this run has nothing to draw as {kind!r}: it has no {figure.needs}",
            f"it has: {', '.join(others)}" if others else _more(results),
        )
    panels = [_beside(row) for row in rows]
    reading = figure.section.intro if figure.section else figure.reading
    made = provenance(
        results.host, results.started, f"run {results.run_name.rpartition('/')[2]}, plan {results.plan_name}"
    )
    return titled(panels, _title(figure, results), [reading, made])


def _more(results: Results) -> str:
    """What to measure where nothing can be drawn: another number of the same, or the default plan."""
    workload = next((row.workload for row in results.cells), None)
    default = "the default plan has all of it: clonometer run"
    return default if workload is None else f"clonometer run {workload} --set AXIS=1,2,4 varies a number; {default}"


def drawable_kinds(results: Results) -> list[str]:
    """Kinds for which the run has something to draw."""
    return [kind for kind in KINDS if _BY_KIND[kind].rows(results)]


def leading_kind(results: Results) -> str | None:
    """The kind that shows most of a run: a scan of all that it launches, else the first in the order of the page.

    None where there is nothing to draw.
    """
    launched = {row.workload for row in results.cells if is_launch(row.family)}
    drawable = [figure.kind for figure in figures() if figure.rows(results)]
    scanned: dict[str, set[str]] = {}
    for line in results.scans:
        scanned.setdefault(drawn_kind(line), set()).add(line.workload)
    whole = [kind for kind in drawable if launched and launched <= scanned.get(kind, set())]
    return next(iter([*whole, *drawable]), None)


def provenance(host: Mapping[str, Any], started: str, *more: str) -> str:
    """Say where and when something was measured: a picture must tell once it is pasted elsewhere."""
    words = [
        cpu_name(str(host["cpu.model"])) if host.get("cpu.model") else "unknown CPU",
        f"Linux {host['kernel.release']}" if host.get("kernel.release") else "",
        started[:16].replace("T", " "),
        *more,
    ]
    return ", ".join(word for word in words if word)


def titled(panels: Sequence[Spec], title: str, texts: Sequence[str], *, one_legend: bool = False) -> Spec:
    """Set panels below each other under a title and texts: how to read them, and where they come from.

    Each has a legend of its own, but for those of which one is for all.
    """
    width = max(map(_width, panels))
    below = [line for text in texts for line in wrap(text, int(width / _TEXT_LETTERS))]
    return {
        "title": {"text": wrap(title, int(width / _TITLE_LETTERS)), "subtitle": below, "fontSize": 17, "offset": 22},
        "vconcat": list(panels),
        "spacing": 32,
        "resolve": {
            "scale": dict.fromkeys(("color", "strokeDash", "shape"), "shared" if one_legend else "independent")
        },
    }


def _beside(row: Row) -> Spec:
    """The panels of a row, in lines of equal length, with one legend."""
    drawn = [headed(panel.draw(), panel.short or panel.title) for panel in row.panels]
    if len(drawn) == 1 and not row.title:
        return drawn[0]
    lines = -(-len(drawn) // row.columns)
    spec: Spec = {"concat": drawn, "columns": -(-len(drawn) // lines), "spacing": 24}
    return {**spec, "title": {"text": row.title, "fontSize": 15}} if row.title else spec


def _width(panel: Spec) -> int:
    inside = panel.get("concat", [panel])[: panel.get("columns", 1)]
    return max(_NARROWEST, sum(int(each["width"]) + _MARGIN for each in inside))


def _title(figure: Figure, results: Results) -> str:
    """The answer to a figure's question where the run has one that a title has room for, else the question."""
    for finding in figure.answering(results):
        text = finding.headline or finding.sentence
        first, _, _ = text.partition(". ")
        for title in (text, first):
            if finding.states_difference and len(title) <= _LONGEST_TITLE and " is open" not in title:
                return title.removesuffix(".")
    return figure.question
