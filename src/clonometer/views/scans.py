"""Scans as charts: which lines share a panel, what they are called, and their points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.results.series.types import MessageSeries, ScanSeries
from clonometer.units import approximate_bytes, format_duration_interval, format_number
from clonometer.views.labels import family_name
from clonometer.views.plots import stage_title, time_domain
from clonometer.words import PLACEMENT_NAMES, STAGE_ORDER, axis_title, axis_words, mechanism_name, stage_name

# Families whose workloads are set side by side as threads and as processes, with the quantity that is drawn.
_VERSUS = {"contend": "op_ns"}
_SIDES = ("threads", "processes")


@dataclass(frozen=True)
class ScanChart:
    """All panels of one axis and family: a stage or quantity each, with the points of its lines."""

    axis: str
    axis_kind: str
    family: str
    title: str
    labels: tuple[str, ...]
    domain: list[float] | None
    panels: Mapping[str, list[dict[str, Any]]]


#: Axes with a figure of their own, and its kind; messages have panels of another kind.
_KINDS = {"ring_tasks": "ring", "working_set_bytes": "working_set", "message_bytes": "messages"}
_BESIDE = ("alone_ns",)


def scans_drawn(series: Sequence[ScanSeries], kind: str) -> list[ScanSeries]:
    """The scans of a kind of figure: each belongs to one."""
    return [one for one in series if one.quantity not in _BESIDE and _kind_of(one) == kind]


def _kind_of(one: ScanSeries) -> str:
    return "contention" if one.family in _VERSUS else _KINDS.get(one.axis, "scan")


@dataclass(frozen=True)
class MessageChart:
    """Latency and bandwidth of messages under one condition: the points of their lines."""

    title: str
    labels: tuple[str, ...]
    domains: Mapping[str, list[float] | None]
    panels: Mapping[str, list[dict[str, Any]]]


def message_charts(series: Sequence[MessageSeries]) -> list[MessageChart]:
    """Arrange messages as charts: one for each condition and placement."""
    keys = dict.fromkeys((tuple(one.condition.items()), one.placement) for one in series)
    labels = tuple(dict.fromkeys(_message_label(one) for one in series))
    charts = []
    for condition, placement in keys:
        own = [one for one in series if (tuple(one.condition.items()), one.placement) == (condition, placement)]
        words = [axis_words(*item) for item in condition]
        words = [word for word in words if not (placement and word == "free")]
        words += [PLACEMENT_NAMES.get(placement, placement)] if placement else []
        panels = {
            "latency": [point for one in own for point in _latency_points(one)],
            "bandwidth": [point for one in own for point in _bandwidth_points(one)],
        }
        domains = {name: time_domain(points, "low", "high") for name, points in panels.items()}
        charts.append(MessageChart(", ".join(words) or "one CPU", labels, domains, panels))
    return charts


def _message_label(one: MessageSeries) -> str:
    name = mechanism_name(one.workload).removeprefix("ipc.").replace("_", " ")
    return f"{name}, {axis_words('task_kind', one.task_kind)}"


def _latency_points(one: MessageSeries) -> list[dict[str, Any]]:
    return _message_points(one, (one.latency_ns, one.latency_low_ns, one.latency_high_ns), format_duration_interval)


def _bandwidth_points(one: MessageSeries) -> list[dict[str, Any]]:
    return _message_points(one, (one.bandwidth, one.bandwidth_low, one.bandwidth_high), _megabytes)


def _megabytes(median: float, low: float, high: float) -> str:
    return f"{format_number(median / 1e6, low / 1e6, high / 1e6)} MB/s"


def _message_points(
    one: MessageSeries,
    numbers: tuple[Sequence[float], Sequence[float], Sequence[float]],
    say: Callable[[float, float, float], str],
) -> list[dict[str, Any]]:
    label = _message_label(one)
    return [
        {
            "label": label,
            "x": size,
            "median": median,
            "low": low,
            "high": high,
            "tip": f"{label}, {approximate_bytes(size)}: {say(median, low, high)}",
        }
        for size, median, low, high in zip(one.message_bytes, *numbers, strict=True)
        if low > 0
    ]


def scan_charts(series: Sequence[ScanSeries]) -> list[ScanChart]:
    """Arrange scans as charts: one for each axis and family, in the order of the run.

    Where threads are set against processes, each operation has a panel of its own with a line for each of them.
    """
    series = [one for one in series if not one.detail]
    keys = dict.fromkeys((one.axis, one.family) for one in series)
    charts = []
    for axis, family in keys:
        own = [one for one in series if (one.axis, one.family) == (axis, family)]
        if family in _VERSUS:
            charts += [chart for chart in (_versus_chart(own),) if chart.panels]
            continue
        names = {id(one): name for one, name in zip(own, series_labels(own), strict=True)}
        ordered = sorted(own, key=lambda one: STAGE_ORDER.index(one.stage) if one.stage in STAGE_ORDER else 9)
        panels: dict[str, list[dict[str, Any]]] = {}
        for one in ordered:
            title = stage_title(one.stage) if one.stage else stage_name(None, one.quantity)
            panels.setdefault(title, []).extend(series_points(one, names[id(one)]))
        every = [point for points in panels.values() for point in points]
        charts.append(
            ScanChart(
                axis=axis,
                axis_kind=own[0].axis_kind,
                family=family,
                title=f"{family_name(family)}: {axis_title(axis)}",
                labels=tuple(dict.fromkeys(names.values())),
                domain=time_domain(every, "low_ns", "high_ns"),
                panels=panels,
            )
        )
    return charts


def phase_charts(series: Sequence[ScanSeries]) -> list[ScanChart]:
    """Arrange the phases of events as charts: one for each workload and axis, a panel for each condition.

    The lines of a panel are the phases, in the order of the catalogue.
    """
    keys = dict.fromkeys((one.workload, one.axis) for one in series)
    charts = []
    for workload, axis in keys:
        own = [one for one in series if (one.workload, one.axis) == (workload, axis)]
        panels: dict[str, list[dict[str, Any]]] = {}
        for one in own:
            title = ", ".join(axis_words(*item) for item in one.condition.items()) or "as usual"
            panels.setdefault(title, []).extend(series_points(one, stage_name(one.stage, one.quantity)))
        charts.append(
            ScanChart(
                axis=axis,
                axis_kind=own[0].axis_kind,
                family=own[0].family,
                title=mechanism_name(workload),
                labels=tuple(dict.fromkeys(stage_name(one.stage, one.quantity) for one in own)),
                domain=time_domain([point for points in panels.values() for point in points], "low_ns", "high_ns"),
                panels=panels,
            )
        )
    return charts


def _versus_chart(series: Sequence[ScanSeries]) -> ScanChart:
    """Draw each operation by threads and by processes: the family's leading quantity, a panel an operation."""
    first = series[0]
    panels: dict[str, list[dict[str, Any]]] = {}
    for one in series:
        if one.quantity == _VERSUS[one.family]:
            words = [axis_words(*item) for item in one.condition.items() if item[0] != "task_kind"]
            words += [PLACEMENT_NAMES[one.placement]] if one.placement in PLACEMENT_NAMES else []
            title = ", ".join([mechanism_name(one.workload), *words])
            label = axis_words("task_kind", one.condition.get("task_kind", "thread"))
            panels.setdefault(title, []).extend(series_points(one, label))
    panels = {title: points for title, points in panels.items() if points}
    return ScanChart(
        axis=first.axis,
        axis_kind=first.axis_kind,
        family=first.family,
        title=f"{family_name(first.family)}: {axis_title(first.axis)}",
        labels=_SIDES,
        domain=None,
        panels=panels,
    )


