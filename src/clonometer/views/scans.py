"""Scans as charts: which lines share a panel, what they are called, and their points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.families import is_beside
from clonometer.results.series.types import ScanSeries
from clonometer.units import approximate_bytes, format_duration_interval, format_number
from clonometer.views.labels import family_name
from clonometer.views.plots import stage_title, time_domain
from clonometer.words import PLACEMENT_NAMES, axis_title, axis_words, mechanism_name, stage_name, stage_place

TASK_KIND = "task_kind"


@dataclass(frozen=True)
class ScanPanel:
    """What one panel draws: points, what they are (``time``), and their unit."""

    points: list[dict[str, Any]]
    quantity: str
    unit: str


@dataclass(frozen=True)
class ScanChart:
    """Panels by their titles, with the labels of their lines in the order of the colours.

    ``domain`` holds the ends of the axis that all panels share, or None where each has its own. ``logarithmic``: both
    axes are, however far the numbers reach; else where they reach far.
    """

    axis: str
    axis_kind: str
    family: str
    title: str
    labels: tuple[str, ...]
    domain: list[float] | None
    panels: Mapping[str, ScanPanel]
    logarithmic: bool = False


def family_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    """A chart of one family and axis: a panel for each stage or quantity."""
    title = family_title(lines)
    # What only explains another quantity is not drawn.
    shown = [line for line in lines if not line.detail]
    if not shown:
        return make_chart(lines[0], (), stage_or_quantity, title=title)
    named = list(zip(shown, series_labels(shown), strict=True))
    ordered = sorted(named, key=lambda pair: stage_place(pair[0].stage))
    labels = tuple(dict.fromkeys(name for _, name in named))
    return make_chart(lines[0], ordered, stage_or_quantity, title=title, labels=labels)


def family_title(lines: Sequence[ScanSeries]) -> str:
    """Name a chart by its family and axis."""
    return f"{family_name(lines[0].family)}: {axis_title(lines[0].axis)}"


@dataclass(frozen=True)
class Scanned:
    """Which lines a figure draws, and how.

    Attributes
    ----------
    draws
        Whether a line belongs to it.
    grouped
        What lines of one chart have in common.
    chart_of
        Makes a chart of its lines; the second argument has all lines of the figure.
    before
        What stands before the name of a panel that stands alone: its family, or nothing where it says all by itself.
    size
        Width and height of a panel in a picture.
    """

    draws: Callable[[ScanSeries], bool]
    grouped: Callable[[ScanSeries], object] = lambda line: (line.axis, line.family)
    chart_of: Callable[[Sequence[ScanSeries], Sequence[ScanSeries]], ScanChart] = family_chart
    before: Callable[[ScanChart], str] = lambda chart: f"{family_name(chart.family)}, "
    size: tuple[int, int] = (300, 260)

    def charts(self, lines: Sequence[ScanSeries]) -> list[ScanChart]:
        """Arrange lines as charts, in the order of the run."""
        shown = [line for line in lines if not is_beside(line.family, line.quantity)]
        keys = dict.fromkeys(map(self.grouped, shown))
        charts = [self.chart_of([line for line in shown if self.grouped(line) == key], shown) for key in keys]
        return [chart for chart in charts if chart.panels]


def make_chart(
    first: ScanSeries,
    named: Any,
    panel_of: Callable[[ScanSeries], str],
    *,
    title: str = "",
    labels: tuple[str, ...] | None = None,
    quantity: Callable[[ScanSeries], str] = lambda _: "time",
    shared: bool = True,
    logarithmic: bool = False,
) -> ScanChart:
    """Gather named lines into panels; ``shared``: all panels have one axis of times."""
    panels: dict[str, ScanPanel] = {}
    for line, name in named:
        points = [point for point in series_points(line, name) if point["x"] > 0 or not logarithmic]
        if points:
            panel = panels.setdefault(panel_of(line), ScanPanel([], quantity(line), line.unit))
            panel.points.extend(points)
    every = [point for panel in panels.values() for point in panel.points]
    return ScanChart(
        axis=first.axis,
        axis_kind=first.axis_kind,
        family=first.family,
        title=title,
        labels=tuple(dict.fromkeys(point["label"] for point in every)) if labels is None else labels,
        domain=time_domain(every, "low", "high") if shared else None,
        panels=panels,
        logarithmic=logarithmic,
    )


def stage_or_quantity(line: ScanSeries) -> str:
    """The title of a panel of one stage or quantity."""
    return stage_title(line.stage) if line.stage else stage_name(None, line.quantity)


def but_for_kind(condition: Mapping[str, int | str]) -> tuple[tuple[str, int | str], ...]:
    """A condition without the kind of its tasks, where that tells lines apart."""
    return tuple((axis, value) for axis, value in condition.items() if axis != TASK_KIND)


def series_labels(series: Sequence[ScanSeries]) -> list[str]:
    """Name each line by its mechanism and by what differs between the lines."""
    temperatures = len({line.temperature for line in series}) > 1
    shared = {item for item in series[0].condition.items() if all(item in line.condition.items() for line in series)}
    names = []
    for line in series:
        words = [mechanism_name(line.workload)]
        words += [axis_words(*item) for item in line.condition.items() if item not in shared]
        words += [PLACEMENT_NAMES[line.placement]] if line.placement in PLACEMENT_NAMES else []
        words += [line.temperature] if temperatures and line.temperature else []
        names.append(", ".join(words))
    return names


def series_points(line: ScanSeries, label: str) -> list[dict[str, Any]]:
    """The points of a line, but for those whose interval reaches to zero or below."""
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
        if low > 0
    ]


def _megabytes(median: float, low: float, high: float) -> str:
    return f"{format_number(median / 1e6, low / 1e6, high / 1e6)} MB/s"


def _x_text(line: ScanSeries, x: int) -> str:
    return approximate_bytes(x) if line.axis_kind == "bytes" else axis_words(line.axis, x)
