"""The studies' figures, remade: Vega-Lite specifications from a reproduction."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from clonometer.studies.types import Curve, FigureRow, Reproduction
from clonometer.units import format_number
from clonometer.views.pictures import FORMATS, rendered
from clonometer.views.specs import PALETTE, Spec, frame
from clonometer.views.studies import ours_text, published_text

_CAPTION_COLUMNS = 90
_HERE, _THEN = "here", "published"


#: What a mark is in words: read out by screen readers, shown on hover.
_SAID: Spec = {"description": {"field": "said", "type": "nominal"}}


def figure_specs(reproduction: Reproduction) -> Iterator[tuple[str, Spec]]:
    """Every figure that this reproduction can draw: a name for its file, and its specification."""
    for study in reproduction.studies:
        rows = [row for item in reproduction.of(study.id, "figure") for row in reproduction.rows[item.id]]
        times = [row for row in rows if row.value is not None and row.published.unit == "us"]
        if times:
            yield f"{study.id}-table", table_figure(times, f"{study.id}: published and here")
        seconds = [row for row in rows if row.value is not None and row.published.unit == "s"]
        if seconds:
            yield f"{study.id}-times", bars_figure(seconds, f"{study.id}: 10,000 launches, published and here")
        for curve in reproduction.curves:
            if curve.study == study.id:
                yield curve.name, curve_figure(curve)


def table_figure(rows: Sequence[FigureRow], title: str, width: int | str = 520) -> Spec:
    """Draw published ranges as bars and ours as points with their intervals, on a log axis."""
    data: list[dict[str, Any]] = []
    for row in rows:
        published = row.published
        low = published.low if published.low is not None else published.value
        high = published.high if published.high is not None else published.value
        label = f"{row.id} {published.what}"
        data.append({"label": label, "kind": _THEN, "x": low, "x2": max(high or 0, (low or 0) * 1.12),
                     "said": f"{label}, published: {published_text(published)}"})  # fmt: skip
        if row.value is not None and row.value > 0:
            ends = (row.low or row.value, row.high or row.value)
            data.append({"label": label, "kind": _HERE, "x": max(ends[0], row.value / 100), "x2": ends[1],
                         "value": row.value, "said": f"{label}, here: {ours_text(row)}"})  # fmt: skip
    y = {"field": "label", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 260, "grid": True}}
    colour = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": [_THEN, _HERE], "range": [PALETTE[9], PALETTE[0]]},
        "legend": {"title": None},
    }
    x = {
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {"title": "µs (log)", "format": "~s", "tickCount": 6, "grid": True},
    }
    ranges = {"y": y, "color": colour, "x": {**x, "field": "x"}, "x2": {"field": "x2"}, **_SAID}
    return {
        **frame(data, title, width, 26 * len({datum["label"] for datum in data}), "Published ranges and ours."),
        "layer": [
            {"transform": [{"filter": f"datum.kind === '{_THEN}'"}],
             "mark": {"type": "bar", "height": 12, "opacity": 0.55}, "encoding": ranges},
            {"transform": [{"filter": f"datum.kind === '{_HERE}'"}],
             "mark": {"type": "rule", "strokeWidth": 2}, "encoding": ranges},
            {"transform": [{"filter": f"datum.kind === '{_HERE}'"}],
             "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
             "encoding": {"y": y, "color": colour, "x": {**x, "field": "value"}, **_SAID}},
        ],
    }  # fmt: skip


def bars_figure(rows: Sequence[FigureRow], title: str, width: int | str = 520) -> Spec:
    """Draw published and our seconds side by side, a pair of bars a row."""
    data = [
        {"label": row.published.what, "kind": kind, "seconds": value, "said": f"{row.published.what}, {kind}: {text}"}
        for row in rows
        for kind, value, text in (
            (_THEN, row.published.value, published_text(row.published)),
            (_HERE, row.value, ours_text(row)),
        )
    ]
    return {
        **frame(data, title, width, 220, "Published seconds and ours, side by side."),
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "label",
                "type": "nominal",
                "sort": None,
                "axis": {"title": None, "labelAngle": -25, "labelOverlap": False},
            },
            **_SAID,
            "xOffset": {"field": "kind", "type": "nominal", "sort": [_THEN, _HERE]},
            "y": {"field": "seconds", "type": "quantitative", "axis": {"title": "seconds"}},
            "color": {
                "field": "kind",
                "type": "nominal",
                "scale": {"domain": [_THEN, _HERE], "range": [PALETTE[9], PALETTE[0]]},
                "legend": {"title": None},
            },
        },
    }


def curve_figure(curve: Curve, width: int | str = 520) -> Spec:
    """Draw a figure of lines: ours with intervals, fits through them, published points hollow."""
    data: list[dict[str, Any]] = []
    for line in curve.lines:
        data += [
            {
                "line": line.label,
                "what": "here",
                "x": x,
                "y": y,
                "low": low,
                "high": high,
                "said": _said(curve, line.label, x, (y, low, high)),
            }
            for x, y, low, high in zip(line.x, line.y, line.low, line.high, strict=True)
        ]
        data += [{"line": line.label, "what": "fit", "x": x, "y": y} for x, y in line.fit]
        data += [
            {"line": line.label, "what": "published", "x": x, "y": y,
             "said": f"published, {_said(curve, line.label, x, (y, y, y))}"}
            for x, y in line.published
        ]  # fmt: skip
    labels = [line.label for line in curve.lines]
    shared: Spec = {
        "x": {"field": "x", "type": "quantitative", "axis": {"title": curve.x_title}, "scale": {"zero": curve.x_zero}},
        "color": {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": labels, "range": list(PALETTE[: len(labels)])},
            "legend": {"title": None},
        },
    }
    y = {"field": "y", "type": "quantitative", "axis": {"title": curve.y_title}, "scale": {"zero": curve.y_zero}}
    ours = [{"filter": "datum.what === 'here'"}]
    layers: list[Spec] = [
        {"transform": ours, "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
         "encoding": {**shared, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **_SAID}},
    ]  # fmt: skip
    # Lines say nothing, and lie below the points, which do.
    if curve.joined:
        joining = {"type": "line", "strokeWidth": 2, "aria": False}
        layers.append({"transform": ours, "mark": joining, "encoding": {**shared, "y": y}})
    if any(line.fit for line in curve.lines):
        dashed = {"type": "line", "strokeDash": [5, 3], "aria": False}
        fit = [{"filter": "datum.what === 'fit'"}]
        layers.append({"transform": fit, "mark": dashed, "encoding": {**shared, "y": y}})
    layers.append(
        {"transform": ours, "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
         "encoding": {**shared, "y": y, **_SAID}}
    )  # fmt: skip
    if any(line.published for line in curve.lines):
        then = [{"filter": "datum.what === 'published'"}]
        mark = {"type": "point", "filled": False, "size": 130, "shape": "diamond", "strokeWidth": 2, "opacity": 1}
        layers.append({"transform": then, "mark": mark, "encoding": {**shared, "y": y, **_SAID}})
    return {**frame(data, curve.title, width, 280, curve.caption), "layer": layers}


def _said(curve: Curve, label: str, x: float, ends: tuple[float, float, float]) -> str:
    y, low, high = ends
    span = "" if low == high else f" ({format_number(low, low, high)} to {format_number(high, low, high)})"
    return f"{label}: {curve.y_title} {format_number(y, low, high)}{span} at {x:,g} {curve.x_title}"


def study_pictures(reproduction: Reproduction) -> Iterator[tuple[str, bytes]]:
    """Draw every figure that can be, as PNG and SVG: file name and data."""
    for name, spec in figure_specs(reproduction):
        # On the page the caption stands below; a picture alone must carry it, with the equations of its fits.
        lines = [line for part in spec["description"].split("; ") for line in textwrap.wrap(part, _CAPTION_COLUMNS)]
        title = {"text": spec.get("title", ""), "subtitle": lines, "subtitleFontSize": 10}
        whole = {**spec, "title": title}
        for image_format in reversed(FORMATS):
            drawn = rendered(partial(dict, whole), image_format)
            yield f"{name}.{image_format}", drawn.encode() if isinstance(drawn, str) else drawn
