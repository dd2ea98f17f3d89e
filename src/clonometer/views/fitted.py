"""Charts of fitted scans and of ablations: points with intervals, curves through them, gaps that shrink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from clonometer.families import family
from clonometer.results.series_types import AblationSeries, FitSeries, ScanSeries
from clonometer.units import format_duration_interval, format_ratio
from clonometer.views.axes import NEVER, TIMES_LABEL, number_axis, tick_label
from clonometer.views.colours import GREY
from clonometer.views.gaps import coefficient_text, rung_labels
from clonometer.views.multiples import joined
from clonometer.views.scans import ScanPanel, but_for_kind, drawn_lines, placed_points, quantity_axis, series_words
from clonometer.views.specs import TIP, dots, frame, names_axis, rule
from clonometer.views.types import Spec
from clonometer.words import axis_thing, axis_title, axis_words, stage_name

#: What each part of an axis is called; ``each`` is another quantity, the time divided by what the axis counts.
_WHOLE, _DENSE, _FITTED, _EACH = "by {}", "by {}, where points are close", "by {}, beyond the CPUs", "for each {}"
# A stretch of points that lie close is worth a chart of its own from this many on.
_DENSE_POINTS = 5
_RUNG_HEIGHT = 30
_Condition = Mapping[str, int | str]


def fitted_charts(scans: Sequence[ScanSeries], fits: Sequence[FitSeries]) -> list[tuple[str, ScanPanel]]:
    """Arrange fitted scans as charts: those of one axis and condition together, whatever kind the tasks are of.

    For each group the whole axis, then the stretch where points lie closest, the range of the curves where that is
    not all, and the time for each worker. Those without two points are left out.
    """
    charts = []
    for key in dict.fromkeys(_group(fit) for fit in fits):
        curves = [fit for fit in fits if _group(fit) == key]
        whole = [line for line in scans if _group(line) == key]
        x, points = whole[0].x, curves[0].points
        parts = [(_WHOLE, whole, curves if len(points) == len(x) else [])]
        dense = _densest(x)
        if dense is not None:
            parts.append((_DENSE, [_between(line, *dense) for line in whole], []))
        if len(points) != len(x):
            parts.append((_FITTED, [_between(line, points[0], points[-1]) for line in whole], curves))
        divided = [quantity for quantity, axis in family(curves[0].family).divided.items() if axis == key[1]]
        each = [line for line in scans if _group(line) in {(*key[:2], quantity, *key[3:]) for quantity in divided}]
        parts.append((_EACH.format(axis_thing(key[1])), each, []))
        charts += [_chart(*part) for part in parts if any(len(line.x) > 1 for line in part[1])]
    return charts


def _group(series: ScanSeries | FitSeries) -> tuple[str, str, str, tuple[tuple[str, int | str], ...]]:
    """What lines of one chart have in common: all but the kind of their tasks."""
    return series.workload, series.axis, series.quantity, but_for_kind(series.condition)


def _densest(x: Sequence[int]) -> tuple[int, int] | None:
    """The ends of the longest stretch with the smallest step, if that is not the whole."""
    steps = [after - before for before, after in pairwise(x)]
    stretches = [list(places) for _, places in groupby(range(len(steps)), key=lambda place: steps[place] == min(steps))]
    longest = max((places for places in stretches if steps[places[0]] == min(steps)), key=len)
    # A step lies between two points.
    return (x[longest[0]], x[longest[-1] + 1]) if _DENSE_POINTS <= len(longest) + 1 < len(x) else None


def _between(line: ScanSeries, low: int, high: int) -> ScanSeries:
    return line.at([index for index, value in enumerate(line.x) if low <= value <= high])


def _chart(part: str, lines: Sequence[ScanSeries], fits: Sequence[FitSeries]) -> tuple[str, ScanPanel]:
    first = lines[0]
    names = [joined(words[1:]) or words[0] for words in series_words(lines)]
    by_condition = {_key(line.condition): name for line, name in zip(lines, names, strict=True)}
    labels = [by_condition.get(_key(fit.condition), "") for fit in fits]
    curves = [
        {"label": label, "x": x, "y_ns": y, "tip": f"{label}: R2 {format_ratio(*fit.r_squared)}"}
        for label, fit in zip(labels, fits, strict=True)
        for x, y in zip(fit.x, fit.y_ns, strict=True)
    ]
    equations = tuple(
        f"{label}: {equation_text(fit)}; R2 {format_ratio(*fit.r_squared)}"
        for label, fit in zip(labels, fits, strict=True)
    )
    # Linear axes, as the study has them.
    x_axis = number_axis(
        [value for line in lines for value in line.x],
        axis_title(first.axis),
        tick_label(first.axis, first.axis_kind),
        log_from=NEVER,
    )
    y_axis = quantity_axis(lines, "time", NEVER, [y for fit in fits for y in fit.y_ns])
    named = list(zip(lines, names, strict=True))
    drawn = drawn_lines(named)
    points = placed_points(named, drawn, x_axis)
    what = f"{stage_name(None, first.quantity.replace('_each', '')).capitalize()} time"
    others = [axis_words(*item) for item in _group(first)[3]]
    title = ", ".join([f"{what} {part.format(axis_title(first.axis))}", *others])
    return title, ScanPanel(points, drawn, "time", x_axis, y_axis, curves, equations)


def equation_text(fit: FitSeries) -> str:
    """Write a curve as an equation in x, from the highest power down."""
    powers = {0: "", 1: " x"}
    terms = [
        f"{coefficient_text(coefficient)}{powers.get(power, f' x^{power}')}"
        for power, coefficient in enumerate(fit.coefficients)
    ]
    return " + ".join(reversed(terms))


def _key(condition: _Condition) -> tuple[tuple[str, int | str], ...]:
    return tuple(sorted(condition.items()))


def ablation_points(ablation: AblationSeries) -> list[dict[str, Any]]:
    """The points of an ablation's chart: how many times as long the first side takes on each rung."""
    return [
        {
            "label": label,
            **{name: 1 + share for name, share in zip(("times", "low", "high"), rung.gap_relative, strict=True)},
            "tip": f"{label}: {format_duration_interval(*rung.gap_ns)}",
        }
        for label, rung in zip(rung_labels(ablation), ablation.rungs, strict=True)
    ]


