"""Vega-Lite specifications as plain dicts: one panel a function, the same for pictures and for the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

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

ENOUGH_TICKS = 4
LINE_HEIGHT = 36
LABEL_LIMIT = 200
LETTER_WIDTH = 7.4
_TICK_STEPS = (("1",), ("1", "3"), ("1", "2", "5"), ("1", "1.5", "2", "3", "4", "5", "7"))
TIME_LABEL = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' ms' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : "
    "format(datum.value, '~g') + ' ns'"
)
#: What is shown where the pointer is.
TIP: Spec = {"field": "tip", "type": "nominal"}


def theme(ink: str = "#24292f", ground: str = "white") -> Spec:
    """Configure every chart alike.

    Parameters
    ----------
    ink
        Colour of all that is no data; ``currentColor`` where the page decides, light or dark.
    ground
        Background; ``transparent`` where the page decides.
    """
    text = {"labelColor": ink, "titleColor": ink, "labelFont": FONT, "titleFont": FONT}
    return {
        "background": ground,
        "font": FONT,
        "padding": 4 if ground == "transparent" else 16,
        "view": {"stroke": None},
        "range": {"category": list(PALETTE)},
        "axis": {
            **text,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelOverlap": "greedy",
            "labelSeparation": 2,
            "domainColor": ink,
            "domainOpacity": 0.4,
            "tickColor": ink,
            "tickOpacity": 0.4,
            "gridColor": ink,
            "gridOpacity": 0.12,
        },
        "legend": {
            **text,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 260,
            "symbolStrokeWidth": 2.5,
            "orient": "bottom",
            "columns": 4,
        },
        "title": {
            "color": ink,
            "font": FONT,
            "fontSize": 14,
            "fontWeight": 600,
            "anchor": "start",
            "offset": 10,
        },
    }


def ecdf_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    domain: Sequence[float] | None = None,
    title: str | None = None,
    width: int | str = 300,
    height: int = 220,
) -> Spec:
    """Draw distributions: the share of launches that were done within a time, on a log axis.

    Parameters
    ----------
    data
        ``time_ns``, ``share`` (0 to 1), ``label`` and ``temperature`` of each point.
    """
    return {
        **frame(data, title, width, height, "Share of launches done within a time, a line for each mechanism."),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "clip": True},
        "encoding": {
            "x": time_axis("time_ns", "time since the call began (log)", domain),
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "axis": {"title": "share of launches", "format": "%", "tickCount": 5},
            },
            "color": colour(labels),
            "strokeDash": choice("temperature", ["warm", "cold"], [[1, 0], [5, 3]]),
            "order": {"field": "share", "type": "quantitative"},
        },
    }


def overview_panel(
    data: Sequence[Datum],
    *,
    mechanisms: Sequence[str],
    stages: Sequence[str],
    domain: Sequence[float] | None = None,
    label_letters: int = 0,
    title: str | None = None,
    width: int | str = 520,
) -> Spec:
    """Draw medians with their intervals: a line a mechanism, a colour a stage, hollow where cold.

    Parameters
    ----------
    data
        ``mechanism``, ``stage``, ``temperature``, ``median_ns``, ``low_ns``, ``high_ns`` and ``tip`` of each.
    label_letters
        Length of the longest label of all panels, so that their axes start at the same place.
    """
    x = time_axis("median_ns", "median since the call began (log)", domain)
    present = {point["stage"] for point in data}
    shared: Spec = {
        "y": {
            "field": "mechanism",
            "type": "nominal",
            "sort": list(mechanisms),
            "axis": {
                "title": None,
                "grid": True,
                "labelLimit": LABEL_LIMIT,
                "minExtent": min(label_letters * LETTER_WIDTH + 8, LABEL_LIMIT),
                "ticks": False,
                "labelPadding": 8,
            },
        },
        "yOffset": {"field": "temperature", "type": "nominal", "sort": ["warm", "cold"]},
        "color": choice(
            "stage",
            stages,
            PALETTE[: max(len(stages), 1)],
            values=[stage for stage in stages if stage in present],
        ),
    }
    dots = {**shared, "x": x, "tooltip": TIP}
    dot = {"type": "point", "size": 70, "strokeWidth": 2, "opacity": 1}
    return {
        **frame(
            data,
            title,
            width,
            LINE_HEIGHT * max(len(mechanisms), 1),
            "Medians and intervals of each mechanism and stage.",
        ),
        "layer": [
            rule({**shared, "x": {**x, "field": "low_ns"}, "x2": {"field": "high_ns"}}),
            {
                "transform": [{"filter": "datum.temperature !== 'cold'"}],
                "mark": {**dot, "filled": True},
                "encoding": dots,
            },
            {
                "transform": [{"filter": "datum.temperature === 'cold'"}],
                "mark": {**dot, "filled": False},
                "encoding": dots,
            },
        ],
    }


def stack(rows: Sequence[Sequence[Spec]]) -> Spec:
    """Set panels in rows of a picture, with one legend for colours of the same meaning."""
    return {"vconcat": [{"hconcat": list(row)} if len(row) > 1 else row[0] for row in rows], "spacing": 28}


def time_ticks(low_ns: float, high_ns: float) -> list[float]:
    """Choose where a log time axis has its ticks: round numbers, the coarsest set that has at least four.

    Examples
    --------
    >>> time_ticks(8_000, 110_000)
    [10000.0, 20000.0, 50000.0, 100000.0]
    """
    if not 0 < low_ns < high_ns:
        return []
    decades = range(math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns)) + 1)
    inside: list[float] = []
    for steps in _TICK_STEPS:
        ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
        inside = [tick for tick in ticks if low_ns <= tick <= high_ns]
        if len(inside) >= ENOUGH_TICKS:
            break
    return inside


def frame(data: Sequence[Datum], title: str | None, width: int | str, height: Any, description: str) -> Spec:
    """Begin a panel: its points, its size, its title."""
    panel: Spec = {
        "description": description,
        "data": {"values": [dict(point) for point in data]},
        "width": width,
        "height": height,
    }
    if title:
        panel["title"] = title
    return panel


def time_axis(name: str, title: str, domain: Sequence[float] | None) -> Spec:
    """Encode a time on a log axis with round ticks."""
    axis: Spec = {"title": title, "labelExpr": TIME_LABEL, "tickCount": ENOUGH_TICKS}
    scale: Spec = {"type": "log", "nice": False}
    if domain:
        scale["domain"] = list(domain)
        ticks = time_ticks(*domain)
        if len(ticks) > 1:
            # Vega thins given values down to tickCount.
            axis |= {"values": ticks, "tickCount": len(ticks)}
    return {"field": name, "type": "quantitative", "scale": scale, "axis": axis}


def choice(field: str, names: Sequence[str], drawn: Sequence[Any], **legend: Any) -> Spec:
    """Encode a text by a colour, a shape or dashes for each of its names, with a legend without a title."""
    scale = {"domain": list(names), "range": list(drawn)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"title": None, **legend}}


def rule(encoding: Spec, width: float = 2, **mark: Any) -> Spec:
    """A layer of intervals."""
    return {"mark": {"type": "rule", "strokeWidth": width, **mark}, "encoding": encoding}


def dots(encoding: Spec, size: int, **mark: Any) -> Spec:
    """A layer of filled points, ``size`` square pixels each."""
    return {"mark": {"type": "point", "filled": True, "size": size, "opacity": 1, **mark}, "encoding": encoding}


def interval_marks(ends: Spec, middle: Spec, *, along: Spec | None = None, size: int = 50) -> list[Spec]:
    """Draw intervals with their middles on a line.

    Parameters
    ----------
    ends
        Encodes an interval from its low to its high end.
    middle
        Encodes what lies between; its ``tip`` is shown where the pointer is.
    along
        What only the line has: dashes, or the order of its points.
    size
        Of the points, in square pixels.
    """
    pointed = {**middle, "tooltip": TIP}
    return [
        rule(ends),
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**pointed, **(along or {})}},
        dots(pointed, size),
    ]


def colour(labels: Sequence[str]) -> Spec:
    """Give each label a colour, in order."""
    return choice("label", labels, palette(len(labels)), symbolOpacity=1)


def palette(count: int) -> list[str]:
    """So many colours, the first ones again where there are too few."""
    return [PALETTE[place % len(PALETTE)] for place in range(count)]
