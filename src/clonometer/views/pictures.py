"""Pictures of results: the report's figures as PNG or SVG, from the same specifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clonometer.errors import InputError, unknown
from clonometer.results.types import Results
from clonometer.views.drawing import draw_png, draw_svg
from clonometer.views.figures import figures
from clonometer.views.figures.types import Figure, Row
from clonometer.views.specs import Spec, stack, theme

_BY_KIND = {figure.kind: figure for figure in figures()}
KINDS = tuple(sorted(_BY_KIND))
FORMATS = ("png", "svg")
PNG_SCALE = 2.0


def picture(results: Results, kind: str, image_format: str = "svg") -> bytes | str:
    """Draw a picture.

    Raises
    ------
    UsageError
        If the kind or the format does not exist.
    InputError
        If the run has nothing to draw for this kind.
    """
    return rendered(lambda: picture_spec(results, kind), image_format)


def rendered(spec: Callable[[], Spec], image_format: str) -> bytes | str:
    """Render a specification with the theme of pictures that stand alone.

    Raises
    ------
    UsageError
        If the format does not exist.
    """
    if image_format not in FORMATS:
        raise unknown("picture format", image_format, FORMATS)
    whole = {**spec(), "config": theme()}
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
            f"it has: {', '.join(others)}" if others else "the default plan measures all of it: clonometer run",
        )
    return _stacked(figure, rows)


def drawable_kinds(results: Results) -> list[str]:
    """Kinds for which the run has something to draw."""
    return [kind for kind in KINDS if _BY_KIND[kind].rows(results)]


def _stacked(figure: Figure, rows: Sequence[Row]) -> Spec:
    """Set the panels below and beside each other, under the titles of their rows where they have any."""
    drawn = [[panel.draw(title=panel.short or panel.title) for panel in row.panels] for row in rows]
    if any(row.title for row in rows):
        titled = [{**stack([panels]), "title": row.title} for row, panels in zip(rows, drawn, strict=True)]
        return {"vconcat": titled, "spacing": 28}
    if figure.own_colours:
        return {**stack(drawn), "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}}}
    return stack(drawn)
