"""Scans as charts: which lines share a panel, what they are called, and their points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.families import axis
from clonometer.results.series.types import ScanSeries
from clonometer.units import approximate_bytes, format_duration_interval, format_number
from clonometer.views.labels import family_name
from clonometer.views.plots import stage_title, time_domain
from clonometer.words import PLACEMENT_NAMES, STAGE_ORDER, axis_title, axis_words, mechanism_name, stage_name

# Families whose workloads are set side by side as threads and as processes, with the quantity that is drawn.
_VERSUS = {"contend": "op_ns"}
_SIDES = ("threads", "processes")
_TASK_KIND = "task_kind"

#: Axes with a figure of their own, and its kind; of launches the parent's memory has one, too.
_KINDS = {"ring_tasks": "ring", "working_set_bytes": "working_set", "message_bytes": "messages"}
_MEMORY = "parent_bytes"
_BESIDE = ("alone_ns",)


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


def drawn_kind(line: ScanSeries) -> str:
    """The kind of figure that a line belongs to: each belongs to one."""
    if line.phase:
        return "story"
    if line.axis == _MEMORY and line.stage is not None:
        return "memory"
    return "contention" if line.family in _VERSUS else _KINDS.get(line.axis, "scan")


def scan_charts(series: Sequence[ScanSeries], kind: str) -> list[ScanChart]:
    """Arrange the lines of a kind of figure as charts, in the order of the run.

    ``memory`` is one chart with a panel a stage. A ``story`` has a chart for each workload and axis, a panel for each
    condition and a line for each phase. ``messages`` have a chart for each condition. All others have one for each axis
    and family, a panel for each stage or quantity; where threads are set against processes, for each operation.
    """
    lines = [line for line in series if drawn_kind(line) == kind and line.quantity not in _BESIDE]
    grouped, chart_of = _ARRANGED.get(kind, (_by_family, _family_chart))
    charts = [
        chart_of([line for line in lines if grouped(line) == key], lines) for key in dict.fromkeys(map(grouped, lines))
    ]
    return [chart for chart in charts if chart.panels]


def _by_family(line: ScanSeries) -> object:
    # What only explains another quantity is not drawn, and makes no chart.
    return (line.axis, line.family)


def _family_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    title = f"{family_name(lines[0].family)}: {axis_title(lines[0].axis)}"
    if lines[0].family in _VERSUS:
        leading = [line for line in lines if line.quantity == _VERSUS[line.family]]
        names = [axis_words(_TASK_KIND, line.condition.get(_TASK_KIND, "thread")) for line in leading]
        return _chart(lines[0], zip(leading, names, strict=True), _operation, title=title, labels=_SIDES, shared=False)
    shown = [line for line in lines if not line.detail]
    if not shown:
        return _chart(lines[0], (), _stage_or_quantity, title=title)
    named = list(zip(shown, series_labels(shown), strict=True))
    ordered = sorted(named, key=lambda pair: STAGE_ORDER.index(pair[0].stage) if pair[0].stage in STAGE_ORDER else 9)
    labels = tuple(dict.fromkeys(name for _, name in named))
    return _chart(lines[0], ordered, _stage_or_quantity, title=title, labels=labels)


def _memory_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    return _chart(
        lines[0],
        sorted(zip(lines, memory_labels(lines), strict=True), key=lambda pair: STAGE_ORDER.index(pair[0].stage or "")),
        _stage_or_quantity,
        labels=tuple(dict.fromkeys(memory_labels(lines))),
        quantity=lambda _: "launch time",
        logarithmic=True,
    )


def _story_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    def condition(line: ScanSeries) -> str:
        return ", ".join(axis_words(*item) for item in line.condition.items()) or "as usual"

    named = [(line, stage_name(line.stage, line.quantity)) for line in lines]
    return _chart(lines[0], named, condition, title=mechanism_name(lines[0].workload))


def _message_chart(lines: Sequence[ScanSeries], every: Sequence[ScanSeries]) -> ScanChart:
    def panel(line: ScanSeries) -> str:
        words = [axis_words(*item) for item in _but_for_kind(line.condition)]
        words = [word for word in words if not (line.placement and word == "free")]
        words += [PLACEMENT_NAMES.get(line.placement, line.placement)] if line.placement else []
        return f"{_quantity(line).capitalize()} of messages, {', '.join(words) or 'one CPU'}"

    # Ways and kinds of tasks keep their colours from chart to chart.
    labels = tuple(dict.fromkeys(_message_label(line) for line in every))
    named = [(line, _message_label(line)) for line in lines]
    return _chart(lines[0], named, panel, labels=labels, quantity=_quantity, shared=False, logarithmic=True)


_ARRANGED: Mapping[str, tuple[Callable[[ScanSeries], object], Callable[..., ScanChart]]] = {
    "memory": (lambda line: line.axis, _memory_chart),
    "story": (lambda line: (line.workload, line.axis), _story_chart),
    "messages": (lambda line: (_but_for_kind(line.condition), line.placement), _message_chart),
}


def _chart(
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


def _stage_or_quantity(line: ScanSeries) -> str:
    return stage_title(line.stage) if line.stage else stage_name(None, line.quantity)


def _operation(line: ScanSeries) -> str:
    words = [axis_words(*item) for item in _but_for_kind(line.condition)]
    words += [PLACEMENT_NAMES[line.placement]] if line.placement in PLACEMENT_NAMES else []
    return ", ".join([mechanism_name(line.workload), *words])


def _quantity(line: ScanSeries) -> str:
    return line.quantity.removesuffix("_ns")


def _but_for_kind(condition: Mapping[str, int | str]) -> tuple[tuple[str, int | str], ...]:
    return tuple((axis, value) for axis, value in condition.items() if axis != _TASK_KIND)


def _message_label(line: ScanSeries) -> str:
    name = mechanism_name(line.workload).removeprefix("ipc.").replace("_", " ")
    return f"{name}, {axis_words(_TASK_KIND, line.condition[_TASK_KIND])}"


def memory_labels(series: Sequence[ScanSeries]) -> list[str]:
    """Name launches against the parent's memory by mechanism, and by kind and state of the pages where those differ."""
    kinds, pages = (len({line.condition[name] for line in series}) > 1 for name in ("page_kind", "pages"))
    state = axis("pages").qualifies
    names = []
    for line in series:
        words = [mechanism_name(line.workload)]
        words += [axis_words("page_kind", line.condition["page_kind"])] if kinds else []
        unusual = state is None or line.condition["pages"] != state.usual
        words += [axis_words("pages", line.condition["pages"])] if pages and (unusual or not kinds) else []
        names.append(", ".join(words))
    return names


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
