"""The studies' figures, remade: Vega-Lite specifications from a reproduction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonometer.studies.types import Curve, FigureRow, Reproduction
from clonometer.units import format_number
from clonometer.views.axes import COUNT_LABEL, NEVER, number_axis
from clonometer.views.colours import GREY, kinds_of_task
from clonometer.views.pictures import FORMATS, provenance, rendered, titled
from clonometer.views.specs import choice, dots, frame, nominal, quantitative, rule, where
from clonometer.views.studies import ours_text
from clonometer.views.types import Spec

_HERE, _THEN = "here", "published"
_NS_PER_US = 1e3
_WIDTH = 520
# What was published is grey, and ours in ink, whatever its mechanism.
_COLOURS_OF_WHEN = (GREY, "currentColor")
_COLOURS = dict(kinds_of_task().values())
_PLACES = ("x", "x2", "value")


#: What a mark is in words: read out by screen readers, shown on hover.
_SAID: Spec = {"description": nominal("said"), "tooltip": nominal("said")}


def figure_specs(reproduction: Reproduction) -> Iterator[tuple[str, Spec]]:
    """Every figure that this reproduction can draw: a name for its file, and its specification."""
    for study in reproduction.studies:
        rows = reproduction.rows(study.id)
        times = [row for row in rows if row.value is not None and row.published.unit == "us"]
        if times:
            yield f"{study.id}-table", table_figure(times, f"{study.id}: published and here")
        seconds = [row for row in rows if row.value is not None and row.published.unit == "s"]
        if seconds:
            yield f"{study.id}-times", bars_figure(seconds, f"{study.id}: 10,000 launches, published and here")
        for curve in reproduction.curves:
            if curve.study == study.id:
                yield curve.name, curve_figure(curve)


def table_figure(rows: Sequence[FigureRow], title: str) -> Spec:
    """Draw published ranges as bars and ours as points with their intervals, on a log axis of times."""
    data: list[dict[str, Any]] = []
    for row in rows:
        published = row.published
        low = published.low if published.low is not None else published.value
        high = published.high if published.high is not None else published.value
        label = f"{row.id} {published.what}"
        if low:
            # A bar that can be seen, where one number was published.
            ends = {"x": low * _NS_PER_US, "x2": max(high or 0, low * 1.12) * _NS_PER_US}
            data.append({"label": label, "kind": _THEN, **ends, "said": f"{label}, published: {published.shown}"})
        if row.value is not None:
            low, high = (row.value if end is None else end for end in (row.low, row.high))
            ends = {"x": low * _NS_PER_US, "x2": high * _NS_PER_US, "value": row.value * _NS_PER_US}
            data.append({"label": label, "kind": _HERE, **ends, "said": f"{label}, here: {ours_text(row)}"})
    axis = number_axis([datum[name] for datum in data for name in _PLACES if name in datum], "time")
    placed = [{**datum, **{name: axis.position(datum[name]) for name in _PLACES if name in datum}} for datum in data]
    y = nominal("label", sort=None, axis={"title": None, "labelLimit": 260, "grid": True})
    colours = choice("kind", (_THEN, _HERE), _COLOURS_OF_WHEN, symbolOpacity=1)
    ranges = {"y": y, "color": colours, "x": axis.encode("x"), "x2": {"field": "x2"}, **_SAID}
    height = 26 * len({datum["label"] for datum in data})
    of_then, of_now = (f"datum.kind === '{kind}'" for kind in (_THEN, _HERE))
    return {
        **frame(placed, _WIDTH, height, "Published ranges, and the ones measured here."),
        "title": title,
        "layer": [
            where(of_then, {"mark": {"type": "bar", "height": 12, "opacity": 0.55}, "encoding": ranges}),
            where(of_now, rule(ranges)),
            where(of_now, dots({"y": y, "color": colours, "x": axis.encode("value"), **_SAID}, 60)),
            *axis.break_marks(height),
        ],
    }


def bars_figure(rows: Sequence[FigureRow], title: str) -> Spec:
    """Draw published and our seconds side by side, a pair of bars a row."""
    data = [
        {
            "label": row.published.what,
            "kind": kind,
            "seconds": value,
            "low": low,
            "high": high,
            "said": f"{row.published.what}, {kind}: {text}",
        }
        for row in rows
        for kind, value, low, high, text in (
            (_THEN, row.published.value, None, None, row.published.shown),
            (_HERE, row.value, row.low, row.high, ours_text(row)),
        )
    ]
    placed: Spec = {
        "x": nominal("label", sort=None, axis={"title": None, "labelAngle": -25, "labelOverlap": False}),
        "xOffset": nominal("kind", sort=[_THEN, _HERE]),
        **_SAID,
    }
    seconds = quantitative("seconds", axis={"title": "seconds"})
    colours = choice("kind", (_THEN, _HERE), _COLOURS_OF_WHEN)
    ends = {**placed, "y": quantitative("low"), "y2": {"field": "high"}}
    return {
        **frame(data, _WIDTH, 220, "Published seconds, and those measured here, side by side."),
        "title": title,
        "layer": [
            {"mark": {"type": "bar"}, "encoding": {**placed, "y": seconds, "color": colours}},
            where(f"datum.kind === '{_HERE}' && datum.low !== null", rule(ends, 1.5, color=GREY)),
        ],
    }


def curve_figure(curve: Curve) -> Spec:
    """Draw a figure of lines: ours with intervals, fits through them, published points hollow."""
    data: list[dict[str, Any]] = []
    for line in curve.lines:
        data += [
            {
                "line": line.label,
                "of": line.label,
                "what": "here",
                "x": x,
                "y": y,
                "low": low,
                "high": high,
                "said": _point_text(curve, line.label, x, (y, low, high)),
            }
            for x, y, low, high in zip(line.x, line.y, line.low, line.high, strict=True)
        ]
        data += [{"line": line.label, "what": "fit", "x": x, "y": y} for x, y in line.fit]
        data += [
            {"line": line.label, "what": "published", "x": x, "y": y,
             "said": f"published, {_point_text(curve, line.label, x, (y, y, y))}"}
            for x, y in line.published
        ]  # fmt: skip
    labels = [line.label for line in curve.lines]
    x_axis = number_axis(
        [point["x"] for point in data], curve.x_title, COUNT_LABEL, log_from=NEVER, from_zero=curve.x_zero
    )
    values = [point[name] for point in data for name in ("low", "y", "high") if name in point]
    y_axis = number_axis(values, curve.y_title, COUNT_LABEL, log_from=NEVER, from_zero=curve.y_zero)
    shared: Spec = {
        "x": x_axis.encode("x"),
        "color": choice("line", labels, [_COLOURS[label] for label in labels], symbolOpacity=1),
    }
    y = y_axis.encode("y")
    ours, fitted, then = (f"datum.what === '{what}'" for what in ("here", "fit", "published"))
    ends = {**shared, "y": y_axis.encode("low"), "y2": {"field": "high"}, **_SAID}
    layers = [where(ours, rule(ends, 1.5, opacity=0.6))]
    # Lines say nothing, and lie below the points, which do.
    if curve.joined:
        joining = {"type": "line", "strokeWidth": 2, "aria": False}
        layers.append(where(ours, {"mark": joining, "encoding": {**shared, "y": y}}))
    if any(line.fit for line in curve.lines):
        dashed = {"type": "line", "strokeDash": [5, 3], "aria": False}
        layers.append(where(fitted, {"mark": dashed, "encoding": {**shared, "y": y}}))
    layers.append(where(ours, dots({**shared, "y": y, **_SAID}, 40)))
    if any(line.published for line in curve.lines):
        hollow = dots({**shared, "y": y, **_SAID}, 130, shape="diamond", strokeWidth=2, filled=False)
        layers.append(where(then, hollow))
    return {**frame(data, _WIDTH, 280, curve.caption), "title": curve.title, "layer": layers}


def _point_text(curve: Curve, label: str, x: float, ends: tuple[float, float, float]) -> str:
    y, low, high = ends
    span = "" if low == high else f" ({format_number(low, low, high)} to {format_number(high, low, high)})"
    return f"{label}: {curve.y_title} {format_number(y, low, high)}{span} at {x:,g} {curve.x_title}"


def study_pictures(reproduction: Reproduction) -> Iterator[tuple[str, bytes]]:
    """Draw every figure that can be, as PNG and SVG: file name and data."""
    made = provenance(reproduction.host, reproduction.started)
    for name, spec in figure_specs(reproduction):
        # On the page the caption stands below; a picture alone must carry it, with the equations of its fits.
        texts = [*spec["description"].split("; "), made]
        whole = titled([{**spec, "title": None}], spec.get("title", ""), texts)
        for image_format in reversed(FORMATS):
            drawn = rendered(whole, image_format)
            yield f"{name}.{image_format}", drawn.encode() if isinstance(drawn, str) else drawn
