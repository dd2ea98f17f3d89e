"""Vega-Lite specifications as plain dicts: one panel a function, the same for pictures and for the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clonometer.views.axes import NumberAxis
from clonometer.views.colours import PALETTE, Drawn
from clonometer.views.types import Datum, Spec

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', 'Liberation Sans', Helvetica, Arial, sans-serif"

LINE_HEIGHT = 36
_WIDTHS = {"warm": 2.5, "cold": 1.2}
#: How lines, bars and points of one colour differ.
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [14, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
LABEL_LIMIT = 200
LETTER_WIDTH = 7.4
#: What is shown where the pointer is.
TIP: Spec = {"field": "tip", "type": "nominal"}


#: Ink and ground of pictures that stand alone, and of charts on a page, which decides itself.
LIGHT, DARK, PAGE = ("#24292f", "white"), ("#e3e7ec", "#14181d"), ("currentColor", "transparent")


def theme(ink: str, ground: str) -> Spec:
    """Configure every chart alike.

    ``ink`` is the colour of all that is no data.
    """
    text: Spec = {"labelColor": ink, "titleColor": ink, "labelFont": FONT, "titleFont": FONT}
    text |= {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    return {
        "background": ground,
        "font": FONT,
        # On the right half of a label at the end of an axis, which stands below its tick, needs room.
        "padding": {"left": 4, "top": 4, "right": 24, "bottom": 4} if ground == "transparent" else 16,
        "view": {"stroke": None},
        "range": {"category": list(PALETTE)},
        "axis": {
            **text,
            "labelOverlap": "greedy",
            "labelSeparation": 2,
            "domainColor": ink,
            "domainOpacity": 0.4,
            "tickColor": ink,
            "tickOpacity": 0.4,
            "gridColor": ink,
            "gridOpacity": 0.12,
        },
        # The label of a tick near the end of an axis stays within the picture.
        "axisX": {"labelFlush": 24},
        "legend": {
            **text,
            "labelLimit": 380,
            "symbolStrokeWidth": 2.5,
            "symbolBaseFillColor": ink,
            "symbolBaseStrokeColor": ink,
            "orient": "bottom",
            "columns": 5,
        },
        "title": {
            "color": ink,
            "font": FONT,
            "fontSize": 14,
            "fontWeight": 600,
            "anchor": "start",
            "offset": 10,
            "subtitleColor": ink,
            "subtitleFont": FONT,
            "subtitleFontSize": 12,
            "subtitlePadding": 6,
        },
        # What is of no mechanism, kind or verdict is drawn in ink.
        **{mark: {"color": ink} for mark in ("rule", "point", "line", "bar")},
        "text": {"color": ink, "font": FONT},
    }


def ecdf_panel(data: Sequence[Datum], *, drawn: Mapping[str, Drawn], axis: NumberAxis) -> Spec:
    """Draw distributions: the share of launches that were done within a time, on a log axis.

    Each point has ``time_ns``, ``share`` (0 to 1), ``label`` and ``temperature``; ``drawn`` are the labels.
    """
    # A legend of nothing has no end: a panel whose points come later names all.
    present = [name for name in _WIDTHS if any(point["temperature"] == name for point in data)] or list(_WIDTHS)
    return {
        **frame(data, 300, 220, "Share of launches done within a time, a line for each mechanism."),
        "mark": {"type": "line", "interpolate": "step-after", "clip": True},
        "encoding": {
            "x": axis.encode("time_ns"),
            "y": quantitative(
                "share",
                scale={"domain": [0, 1.04], "nice": False},
                axis={"title": "share of launches", "format": "%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
            ),
            "color": coloured(drawn),
            "strokeDash": dashed(drawn),
            "strokeWidth": {
                **choice("temperature", _WIDTHS, _WIDTHS.values(), values=present),
                "type": "ordinal",
                "sort": list(_WIDTHS),
            },
            "order": quantitative("share"),
        },
    }


def overview_panel(
    data: Sequence[Datum], *, mechanisms: Sequence[str], stages: Sequence[str], axis: NumberAxis, label_letters: int
) -> Spec:
    """Draw medians with their intervals: a line and a colour a mechanism, a shape a stage, hollow where cold.

    Each has ``mechanism``, ``colour``, ``stage``, ``temperature``, ``median_ns``, ``low_ns``, ``high_ns`` and ``tip``.
    ``label_letters`` is the length of the longest label of all panels, so that their axes start at the same place.
    """
    present = {point["stage"] for point in data}
    extent = min(label_letters * LETTER_WIDTH + 8, LABEL_LIMIT)
    shared: Spec = {
        "y": names_axis("mechanism", mechanisms, grid=True, labelLimit=LABEL_LIMIT, minExtent=extent),
        "yOffset": nominal("temperature", sort=["warm", "cold"]),
        "color": nominal("colour", scale=None),
    }
    # Legends are drawn in ink: a shape is of every colour.
    shapes = choice(
        "stage", stages, places(SHAPES, len(stages)), values=[stage for stage in stages if stage in present]
    )
    medians = {**shared, "x": axis.encode("median_ns"), "shape": shapes, "tooltip": TIP}
    height = LINE_HEIGHT * max(len(mechanisms), 1)
    return {
        **frame(data, 520, height, "Medians and intervals of each mechanism and stage."),
        "layer": [
            rule({**shared, "x": axis.encode("low_ns"), "x2": {"field": "high_ns"}}),
            where("datum.temperature !== 'cold'", dots(medians, 70, strokeWidth=2)),
            where("datum.temperature === 'cold'", dots(medians, 70, strokeWidth=2, filled=False)),
        ],
    }


def frame(data: Sequence[Datum], width: int, height: int, description: str) -> Spec:
    """Begin a panel: its points, and its size in a picture."""
    return {
        "description": description,
        "data": {"values": [dict(point) for point in data]},
        "width": width,
        "height": height,
    }


def headed(panel: Spec, title: str) -> Spec:
    """A panel under a title; what it says there itself stands below."""
    below = panel.get("title")
    return {**panel, "title": {**below, "text": title} if below else title}


def nominal(field: str, **encoded: Any) -> Spec:
    """Encode a text of the points."""
    return {"field": field, "type": "nominal", **encoded}


def quantitative(field: str, **encoded: Any) -> Spec:
    """Encode a number of the points."""
    return {"field": field, "type": "quantitative", **encoded}


def names_axis(field: str, names: Iterable[str], **axis: Any) -> Spec:
    """Encode names along an upright axis, from above in their order."""
    return nominal(field, sort=list(names), axis={"title": None, "ticks": False, "labelPadding": 8, **axis})


def choice(field: str, names: Iterable[str], drawn: Iterable[Any], **legend: Any) -> Spec:
    """Encode a text by a colour, a shape or dashes for each of its names, with a legend without a title."""
    return nominal(field, scale={"domain": list(names), "range": list(drawn)}, legend={"title": None, **legend})


def rule(encoding: Spec, width: float = 2, **mark: Any) -> Spec:
    """A layer of intervals."""
    return {"mark": {"type": "rule", "strokeWidth": width, **mark}, "encoding": encoding}


def dots(encoding: Spec, size: int, **mark: Any) -> Spec:
    """A layer of filled points, ``size`` square pixels each."""
    return {"mark": {"type": "point", "filled": True, "size": size, "opacity": 1, **mark}, "encoding": encoding}


def where(test: str, layer: Spec) -> Spec:
    """A layer of those points alone for which a Vega expression holds."""
    return {"transform": [{"filter": test}], **layer}


def interval_marks(
    ends: Spec, middle: Spec, drawn: Mapping[str, Drawn], *, along: Spec | None = None, size: int = 50
) -> list[Spec]:
    """Draw intervals as bars, with their middles on a line where their points are ``joined``.

    ``ends`` encodes an interval from its low to its high end, ``middle`` what lies between, ``along`` what only the
    line has, such as the order of its points. ``drawn`` are their labels. Points are ``size`` square pixels large.
    """
    # One legend of all channels: the mark of each line, whole.
    legend = {"symbolOpacity": 1, "symbolStrokeWidth": 0}
    color = {"color": coloured(drawn, **legend)}
    pointed = {**middle, **color, "tooltip": TIP}
    return [
        where(
            "datum.joined",
            {
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": {**pointed, "strokeDash": dashed(drawn, **legend), **(along or {})},
            },
        ),
        rule({**ends, **color}),
        dots({**pointed, "shape": choice("label", drawn, _apart(drawn, SHAPES), **legend)}, size),
    ]


def coloured(drawn: Mapping[str, Drawn], **legend: Any) -> Spec:
    """Encode labels by the colours of what they are of."""
    return choice("label", drawn, [each.colour for each in drawn.values()], **{"symbolOpacity": 1, **legend})


def dashed(drawn: Mapping[str, Drawn], **legend: Any) -> Spec:
    """Encode labels by dashes where several are of one colour."""
    return choice("label", drawn, _apart(drawn, DASHES), **legend)


def _apart(drawn: Mapping[str, Drawn], marks: Sequence[Any]) -> list[Any]:
    """A mark for each label: the first for the first of a colour, the second for the second."""
    colours = [each.colour for each in drawn.values()]
    return [marks[colours[:index].count(colour) % len(marks)] for index, colour in enumerate(colours)]


def places(marks: Sequence[Any], count: int) -> list[Any]:
    """So many marks, the first ones again where there are too few."""
    return [marks[index % len(marks)] for index in range(count)]
