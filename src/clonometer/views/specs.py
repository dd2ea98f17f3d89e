"""Vega-Lite specifications as plain dicts: one panel a function, the same for pictures and for the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clonometer.views.axes import NumberAxis

Spec = dict[str, Any]
Datum = Mapping[str, Any]

#: Told apart by the colour-blind, and at least 3:1 against both white and the report's dark ground.
PALETTE = (
    "#2f7ed8",
    "#d9730d",
    "#1f9d63",
    "#b35fd0",
    "#d6455d",
    "#8a8421",
    "#1496a8",
    "#a8683c",
    "#6f7fd9",
    "#7d8790",
)
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', 'Liberation Sans', Helvetica, Arial, sans-serif"

LINE_HEIGHT = 36
_DASHES = {"warm": [1, 0], "cold": [5, 3]}
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
        "rule": {"color": ink},
        "text": {"color": ink, "font": FONT},
    }


def ecdf_panel(data: Sequence[Datum], *, labels: Sequence[str], axis: NumberAxis) -> Spec:
    """Draw distributions: the share of launches that were done within a time, on a log axis.

    Each point has ``time_ns``, ``share`` (0 to 1), ``label`` and ``temperature``.
    """
    # A legend of nothing has no end: a panel whose points come later names all.
    present = [name for name in _DASHES if any(point["temperature"] == name for point in data)] or list(_DASHES)
    return {
        **frame(data, 300, 220, "Share of launches done within a time, a line for each mechanism."),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "clip": True},
        "encoding": {
            "x": axis.encode("time_ns"),
            "y": quantitative(
                "share",
                scale={"domain": [0, 1.04], "nice": False},
                axis={"title": "share of launches", "format": "%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
            ),
            "color": colour(labels),
            "strokeDash": choice("temperature", _DASHES, _DASHES.values(), values=present),
            "order": quantitative("share"),
        },
    }


def overview_panel(
    data: Sequence[Datum], *, mechanisms: Sequence[str], stages: Sequence[str], axis: NumberAxis, label_letters: int
) -> Spec:
    """Draw medians with their intervals: a line a mechanism, a colour a stage, hollow where cold.

    Each has ``mechanism``, ``stage``, ``temperature``, ``median_ns``, ``low_ns``, ``high_ns`` and ``tip``.
    ``label_letters`` is the length of the longest label of all panels, so that their axes start at the same place.
    """
    present = {point["stage"] for point in data}
    extent = min(label_letters * LETTER_WIDTH + 8, LABEL_LIMIT)
    shared: Spec = {
        "y": names_axis("mechanism", mechanisms, grid=True, labelLimit=LABEL_LIMIT, minExtent=extent),
        "yOffset": nominal("temperature", sort=["warm", "cold"]),
        "color": choice("stage", stages, palette(len(stages)), values=[each for each in stages if each in present]),
    }
    medians = {**shared, "x": axis.encode("median_ns"), "tooltip": TIP}
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


def interval_marks(ends: Spec, middle: Spec, *, along: Spec | None = None, size: int = 50) -> list[Spec]:
    """Draw intervals as bars, with their middles on a line where their points are ``joined``.

    ``ends`` encodes an interval from its low to its high end, ``middle`` what lies between, ``along`` what only the
    line has, such as the order of its points. Points are ``size`` square pixels large.
    """
    pointed = {**middle, "tooltip": TIP}
    return [
        where(
            "datum.joined",
            {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {**pointed, **(along or {})}},
        ),
        rule(ends),
        dots(pointed, size),
    ]


def colour(labels: Sequence[str]) -> Spec:
    """Give each label a colour, in order."""
    return choice("label", labels, palette(len(labels)), symbolOpacity=1)


def palette(count: int) -> list[str]:
    """So many colours, the first ones again where there are too few."""
    return [PALETTE[place % len(PALETTE)] for place in range(count)]
