"""Charts of fitted scans and of ablations: points with intervals, curves through them, gaps that shrink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.results.series.types import AblationSeries, FitPanel, FitSeries
from clonometer.units import format_duration_interval, format_ratio
from clonometer.views.gaps import coefficient_text, rung_labels
from clonometer.views.scans import series_labels, series_points
from clonometer.views.specs import PALETTE, TIME_LABEL, TIP, Datum, Spec, colour, frame
from clonometer.words import axis_title, axis_words, stage_name

_PARTS = {
    "whole": "by {}",
    "dense": "by {}, where points lie close",
    "fitted": "by {}, beyond the CPUs",
    "each": "for each of them, by {}",
}
_RUNG_HEIGHT = 30


@dataclass(frozen=True)
class FittedChart:
    """A chart ready to draw: its title, the labels of its lines, their points and the points of the curves."""

    title: str
    labels: tuple[str, ...]
    points: list[dict[str, Any]]
    curves: list[dict[str, Any]]
    axis: str
    from_zero: bool
    equations: tuple[str, ...] = ()


def fitted_charts(panels: Sequence[FitPanel]) -> list[FittedChart]:
    """Arrange panels as charts, in their order; those without two points are left out."""
    return [_chart(panel) for panel in panels if any(len(series.x) > 1 for series in panel.series)]


def _chart(panel: FitPanel) -> FittedChart:
    names = [name.partition(", ")[2] or name for name in series_labels(panel.series)]
    points = [point for series, name in zip(panel.series, names, strict=True) for point in series_points(series, name)]
    by_condition = {_key(series.condition): name for series, name in zip(panel.series, names, strict=True)}
    curves = []
    for fit in panel.fits:
        label = by_condition.get(_key(fit.condition), "")
        curves += [
            {"label": label, "x": x, "y_ns": y, "tip": f"{label}: R2 {r_squared_text(fit)}"}
            for x, y in zip(fit.x, fit.y_ns, strict=True)
        ]
    what = stage_name(None, panel.quantity.replace("_each", ""))
    others = [axis_words(*item) for item in panel.condition.items()]
    title = ", ".join([f"{what} {_PARTS[panel.part].format(axis_title(panel.axis))}", *others])
    return FittedChart(
        title, tuple(names), points, curves, panel.axis, panel.part not in ("dense",), _equations(panel, by_condition)
    )


def _equations(panel: FitPanel, names: Mapping[tuple[tuple[str, int | str], ...], str]) -> tuple[str, ...]:
    """Each curve as an equation, its terms with their intervals."""
    return tuple(
        f"{names.get(_key(fit.condition), '')}: {equation_text(fit)}; R2 {r_squared_text(fit)}" for fit in panel.fits
    )


def equation_text(fit: FitSeries) -> str:
    """Write a curve as an equation in x, from the highest power down."""
    powers = {0: "", 1: " x"}
    terms = [
        f"{coefficient_text(coefficient)}{powers.get(power, f' x^{power}')}"
        for power, coefficient in enumerate(fit.coefficients)
    ]
    return " + ".join(reversed(terms))


def _key(condition: Mapping[str, int | str]) -> tuple[tuple[str, int | str], ...]:
    return tuple(sorted(condition.items()))


def r_squared_text(fit: FitSeries) -> str:
    """Write R2 with its interval."""
    return format_ratio(*fit.r_squared)


def fitted_panel(chart: FittedChart, *, title: str | None = None, width: int | str = 380, height: int = 260) -> Spec:
    """Draw points with their 95% intervals and the curves through them, on linear axes as the study does."""
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"zero": False, "nice": False, "padding": 12},
        "axis": {"title": axis_title(chart.axis), "format": ",d", "tickCount": 6},
    }
    y = {
        "type": "quantitative",
        "scale": {"zero": chart.from_zero},
        "axis": {"title": "time", "labelExpr": TIME_LABEL, "tickCount": 5},
    }
    shared = {"x": x, "color": colour(chart.labels)}
    ends = {"y": {**y, "field": "low_ns"}, "y2": {"field": "high_ns"}}
    median = {"y": {**y, "field": "median_ns"}, "tooltip": TIP}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6}, "encoding": {**shared, **ends}}
    ]
    if not chart.curves:
        layers.append({"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {**shared, **median}})
    layers.append(
        {"mark": {"type": "point", "filled": True, "size": 36, "opacity": 1}, "encoding": {**shared, **median}}
    )
    if chart.curves:
        curve = {**shared, "y": {**y, "field": "y_ns"}, "tooltip": TIP}
        layers.append(
            {
                "data": {"values": chart.curves},
                "mark": {"type": "line", "strokeWidth": 1.5, "strokeDash": [5, 3]},
                "encoding": curve,
            }
        )
    described = f"Time by {axis_title(chart.axis)}, with 95% intervals{' and fitted curves' if chart.curves else ''}."
    spec = {**frame(chart.points, title, width, height, described), "layer": layers}
    if chart.equations:
        spec["title"] = {"text": title or "", "subtitle": list(chart.equations), "subtitleFontSize": 9}
    return spec


def ablation_points(ablation: AblationSeries) -> list[dict[str, Any]]:
    """The points of an ablation's chart: the gap on each rung."""
    return [
        {
            "label": label,
            "gap": rung.gap_relative[0],
            "low": rung.gap_relative[1],
            "high": rung.gap_relative[2],
            "tip": f"{label}: {format_duration_interval(*rung.gap_ns)}",
        }
        for label, rung in zip(rung_labels(ablation), ablation.rungs, strict=True)
    ]


def ablation_title(ablation: AblationSeries) -> str:
    """Say what an ablation's gap is."""
    first, second = (axis_words(ablation.axis, side) for side in ablation.sides)
    return f"{ablation.workload}: {first} against {second}, as shared things are taken away"


def ablation_panel(data: Sequence[Datum], *, title: str | None = None, width: int | str = 460) -> Spec:
    """Draw the gap on each rung with its 95% interval, downwards in the order of taking away; zero is no gap."""
    labels = [point["label"] for point in data]
    x = {
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": {"title": "takes longer by", "format": "+.0%", "tickCount": 6},
    }
    y = {
        "field": "label",
        "type": "nominal",
        "sort": labels,
        "axis": {"title": None, "labelLimit": 220, "ticks": False},
    }
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    return {
        **frame(data, title, width, _RUNG_HEIGHT * max(len(data), 1), "The gap left after each thing was taken away."),
        "layer": [
            {"data": {"values": [{}]}, "mark": {"type": "rule", "color": PALETTE[-1]}, "encoding": {"x": {"datum": 0}}},
            {"mark": {"type": "rule", "strokeWidth": 2, "color": PALETTE[0]}, "encoding": ends},
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": PALETTE[0]},
                "encoding": {"x": {**x, "field": "gap"}, "y": y, "tooltip": TIP},
            },
        ],
    }