def ablation_title(ablation: AblationSeries) -> str:
    """Say what an ablation's gap is."""
    first, second = (axis_words(ablation.axis, side) for side in ablation.sides)
    return f"{ablation.workload}: {first} against {second}, as shared things are removed"


def ablation_panel(ablation: AblationSeries) -> Spec:
    """Draw the gap on each rung with its 95% interval, downwards in the order of taking away; 1× is no gap."""
    data = ablation_points(ablation)
    first, second = (axis_words(ablation.axis, side) for side in ablation.sides)
    ends = [point[name] for point in data for name in ("low", "times", "high")]
    axis = number_axis([1.0, *ends], f"time of {first} over time of {second}", TIMES_LABEL)
    y = names_axis("label", [point["label"] for point in data], labelLimit=220)
    placed = [{**point, **{name: axis.position(point[name]) for name in ("low", "times", "high")}} for point in data]
    return {
        **frame(placed, 460, _RUNG_HEIGHT * max(len(data), 1), "The gap left after each removal."),
        "layer": [
            {
                "data": {"values": [{"same": 1}]},
                "mark": {"type": "rule", "color": GREY},
                "encoding": {"x": axis.encode("same")},
            },
            rule({"x": axis.encode("low"), "x2": {"field": "high"}, "y": y}),
            dots({"x": axis.encode("times"), "y": y, "tooltip": TIP}, 70),
            *axis.break_marks("height"),
        ],
    }
