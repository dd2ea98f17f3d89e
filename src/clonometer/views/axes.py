"""Axes of numbers: round ticks, room around the points, and on a log axis a place for zero behind a break."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from clonometer.views.types import Spec


def _label(steps: Sequence[tuple[str, str]], least: str, size: str = "datum.value") -> str:
    """The expression that writes a value in the largest unit that it reaches by its ``size``, else in the ``least``."""
    units = (f"{size} >= {factor} ? format(datum.value / {factor}, '~g') + ' {unit}' : " for factor, unit in steps)
    return f"datum.value == 0 ? '0' : {''.join(units)}format(datum.value, '~g') + ' {least}'"


TIME_LABEL = _label((("1e9", "s"), ("1e6", "ms"), ("1e3", "µs")), "ns", "abs(datum.value)")
BYTES_LABEL = _label((("1073741824", "GiB"), ("1048576", "MiB"), ("1024", "KiB")), "B")
RATE_LABEL = _label((("1e9", "GB/s"), ("1e6", "MB/s"), ("1e3", "kB/s")), "B/s")
COUNT_LABEL = "format(datum.value, ',~g')"
TIMES_LABEL = "format(datum.value, '~g') + '×'"

ALWAYS, NEVER = 0.0, math.inf
_ENOUGH_TICKS, _MOST_TICKS, _MOST_DECADES = 3, 6, 12
_LOG_STEPS = (("1",), ("1", "3"), ("1", "2", "5"))
# Shares of an axis: the room beyond the outermost points, the gap that holds the break, and what a label takes.
_ROOM, _BREAK, _LABEL = 0.04, 0.16, 0.17


def tick_label(axis: str, kind: str) -> str:
    """The Vega expression that writes values of an axis of conditions: sizes, durations or counts."""
    if kind == "bytes":
        return BYTES_LABEL
    return TIME_LABEL if axis.endswith("_ns") else COUNT_LABEL


@dataclass(frozen=True)
class NumberAxis:
    """An axis of numbers, made to hold certain points; a log axis says in its title that it is one."""

    title: str
    #: The Vega expression that writes a tick.
    label: str
    #: Its ends, beyond the outermost points.
    low: float
    high: float
    #: Where it is labelled.
    ticks: tuple[float, ...]
    is_log: bool
    #: Where zero stands on a log axis that has points there or below, and where the axis is broken; else None.
    zero: float | None = None
    cut: float | None = None
    #: What is said there: zero, or that it is also for what is below.
    lowest: str = "0"

    def position(self, value: float, aside: float = 0.0) -> float:
        """Where a value stands on the axis, moved aside by a share of its length."""
        stands = self.zero if self.zero is not None and value <= 0 else value
        if not aside:
            return stands
        if self.is_log:
            return stands * math.pow(self.high / self.low, aside)
        return stands + (self.high - self.low) * aside

    def share(self, value: float) -> float:
        """How far along the axis a value stands, from 0 to 1."""
        if self.is_log:
            return math.log(self.position(value) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def encode(self, field: str) -> Spec:
        """Encode a field of the points."""
        label = self.label if self.zero is None else f"datum.value <= {self.zero} ? '{self.lowest}' : {self.label}"
        scale: Spec = {"type": "log"} if self.is_log else {"type": "linear", "zero": False}
        return {
            "field": field,
            "type": "quantitative",
            "scale": {**scale, "domain": [self.low, self.high], "nice": False},
            "axis": {
                "title": f"{self.title} (log)" if self.is_log else self.title,
                "labelExpr": label,
                "values": list(self.ticks),
                # They are thinned here: Vega would hide the last, and push the first towards the second.
                "labelOverlap": False,
                "labelFlush": False,
                # Vega thins given values down to this.
                "tickCount": max(len(self.ticks), 2),
            },
        }

    def break_marks(self, height: int | str | None = None) -> list[Spec]:
        """A layer that breaks the axis between zero and the least number above it; none where it has no zero.

        ``height`` is the panel's, for an axis along its foot: a number, or "height" for whatever it is; None where the
        axis stands upright.
        """
        if self.cut is None:
            return []
        place = self.encode("cut")
        mark = {"type": "text", "text": "//", "fontSize": 14, "fontWeight": 700}
        encoding = {"y": place, "x": {"value": 0}} if height is None else {"x": place, "y": {"value": height}}
        return [{"data": {"values": [{"cut": self.cut}]}, "mark": mark, "encoding": encoding}]


def number_axis(
    values: Iterable[float],
    title: str,
    label: str = TIME_LABEL,
    *,
    log_from: float = ALWAYS,
    from_zero: bool = True,
    ticks: Sequence[float] | None = None,
) -> NumberAxis:
    """Make an axis on which all values have room, ends of intervals included.

    It is logarithmic where its greatest number is at least ``log_from`` times its least one above zero; a linear one
    begins at zero if it is ``from_zero``. ``ticks`` are the numbers to label, which are thinned where they are too
    close; None: round numbers.

    Examples
    --------
    >>> axis = number_axis([0, 1000, 1_000_000], "time")
    >>> axis.ticks[1:], axis.low < axis.zero < 1000
    ((1000.0, 10000.0, 100000.0, 1000000.0), True)
    """
    every = list(values) or [1.0, 10.0]
    above = [value for value in every if value > 0]
    least, most = (min(above), max(above)) if above else (1.0, 1.0)
    if not above or most < log_from * least:
        return _linear(every, title, label, from_zero, ticks)
    length = max(math.log10(most) - math.log10(least), 0.1)
    zero, cut = None, None
    if min(every) <= 0:
        zero, cut = (_tenfold(least, -share * length) for share in (_BREAK, _BREAK / 2))
    low, high = _tenfold(zero or least, -_ROOM * length), _tenfold(most, _ROOM * length)
    axis = NumberAxis(title, label, low, high, (), True, zero, cut, "0" if min(every) == 0 else "≤ 0")
    places = log_ticks(cut or low, high) if ticks is None else _thinned([tick for tick in ticks if tick > 0], axis)
    return replace(axis, ticks=(*([zero] if zero else []), *places))


def _tenfold(value: float, power: float) -> float:
    """A value times ten to a power, kept within what a number can hold."""
    return float(10 ** min(max(math.log10(value) + power, -300), 300))


def _linear(
    values: Sequence[float], title: str, label: str, from_zero: bool, ticks: Sequence[float] | None
) -> NumberAxis:
    low, high = (min(0.0, *values), max(0.0, *values)) if from_zero else (min(values), max(values))
    room = _ROOM * ((high - low) or abs(high) or 1.0)
    # What begins at zero begins there: nothing can lie below.
    ends = (low if from_zero and low == 0 else low - room, high + room)
    axis = NumberAxis(title, label, *ends, (), False)
    return replace(axis, ticks=tuple(linear_ticks(*ends) if ticks is None else _thinned(ticks, axis)))


def log_ticks(low: float, high: float) -> list[float]:
    """Choose where a log axis has its ticks: round numbers, the coarsest set that has at least three.

    Examples
    --------
    >>> log_ticks(8_000, 110_000), log_ticks(230, 480)
    ([10000.0, 30000.0, 100000.0], [250.0, 300.0, 350.0, 400.0, 450.0])
    """
    if not 0 < low < high:
        return []
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1, 1 + (last - first) // _MOST_DECADES)
    for steps in _LOG_STEPS:
        ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= _ENOUGH_TICKS:
            return inside
    return linear_ticks(low, high)


def linear_ticks(low: float, high: float) -> list[float]:
    """Choose round ticks at even steps, six at most.

    Examples
    --------
    >>> linear_ticks(0, 24.5), linear_ticks(-0.7, 1.4)
    ([0.0, 5.0, 10.0, 15.0, 20.0], [-0.5, 0.0, 0.5, 1.0])
    """
    if not low < high:
        return []
    power = math.floor(math.log10((high - low) / _MOST_TICKS))
    for step in (1.0, 2.0, 5.0, 10.0, 20.0):
        size = float(f"{step}e{power}")
        first, last = math.ceil(low / size), math.floor(high / size)
        if last - first < _MOST_TICKS:
            break
    return [float(f"{round(index * size, 12):.12g}") for index in range(first, last + 1)]


def _thinned(ticks: Sequence[float], axis: NumberAxis) -> list[float]:
    """Leave out ticks whose labels would touch; the first and the last always stay."""
    ordered = sorted(set(ticks))
    kept = ordered[:1]
    for tick in ordered[1:-1]:
        if axis.share(tick) - axis.share(kept[-1]) >= _LABEL and axis.share(ordered[-1]) - axis.share(tick) >= _LABEL:
            kept.append(tick)
    return [*kept, *ordered[1:][-1:]]
