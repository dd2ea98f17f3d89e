"""Changes in words: 6% slower, 110 times faster, with the interval in the same words."""

from __future__ import annotations

import math

from clonometer.verdicts import Direction

#: From so many times on people say how many times, and no longer by how many percent.
_MANY_TIMES = 2.0
_UNKNOWN_TIMES = 1000


def change_words(ratio: float, low: float | None, high: float | None, *, is_time: bool = True) -> str:
    """Say what a ratio above 0 is a change of, with its interval, whose ends are None where there is none.

    Examples
    --------
    >>> change_words(1.06, 1.04, 1.08), change_words(0.94, 0.92, 0.96)
    ('6% slower (4 to 8)', '6% faster (4 to 8)')
    >>> change_words(0.0091, 0.0089, 0.0093)
    '110 times faster (108 to 112)'
    >>> change_words(2.8, 1.3, 5.5, is_time=False), change_words(1.609, None, None)
    ('2.8 times higher (1.3 to 5.5)', '61% slower')
    """
    larger = ratio > 1
    word = Direction.of(ratio - 1).word(is_time=is_time)
    if max(ratio, 1 / ratio) >= _MANY_TIMES:
        ends = (low, high) if larger else (high and 1 / high, low and 1 / low)
        value, *others = _figures(ratio if larger else 1 / ratio, *ends, least=1 if 0.1 < ratio < 10 else 0)
        return f"{value} times {word}{_range(others)}"
    sign = 100 if larger else -100
    ends = (low, high) if larger else (high, low)
    value, *others = _figures(*(None if end is None else sign * (end - 1) for end in (ratio, *ends)))
    return f"{value}% {word}{_range(others)}"


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
