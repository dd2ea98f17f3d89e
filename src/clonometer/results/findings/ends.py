"""Intervals as findings carry them: of one process there is none, and none is shown."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.stats.interval import Interval
from clonometer.units import format_duration, format_duration_interval

ONE_PROCESS = "one process: how much others would differ is not known"


def interval_ends(interval: Interval, factor: float = 1.0) -> list[float] | None:
    """Give both ends times ``factor``; None where the interval rests on one process.

    Examples
    --------
    >>> many, one = Interval(2.0, 1.0, 4.0, 0.95, "", 6), Interval(2.0, 2.0, 2.0, 0.95, "", 1)
    >>> interval_ends(many, 10.0), interval_ends(one)
    ([10.0, 40.0], None)
    """
    return None if interval.n < 2 else [interval.low * factor, interval.high * factor]


def missing_ends_reason(interval: Interval) -> str | None:
    """Say why there are no ends; None where there are."""
    return ONE_PROCESS if interval.n < 2 else None


def duration_words(value_ns: float, own_ends: Sequence[float] | None) -> str:
    """Write a duration with its ends, or say that it is of one process.

    Examples
    --------
    >>> duration_words(56_312, [55_870, 56_840]), duration_words(56_312, None)
    ('56.3 (55.9 to 56.8) µs', '56.3 µs (one process)')
    """
    if own_ends is None:
        return f"{format_duration(value_ns)} (one process)"
    return format_duration_interval(value_ns, *own_ends)
