"""Changes in words: 6% slower, 110 times faster, with the interval in the same words."""

from __future__ import annotations

import math
from typing import Any

from clonometer.results.change import Change
from clonometer.verdicts import Direction

#: From so many times on people say how many times, and no longer by how many percent.
_MANY_TIMES = 2.0
_UNKNOWN_TIMES = 1000


def change_words(change: Change[Any], *, is_time: bool = True) -> str:
    """Say what a ratio, which there must be, is a change of, with its interval where it has one.

    Examples
    --------
    >>> from dataclasses import replace
    >>> slower = Change(base="a", other="b", value=1.06, low=1.04, high=1.08)
    >>> change_words(slower), change_words(replace(slower, value=0.94, low=0.92, high=0.96))
    ('6% slower (4 to 8)', '6% faster (4 to 8)')
    >>> change_words(replace(slower, value=0.0091, low=0.0089, high=0.0093))
    '110 times faster (108 to 112)'
    >>> change_words(Change(base="a", other="b", value=2.8, low=1.3, high=5.5), is_time=False)
    '2.8 times higher (1.3 to 5.5)'
    """
    word = (Direction.MORE if change.rises else Direction.LESS).word(is_time=is_time)
    if change.size >= _MANY_TIMES:
        upward = change.upward
        value, *others = _figures(upward.value, upward.low, upward.high, least=1 if change.size < 10 else 0)
        return f"{value} times {word}{_range(others)}"
    sign = 100 if change.rises else -100
    ends = (change.low, change.high) if change.rises else (change.high, change.low)
    value, *others = _figures(*(None if end is None else sign * (end - 1) for end in (change.value, *ends)))
    return f"{value}% {word}{_range(others)}"


def bound_words(ratio: float) -> str:
    """Say how far a ratio is from 1 at least, to two digits and rounded towards 1.

    Examples
    --------
    >>> bound_words(117.3), bound_words(1.239), bound_words(0.311)
    ('at least 110', 'at least 1.23', 'at most 0.32')
    """
    rises = ratio >= 1
    places = 2 if 0.5 <= ratio < 2 else 1 - math.floor(math.log10(ratio))
    unit = 10.0**places
    bound = (math.floor if rises else math.ceil)(ratio * unit) / unit
    return f"at {'least' if rises else 'most'} {bound:,.{max(places, 0)}f}"


def range_words(low: float, high: float) -> str:
    """Say between what a change lies that could not be told from none.

    Examples
    --------
    >>> range_words(0.93, 1.08), range_words(0.4, 3.1)
    ('-7 to +8%', '0.4 to 3.1 times')
    >>> range_words(1e-21, 1e15)
    'under 1/1000 to over 1000 times'
    """
    if low < 1 / _MANY_TIMES or high > _MANY_TIMES:
        return f"{_times(low)} to {_times(high)} times"
    first, second = _figures(100 * (low - 1), 100 * (high - 1))
    return f"{_signed(first)} to {_signed(second)}%"


def _times(end: float) -> str:
    """A number of times; beyond a thousand it only says that nothing is known."""
    if end >= _UNKNOWN_TIMES:
        return f"over {_UNKNOWN_TIMES}"
    return f"under 1/{_UNKNOWN_TIMES}" if end <= 1 / _UNKNOWN_TIMES else f"{end:.2g}" if end < 100 else f"{end:.0f}"


def _signed(figure: str) -> str:
    return figure if figure.startswith("-") or not figure.strip("0.") else f"+{figure}"


def _range(ends: list[str]) -> str:
    return f" ({ends[0]} to {ends[1]})" if len(ends) == 2 else ""


def _figures(*values: float | None, least: int = 0) -> list[str]:
    """Write numbers with as many decimals as the distance of the farthest two of them supports, or with ``least``."""
    known = [value for value in values if value is not None]
    width = max(known) - min(known)
    if width == 0:
        return [f"{known[0]:.2g}" if known[0] < 100 else f"{known[0]:.0f}"] * len(known)
    decimals = max(least, min(3, 1 - math.ceil(math.log10(width))))
    figures = [f"{value:.{decimals}f}" for value in known]
    return ["0" if not figure.strip("-0.") else figure for figure in figures]
