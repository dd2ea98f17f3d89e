"""Charts of time against an axis: the parent's memory, or whatever else a run scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.views.specs import PALETTE, TIME_LABEL, Datum, Spec, colour, frame, interval_marks, time_axis

BYTES_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '~g') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '~g') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '~g') + ' KiB' : "
    "format(datum.value, '~g') + ' B'"
)
_RATE_LABEL = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' GB/s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' MB/s' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' kB/s' : "
    "format(datum.value, '~g') + ' B/s'"
)
_COUNT_LABEL = "format(datum.value, ',')"
# A log axis is worth its strangeness from here on.
_LOG_X_SPAN = 30
_LOG_Y_SPAN = 5
_DASHES = ([1, 0], [5, 3], [2, 2])


def memory_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    domain: Sequence[float] | None = None,
    title: str | None = None,
    width: int | str = 300,
    height: int = 260,
) -> Spec:
    """Draw launch time against the parent's memory, both on log axes, with 95% intervals.

    Parameters
    ----------
    data
        ``parent_bytes``, ``median_ns``, ``low_ns``, ``high_ns``, ``label`` and ``tip`` of each point.
    labels
        The labels in the order of their colours.
    domain
        The least and the greatest time of the axis.
    """
    x = _bytes_axis("parent_bytes", "memory of the parent (log)", data)
    y = {field: time_axis(field, "launch time (log)", domain) for field in ("low_ns", "median_ns")}
    panel = frame(data, title, width, height, "Launch time against the parent's memory, with 95% intervals.")
    return {**panel, "layer": _layers(x, y, labels)}


def scan_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    axis_title: str,
    axis_kind: str = "count",
    domain: Sequence[float] | None = None,
    title: str | None = None,
    width: int | str = 300,
    height: int = 260,
) -> Spec:
    """Draw a time against any numeric axis, with 95% intervals; log axes where the numbers span far.

    Parameters
    ----------
    data
        ``x``, ``median_ns``, ``low_ns``, ``high_ns``, ``label`` and ``tip`` of each point.
    labels
        The labels in the order of their colours.
    axis_title, axis_kind
        What the axis is called, and whether it is ``bytes`` or ``count``.
    domain
        The least and the greatest time of the axis.
    """
    values = sorted({int(point["x"]) for point in data})
    scale, note = _x_scale(values)
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {**scale, "nice": False, "padding": 12},
        "axis": {
            "title": f"{axis_title}{note}",
            "labelExpr": BYTES_LABEL if axis_kind == "bytes" else _COUNT_LABEL,
            "values": values,
        },
    }
    y = {field: _scan_time(field, domain) for field in ("low_ns", "median_ns")}
    panel = frame(data, title, width, height, f"Time against {axis_title}, with 95% intervals.")
    return {**panel, "layer": _layers(x, y, labels)}


def messages_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    quantity: str,
    domain: Sequence[float] | None = None,
    title: str | None = None,
    width: int | str = 340,
    height: int = 280,
) -> Spec:
    """Draw the latency or the bandwidth of messages against their size, both on log axes, with 95% intervals.

    Parameters
    ----------
    data
        ``x``, ``median``, ``low``, ``high``, ``label`` and ``tip`` of each point.
    labels
        The labels in the order of their colours.
    quantity
        ``latency`` (ns) or ``bandwidth`` (bytes per second).
    domain
        The least and the greatest value of the axis.
    """
    x = _bytes_axis("x", "size of a message (log)", data)
    fields = ("low", "median", "high")
    y = {field: time_axis(field, f"{quantity} (log)", domain) for field in fields[:2]}
    if quantity == "bandwidth":
        for axis in y.values():
            axis["axis"] |= {"labelExpr": _RATE_LABEL}
    panel = frame(data, title, width, height, f"{quantity} of messages against their size, with 95% intervals.")
    return {**panel, "layer": _layers(x, y, labels, fields)}


def _bytes_axis(field: str, title: str, data: Sequence[Datum]) -> Spec:
    """Encode sizes on a log axis, each with its tick."""
    sizes = sorted({int(point[field]) for point in data})
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "nice": False, "padding": 12},
        "axis": {"title": title, "labelExpr": BYTES_LABEL, **({"values": sizes} if sizes else {})},
    }


def _x_scale(values: Sequence[int]) -> tuple[Spec, str]:
    """Choose the scale, and what to say of it. Zero has a place on a symmetric log axis only."""
    above = [value for value in values if value > 0]
    if not above or above[-1] < _LOG_X_SPAN * above[0]:
        return {"type": "linear", "zero": False}, ""
    if values[0] == 0:
        return {"type": "symlog", "constant": above[0] / 2}, " (log, from 0)"
    return {"type": "log"}, " (log)"


def _scan_time(field: str, domain: Sequence[float] | None) -> Spec:
    if not domain or domain[1] >= _LOG_Y_SPAN * domain[0]:
        return time_axis(field, "time (log)", domain)
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0, domain[1]], "nice": True},
        "axis": {"title": "time", "labelExpr": TIME_LABEL, "tickCount": 5},
    }


def _layers(
    x: Spec, y: dict[str, Spec], labels: Sequence[str], fields: Sequence[str] = ("low_ns", "median_ns", "high_ns")
) -> list[dict[str, Any]]:
    """Interval as a band and as rules, the median as a line with its points."""
    low, middle, high = fields
    shared = {"x": x, "color": colour(labels)}
    ends = {**shared, "y": y[low], "y2": {"field": high}}
    return [
        {"mark": {"type": "area", "opacity": 0.18, "line": False}, "encoding": ends},
        *interval_marks(ends, {**shared, "y": y[middle]}, along=_dash(labels)),
    ]


def _dash(labels: Sequence[str]) -> Spec:
    """Tell lines apart by dashes where there are more of them than colours."""
    if len(labels) <= len(PALETTE):
        return {}
    dashes = [list(_DASHES[min(place // len(PALETTE), len(_DASHES) - 1)]) for place in range(len(labels))]
    return {
        "strokeDash": {
            "field": "label",
            "type": "nominal",
            "scale": {"domain": list(labels), "range": dashes},
            "legend": {"title": None},
        }
    }
