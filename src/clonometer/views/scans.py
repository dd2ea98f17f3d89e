"""Scans as charts: which lines share a panel, what they are called, their points and their axes, and their drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Any

from clonometer.families import is_beside
from clonometer.results.series_types import TASK_KIND, ScanSeries
from clonometer.units import approximate_bytes, format_duration_interval, format_number
from clonometer.views.axes import ALWAYS, RATE_LABEL, TIME_LABEL, NumberAxis, number_axis, tick_label
from clonometer.views.colours import Drawn, of_lines
from clonometer.views.labels import family_name
from clonometer.views.multiples import LineWords, joined, multiples
from clonometer.views.plots import stage_title
from clonometer.views.specs import TIP, coloured, dots, frame, interval_marks, rule
from clonometer.views.types import Spec
from clonometer.words import PLACEMENT_NAMES, axis_title, axis_words, mechanism_name, stage_name, stage_place

# A log axis is worth its strangeness from so many times the least number on.
_LOG_X_SPAN = 30
_LOG_Y_SPAN = 5
# Intervals of neighbouring lines stand so far from each other, as a share of the axis.
_ASIDE = 0.012
# Letters of a line above a panel.
_EQUATION_LETTERS = 56


@dataclass(frozen=True)
class ScanPanel:
    """What one panel draws; on its axes all points have room."""

    #: Of all lines, with ``x_at`` where they stand, and ``joined`` where a line goes through them.
    points: list[dict[str, Any]]
    #: The lines: what each is called, and of what mechanism or kind it is.
    drawn: Mapping[str, Drawn]
    #: What was measured: ``time``.
    quantity: str
    x: NumberAxis
    y: NumberAxis
    #: Points of fitted curves; then the points are not joined.
    curves: Sequence[Mapping[str, Any]] = ()
    #: What the curves are.
    equations: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScanChart:
    """Panels by their titles, with the same lines in each."""

    title: str
    panels: Mapping[str, ScanPanel]


def _x_axis(lines: Sequence[ScanSeries], log_from: float) -> NumberAxis:
    values = sorted({value for line in lines for value in line.x})
    label = tick_label(lines[0].axis, lines[0].axis_kind)
    return number_axis(values, axis_title(lines[0].axis), label, log_from=log_from, from_zero=False, ticks=values)


def quantity_axis(
    lines: Sequence[ScanSeries], title: str, log_from: float, besides: Sequence[float] = ()
) -> NumberAxis:
    """An axis for medians and intervals of all lines, and for what else is drawn."""
    label = TIME_LABEL if lines[0].unit == "ns" else RATE_LABEL
    every = [end for line in lines for ends in (line.lows, line.medians, line.highs) for end in ends]
    return number_axis([*every, *besides], title, label, log_from=log_from)


def drawn_lines(lines: Sequence[tuple[ScanSeries, str]]) -> dict[str, Drawn]:
    """What named lines are of, by their names."""
    of = of_lines([(line.workload, line.condition) for line, _ in lines])
    return {label: each for (_, label), each in zip(lines, of, strict=True)}


def placed_points(
    lines: Sequence[tuple[ScanSeries, str]], drawn: Mapping[str, Drawn], x: NumberAxis
) -> list[dict[str, Any]]:
    """The points of named lines, each line a little beside the others so that their intervals can be told apart."""
    labels = list(drawn)
    values = sorted({x.position(value) for line, _ in lines for value in line.x})
    steps = [x.share(after) - x.share(before) for before, after in pairwise(values)]
    step = min([_ASIDE, *(least / (2 * len(labels)) for least in steps)])
    middle = (len(labels) - 1) / 2
    return [
        {
            **point,
            "of": drawn[label].of,
            "x_at": x.position(point["x"], (labels.index(label) - middle) * step),
            "joined": x.zero is None or point["x"] > 0,
        }
        for line, label in lines
        for point in _points(line, label)
    ]


def family_title(lines: Sequence[ScanSeries]) -> str:
    """Name a chart by its family and axis."""
    return f"{family_name(lines[0].family)}: {axis_title(lines[0].axis)}"


def stage_or_quantity(line: ScanSeries) -> str:
    """The title of a panel of one stage or quantity."""
    return stage_title(line.stage) if line.stage else stage_name(None, line.quantity)


def but_for_kind(condition: Mapping[str, int | str]) -> tuple[tuple[str, int | str], ...]:
    """A condition without the kind of its tasks, where that tells lines apart."""
    return tuple((axis, value) for axis, value in condition.items() if axis != TASK_KIND)


def series_words(series: Sequence[ScanSeries]) -> list[LineWords]:
    """Name each line by its mechanism and by what differs between the lines."""
    temperatures = len({line.temperature for line in series}) > 1
    axes = dict.fromkeys(axis for line in series for axis in line.condition)
    differing = [axis for axis in axes if len({line.condition.get(axis) for line in series}) > 1]
    return [
        (
            mechanism_name(line.workload),
            *(axis_words(axis, line.condition[axis]) if axis in line.condition else "" for axis in differing),
            PLACEMENT_NAMES.get(line.placement or "", ""),
            line.temperature or "" if temperatures else "",
        )
        for line in series
    ]


@dataclass(frozen=True)
class Scanned:
    """Which lines a figure draws, and how they become charts."""

    #: Whether a line belongs to it.
    draws: Callable[[ScanSeries], bool]
    #: The title of the panel that a line belongs to.
    panel_of: Callable[[ScanSeries], str] = stage_or_quantity
    #: Names lines, given all lines of a chart.
    words: Callable[[Sequence[ScanSeries]], Sequence[LineWords]] = series_words
    #: The title of a chart, given its lines.
    title: Callable[[Sequence[ScanSeries]], str] = family_title
    #: What a line is of.
    quantity: Callable[[ScanSeries], str] = lambda _: "time"
    #: Whether all panels of a chart have one axis of the quantity.
    shared: bool = True
    #: Whether both axes are, however far the numbers reach; else where they reach far.
    logarithmic: bool = False
    #: What lines of one chart have in common.
    grouped: Callable[[ScanSeries], object] = lambda line: (line.axis, line.family)
    #: Whether a line of it is drawn; the others only explain these.
    leads: Callable[[ScanSeries], bool] = lambda line: not line.detail

    def charts(self, lines: Sequence[ScanSeries]) -> list[ScanChart]:
        """Arrange lines as charts, in the order of the run."""
        shown = [line for line in lines if self.leads(line) and not is_beside(line.family, line.quantity)]
        keys = dict.fromkeys(map(self.grouped, shown))
        groups = [[line for line in shown if self.grouped(line) == key] for key in keys]
        return [chart for lines in groups for chart in self._charts(lines)]

    def _charts(self, lines: Sequence[ScanSeries]) -> list[ScanChart]:
        """Draw lines of one axis, as small multiples where they are many."""
        ordered = sorted(zip(lines, self.words(lines), strict=True), key=lambda pair: stage_place(pair[0].stage))
        x = _x_axis(lines, ALWAYS if self.logarithmic else _LOG_X_SPAN)
        together = self._y_axis(lines) if self.shared else None
        charts = []
        for part, members in multiples(ordered):
            drawn = drawn_lines(members)
            panels = {}
            for title in dict.fromkeys(self.panel_of(line) for line, _ in members):
                inside = [(line, label) for line, label in members if self.panel_of(line) == title]
                points = placed_points(inside, drawn, x)
                y = together or self._y_axis([line for line, _ in inside])
                panels[title] = ScanPanel(points, drawn, self.quantity(inside[0][0]), x, y)
            charts.append(ScanChart(joined((self.title(lines), part)), panels))
        return charts

    def _y_axis(self, lines: Sequence[ScanSeries]) -> NumberAxis:
        return quantity_axis(lines, self.quantity(lines[0]), ALWAYS if self.logarithmic else _LOG_Y_SPAN)


def _points(line: ScanSeries, label: str) -> list[dict[str, Any]]:
    say = format_duration_interval if line.unit == "ns" else _megabytes
    return [
        {
            "label": label,
            "x": x,
            "median": median,
            "low": low,
            "high": high,
            "tip": f"{label}, {_x_text(line, x)}: {say(median, low, high)}",
        }
        for x, median, low, high in zip(line.x, line.medians, line.lows, line.highs, strict=True)
    ]


def _megabytes(median: float, low: float, high: float) -> str:
    return f"{format_number(median / 1e6, low / 1e6, high / 1e6)} MB/s"


def _x_text(line: ScanSeries, x: int) -> str:
    return approximate_bytes(x) if line.axis_kind == "bytes" else axis_words(line.axis, x)


def scan_panel(panel: ScanPanel) -> Spec:
    """Draw a quantity against a number, with 95% intervals as bars; where it has curves, these instead of lines."""
    shared = {"x": panel.x.encode("x_at")}
    ends = {**shared, "y": panel.y.encode("low"), "y2": {"field": "high"}}
    middle = {**shared, "y": panel.y.encode("median")}
    color = {"color": coloured(panel.drawn)}
    layers = (
        [rule({**ends, **color}), dots({**middle, **color, "tooltip": TIP}, 40), _curves(panel)]
        if panel.curves
        else interval_marks(ends, middle, panel.drawn)
    )
    described = f"{panel.quantity.capitalize()} against {panel.x.title}, with 95% intervals."
    points = [
        {**point, **{name: panel.y.position(point[name]) for name in ("low", "median", "high")}}
        for point in panel.points
    ]
    spec = {
        **frame(points, 300, 260, described),
        "layer": [*layers, *panel.x.break_marks("height"), *panel.y.break_marks()],
    }
    if panel.equations:
        lines = [line for equation in panel.equations for line in wrap(equation, _EQUATION_LETTERS)]
        spec["title"] = {"text": "", "subtitle": lines, "subtitleFontSize": 10}
    return spec


def _curves(panel: ScanPanel) -> Spec:
    return {
        "data": {"values": [dict(point) for point in panel.curves]},
        "mark": {"type": "line", "strokeWidth": 1.5, "strokeDash": [5, 3]},
        "encoding": {
            "x": panel.x.encode("x"),
            "y": panel.y.encode("y_ns"),
            "color": coloured(panel.drawn),
            "tooltip": TIP,
        },
    }