def series_labels(series: Sequence[ScanSeries]) -> list[str]:
    """Name each line by its mechanism and by what differs between the lines."""
    temperatures = len({one.temperature for one in series}) > 1
    shared = {item for item in series[0].condition.items() if all(item in one.condition.items() for one in series)}
    names = []
    for one in series:
        words = [mechanism_name(one.workload)]
        words += [axis_words(*item) for item in one.condition.items() if item not in shared]
        words += [PLACEMENT_NAMES[one.placement]] if one.placement in PLACEMENT_NAMES else []
        words += [one.temperature] if temperatures and one.temperature else []
        names.append(", ".join(words))
    return names


def series_points(one: ScanSeries, label: str) -> list[dict[str, Any]]:
    """The points of a line, but for those whose interval reaches to zero or below."""
    return [
        {
            "label": label,
            "x": x,
            "median_ns": median,
            "low_ns": low,
            "high_ns": high,
            "tip": f"{label}, {_x_text(one, x)}: {format_duration_interval(median, low, high)}",
        }
        for x, median, low, high in zip(one.x, one.median_ns, one.low_ns, one.high_ns, strict=True)
        if low > 0
    ]


def _x_text(one: ScanSeries, x: int) -> str:
    return approximate_bytes(x) if one.axis_kind == "bytes" else axis_words(one.axis, x)
