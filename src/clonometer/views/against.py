"""Charts of a quantity against a numeric axis: the parent's memory, or whatever else a run scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.views.specs import PALETTE, TIME_LABEL, Datum, Spec, choice, colour, frame, interval_marks, time_axis

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


def scan_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    axis_title: str,
    axis_kind: str = "count",
    domain: Sequence[float] | None = None,
    quantity: str = "time",
    unit: str = "ns",
    logarithmic: bool = False,
    title: str | None = None,
    width: int | str = 300,
    height: int = 260,
) -> Spec:
    """Draw a quantity against any numeric axis, with 95% intervals; log axes where the numbers span far.

    Parameters
    ----------
    data
        ``x``, ``median``, ``low``, ``high``, ``label`` and ``tip`` of each point.
    axis_title, axis_kind
        What the axis is called, and whether it is ``bytes`` or ``count``.
    logarithmic
        Whether both axes are, however far the numbers reach.
    """
    values = sorted({int(point["x"]) for point in data})
    scale, note = ({"type": "log", "base": 2}, " (log)") if logarithmic else _x_scale(values)
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
    y = {field: _y_axis(field, domain, quantity, logarithmic) for field in ("low", "median")}
    if unit == "B/s":
        for encoding in y.values():
            encoding["axis"] |= {"labelExpr": _RATE_LABEL}
    described = f"{quantity.capitalize()} against {axis_title}, with 95% intervals."
    panel = frame(data, title, width, height, described)
    return {**panel, "layer": _layers(x, y, labels)}


def _x_scale(values: Sequence[int]) -> tuple[Spec, str]:
    """Choose the scale, and what to say of it. Zero has a place on a symmetric log axis only."""
    above = [value for value in values if value > 0]
    if not above or above[-1] < _LOG_X_SPAN * above[0]:
        return {"type": "linear", "zero": False}, ""
    if values[0] == 0:
        return {"type": "symlog", "constant": above[0] / 2}, " (log, from 0)"
    return {"type": "log"}, " (log)"


def _y_axis(field: str, domain: Sequence[float] | None, quantity: str, logarithmic: bool) -> Spec:
    if logarithmic or not domain or domain[1] >= _LOG_Y_SPAN * domain[0]:
        return time_axis(field, f"{quantity} (log)", domain)
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [0, domain[1]], "nice": True},
        "axis": {"title": quantity, "labelExpr": TIME_LABEL, "tickCount": 5},
    }


def _layers(x: Spec, y: dict[str, Spec], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Interval as a band and as rules, the median as a line with its points."""
    shared = {"x": x, "color": colour(labels)}
    ends = {**shared, "y": y["low"], "y2": {"field": "high"}}
    return [
        {"mark": {"type": "area", "opacity": 0.18, "line": False}, "encoding": ends},
        *interval_marks(ends, {**shared, "y": y["median"]}, along=_dash(labels)),
    ]


def _dash(labels: Sequence[str]) -> Spec:
    """Tell lines apart by dashes where there are more of them than colours."""
    if len(labels) <= len(PALETTE):
        return {}
    dashes = [list(_DASHES[min(place // len(PALETTE), len(_DASHES) - 1)]) for place in range(len(labels))]
    return {"strokeDash": choice("label", labels, dashes)}
