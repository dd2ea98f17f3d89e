"""Units: integer nanoseconds and bytes inside, people's units at the edges.

Formatting happens here and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from clonometer.errors import UsageError

_BYTE_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_BYTE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?B?|B)?", re.IGNORECASE)
_SHIFT = {"K": 10, "M": 20, "G": 30, "T": 40}
_TABLE_UNITS = {"ns": 0, "µs": 3, "ms": 6, "s": 9}


def parse_bytes(text: str) -> int:
    """Read a size such as ``64MiB``, ``64M``, ``2GB`` or ``4096`` as bytes.

    All prefixes are binary, as everywhere in the project: ``64M``, ``64MB`` and ``64MiB`` are the same.

    Raises
    ------
    UsageError
        If the text is no size, or not a whole number of bytes.

    Examples
    --------
    >>> parse_bytes("64MiB")
    67108864
    """
    match = _BYTE_PATTERN.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a size", "sizes look like 4096, 64KiB, 2MiB or 1GiB")
    number, unit = match.groups()
    shift = _SHIFT.get((unit or "B")[0].upper(), 0)
    value = float(number) * (1 << shift) if "." in number else int(number) << shift
    if value != int(value):
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return int(value)


def format_bytes(size_bytes: int) -> str:
    """Write a size exactly, in the largest binary unit that divides it.

    Examples
    --------
    >>> format_bytes(67108864), format_bytes(1000), format_bytes(0)
    ('64MiB', '1000', '0')
    """
    for name, factor in _BYTE_UNITS:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{name}"
    return str(size_bytes)


def approximate_bytes(size_bytes: float) -> str:
    """Write a size for reading, to three digits, in the binary unit that suits it.

    Examples
    --------
    >>> approximate_bytes(25_200_000_000)
    '23.5 GiB'
    """
    for name, factor in _BYTE_UNITS:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {name}"
    return f"{size_bytes:.0f} B"


def table_unit(times_ns: Iterable[float | None]) -> str:
    """Choose the one unit in which a whole table is written: ``ns``, ``µs`` or ``ms``.

    Microseconds, unless everything is below one of them or nothing is below a millisecond.

    Examples
    --------
    >>> table_unit([61_000, 15_000_000]), table_unit([9.8, None]), table_unit([2e6, 3e9])
    ('µs', 'ns', 'ms')
    """
    known = [time_ns for time_ns in times_ns if time_ns is not None]
    if known and max(known) < 1e3:
        return "ns"
    return "ms" if known and min(known) >= 1e6 else "µs"


def supported_decimals(median_ns: float, low_ns: float | None, high_ns: float | None, unit: str) -> int:
    """Decimals that an interval supports in ``unit``; negative where whole units are too fine.

    The last digit is the first one of the half-width, and one more where that is a 1. Without an interval the
    median gets three digits. Never finer than 0.1 ns.

    Examples
    --------
    >>> supported_decimals(61_234, 60_800, 61_700, "µs")
    1
    >>> supported_decimals(15_012_345, 14_600_000, 15_400_000, "µs")
    -2
    """
    shift = _TABLE_UNITS[unit]
    half = 0.0 if low_ns is None or high_ns is None else (high_ns - low_ns) / 2
    finest = shift + 1
    if half > 0:
        exponent = math.floor(math.log10(half))
        extra = 1 if half < 2 * 10.0**exponent else 0
        return min(shift - exponent + extra, finest)
    if median_ns <= 0:
        return 0
    return min(shift - math.floor(math.log10(median_ns)) + 2, finest)


def format_figure(time_ns: float, decimals: int, unit: str) -> str:
    """Write a duration as a bare number in ``unit`` with ``decimals`` (see `supported_decimals`).

    Examples
    --------
    >>> format_figure(61_234, 1, "µs"), format_figure(15_012_345, -2, "µs")
    ('61.2', '15,000')
    """
    value = round(time_ns / 10.0 ** _TABLE_UNITS[unit], decimals)
    return f"{value:,.{max(decimals, 0)}f}"
