"""Units: integer nanoseconds and bytes inside, people's units at the edges.

Formatting happens here and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from clonometer.errors import UsageError

#: Above what a whole number of 64 bits can say nothing was ever measured, in any unit; sums of it are no numbers.
MOST_MAGNITUDE = 2.0**63

_BYTE_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_BYTE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?B)?|B)?", re.IGNORECASE)
_TABLE_UNITS = {"ns": 0, "µs": 3, "ms": 6, "s": 9}


def parse_bytes(text: str) -> int:
    """Read a size such as ``64MiB``, ``64M``, ``2GB`` or ``4096`` as bytes, exactly.

    As in GNU coreutils ``64MiB`` and ``64M`` are binary, and ``64MB`` is 64,000,000 bytes.

    Raises
    ------
    UsageError
        If the text is no size, or not a whole number of bytes.

    Examples
    --------
    >>> parse_bytes("64MiB"), parse_bytes("64MB")
    (67108864, 64000000)
    """
    match = _BYTE_PATTERN.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a size", "sizes look like 4096, 64KiB, 2MiB or 1GiB (1GB is 10^9 bytes)")
    number, prefix, suffix = match.groups(default="")
    base = 1000 if suffix.upper() == "B" else 1024
    size = Fraction(number) * Fraction(base) ** " KMGT".index(prefix.upper() or " ")
    if size.denominator != 1:
        raise UsageError(f"{text!r} is not a whole number of bytes")
    return size.numerator


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
    """Write a size for reading, to three digits, in the binary unit that suits it; in MB or GB what is a whole number.

    Examples
    --------
    >>> approximate_bytes(25_200_000_000), approximate_bytes(1_060_000_000)
    ('23.5 GiB', '1,011 MiB')
    >>> approximate_bytes(4_000_000_000), approximate_bytes(2_000_000)
    ('4 GB', '2 MB')
    """
    for name, factor in (("GB", 10**9), ("MB", 10**6)):
        if factor <= size_bytes < 1000 * factor and size_bytes % factor == 0:
            return f"{size_bytes / factor:.0f} {name}"
    for name, factor in _BYTE_UNITS:
        if size_bytes >= factor:
            size = size_bytes / factor
            return f"{size:,.0f} {name}" if size >= 999.5 else f"{size:.3g} {name}"
    return f"{size_bytes:.0f} B"


#: Seconds in each unit of time that people write; of those that end alike the longer name comes first.
_SECONDS_IN = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SECOND = "s"


def parse_seconds(text: str) -> float:
    """Read a time such as ``200us``, ``5ms``, ``2m`` or ``0``; without a unit in seconds.

    Raises
    ------
    UsageError
        If it is none, or below 0.

    Examples
    --------
    >>> parse_seconds("5ms"), parse_seconds("2m"), parse_seconds("3")
    (0.005, 120.0, 3.0)
    """
    stripped = text.strip()
    unit = next((unit for unit in _SECONDS_IN if stripped.endswith(unit)), _SECOND)
    try:
        seconds = float(stripped.removesuffix(unit)) * _SECONDS_IN[unit]
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise UsageError(f"{text!r} is not a time", "times look like 10, 500ms, 10s or 2m; us and ns are units too")
    return seconds


def exact_duration(ns: float) -> str:
    """Write a time as `parse_seconds` reads it, in the largest unit up to seconds in which it is not below 1.

    Examples
    --------
    >>> exact_duration(5e6), exact_duration(1500.0), exact_duration(0.0)
    ('5ms', '1.5us', '0ns')
    """
    units = ((unit, 1e9 * _SECONDS_IN[unit]) for unit in ("s", "ms", "us", "ns"))
    unit, size = next(((unit, size) for unit, size in units if ns >= size), ("ns", 1.0))
    return f"{ns / size:.10g}{unit}"


def bytes_unit(sizes_bytes: Iterable[float | None]) -> str:
    """Choose the one unit in which sizes that stand together are written: that of the largest.

    Examples
    --------
    >>> bytes_unit([4096, 91_750.4]), bytes_unit([1e9, None]), bytes_unit([12.0, -700.0])
    ('KiB', 'MiB', 'B')
    """
    largest = max((abs(size) for size in sizes_bytes if size is not None), default=0.0)
    return next((name for name, factor in _BYTE_UNITS if largest >= factor), "B")


def bytes_in(unit: str) -> int:
    """How many bytes one of a unit is.

    Examples
    --------
    >>> bytes_in("KiB"), bytes_in("B")
    (1024, 1)
    """
    return dict(_BYTE_UNITS).get(unit, 1)


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


def ns_in(unit: str) -> float:
    """How many nanoseconds a unit of time has, as `table_unit` names it.

    Examples
    --------
    >>> ns_in("ns"), ns_in("ms")
    (1.0, 1000000.0)
    """
    return 10.0 ** _TABLE_UNITS[unit]


_DURATION_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
# Units that people read otherwise, and how many of the measured one theirs has.
_SHOWN_AS = {"bytes/s": ("MB/s", 1e6), "count": ("", 1.0)}
_MOST_DIGITS, _MOST_INTERVAL_DIGITS = 3, 4
_MOST_RATIO_DIGITS = 4


def _interval_decimals(value: float, low: float | None, high: float | None, most_digits: int | None = None) -> int:
    """How many decimals an interval supports: down to the leading digit of the way to its nearer end.

    The nearer end, since intervals of durations are lopsided: 24 (16 to 2900) is no 0. One digit at least, and never
    more significant ones of ``value`` than ``most_digits``: by default four, or three where no interval has a width.
    All are in the unit to print, None where there is no interval. Negative where even whole units are not supported, as
    `round` takes it.

    Examples
    --------
    >>> _interval_decimals(3.1234, 2.9, 3.3), _interval_decimals(512, 200, 900)
    (1, -2)
    """
    has_width = low is not None and high is not None and high > low
    most_digits = most_digits or (_MOST_INTERVAL_DIGITS if has_width else _MOST_DIGITS)
    magnitude = abs(value) or max(abs(low or 0.0), abs(high or 0.0))
    if magnitude == 0:
        return 0
    # Rounded first: 0.99996 is printed as 1.00 and so has its leading digit before the point.
    leading = -math.floor(math.log10(float(f"{magnitude:.{most_digits - 1}e}")))
    decimals = leading + most_digits - 1
    if low is not None and high is not None and has_width:
        near = min((end for end in (value - low, high - value) if end > 0), default=high - low)
        decimals = min(decimals, max(leading, -math.floor(math.log10(near))))
    return decimals


def format_grouped(value: float) -> str:
    """Write a number with three digits, and thousands apart.

    Examples
    --------
    >>> format_grouped(20_480.0), format_grouped(0.04567)
    ('20,500', '0.0457')
    """
    return f"{float(f'{value:.3g}'):,.10g}"


def format_number(value: float, low: float | None = None, high: float | None = None) -> str:
    """Write a number with no more digits than its interval supports, three at most.

    Examples
    --------
    >>> format_number(53.1277, 51.0, 56.2), format_number(1536.2), format_number(0.04567)
    ('53', '1540', '0.0457')
    """
    return _rounded(value, _interval_decimals(value, low, high, _MOST_DIGITS))


def _rounded(value: float, decimals: int, group: str = "") -> str:
    # Adding nothing turns -0.0 into 0.0.
    return f"{round(value, decimals) + 0.0:{group}.{max(decimals, 0)}f}"


def _duration_unit(nanoseconds: float) -> tuple[float, str]:
    # Rounded first, so that 999.96 us becomes 1.00 ms and not 1000 us.
    size = float(f"{abs(nanoseconds):.2e}")
    return next((unit for unit in _DURATION_UNITS if size >= unit[0]), _DURATION_UNITS[-1])


def brief_duration(nanoseconds: float) -> str:
    """Write a duration to two digits, as a sentence that is read in passing needs it.

    Examples
    --------
    >>> brief_duration(12_345_678), brief_duration(440_700), brief_duration(9.96e8), brief_duration(3.2)
    ('12 ms', '440 µs', '1 s', '3.2 ns')
    """
    size, name = _duration_unit(float(f"{nanoseconds:.1e}"))
    return f"{float(f'{nanoseconds:.1e}') / size:,.10g} {name}"


def shown_unit(value: float, unit: str) -> str:
    """The unit in which a single value of ``unit`` is read; empty for counts.

    Examples
    --------
    >>> shown_unit(61_234, "ns"), shown_unit(4096, "bytes"), shown_unit(3, "count")
    ('µs', 'KiB', '')
    """
    if unit == "ns":
        return _duration_unit(value)[1]
    return bytes_unit([value]) if unit == "bytes" else _SHOWN_AS.get(unit, (unit, 1.0))[0]


class Figures(NamedTuple):
    """A value and the ends of its interval, all to one digit and in one unit; ends are empty where there are none."""

    value: str
    low: str = ""
    high: str = ""
    unit: str = ""

    @property
    def interval(self) -> str:
        """The interval as a table shows it; what stands for the low end alone, as a dash, as it is."""
        return f"{self.low} – {self.high}" if self.high else self.low

    @property
    def short(self) -> str:
        """The value with its unit."""
        return f"{self.value} {self.unit}".rstrip()

    @property
    def text(self) -> str:
        """The same with its interval, if that has a width.

        Examples
        --------
        >>> figures(91_750.4, 91_000.0, 92_500.0, "bytes").text, figures(4096.0, 4096.0, 4096.0, "bytes").text
        ('89.6 (88.9 to 90.3) KiB', '4 KiB')
        """
        if self.low == self.high:
            return self.short
        return f"{self.value} ({self.low} to {self.high}) {self.unit}".rstrip()


def figures(
    value: float,
    low: float | None = None,
    high: float | None = None,
    unit: str = "ns",
    *,
    shown: str | None = None,
    resolution: float = 0.0,
) -> Figures:
    """Write a value with its interval: the one rule of digits, for tables, sentences and exports.

    Down to the digit that the interval supports (see `_interval_decimals`), with four digits at most, three where there
    is no interval. ``unit`` is what was measured in, ``shown`` what is written, by default what suits the value. A
    value smaller than the resolution is written as ``< x``; a whole number that did not vary keeps all its digits. An
    end that is not 0 is not rounded to it: nothing here is free.

    Examples
    --------
    >>> figures(395_000, 380_000, 430_000, shown="µs"), figures(395_000, 380_000, 430_000).short
    (Figures(value='400', low='380', high='430', unit='µs'), '400 µs')
    >>> figures(21e6, 4.3e6, 34e6).text
    '20 (4 to 30) ms'
    >>> figures(0.3, resolution=10).short, figures(65_530.0, 65_530.0, 65_530.0, "count").short
    ('< 10 ns', '65,530')
    """
    is_small = abs(value) < resolution
    name = shown_unit(resolution if is_small else value, unit) if shown is None else shown
    factor = ns_in(name) if unit == "ns" else bytes_in(name) if unit == "bytes" else _SHOWN_AS.get(unit, ("", 1.0))[1]
    if is_small:
        return Figures(f"< {resolution / factor:.3g}", "", "", name)
    start, end = (None if number is None else number / factor for number in (low, high))
    decimals = _interval_decimals(value / factor, start, end)
    if unit != "ns" and low == high == value and value % factor == 0:
        decimals = 0
    most = max(decimals, _interval_decimals(value / factor, None, None, _MOST_INTERVAL_DIGITS))
    low_text, high_text = ("" if number is None else _end(number, decimals, most, (0,)) for number in (start, end))
    return Figures(_rounded(value / factor, decimals, ","), low_text, high_text, name)


def supported_decimals(value_ns: float, low_ns: float | None, high_ns: float | None, unit: str) -> int:
    """Decimals that an interval supports in ``unit``, for columns that have one of them: never finer than 0.1 ns.

    Negative where whole units are too fine, as `round` takes it.

    Examples
    --------
    >>> supported_decimals(61_234, 60_800, 61_700, "µs"), supported_decimals(15_012_345, 14_600_000, 15_400_000, "µs")
    (1, -2)
    """
    factor = ns_in(unit)
    low, high = (None if end is None else end / factor for end in (low_ns, high_ns))
    return min(_interval_decimals(value_ns / factor, low, high), 1 + _TABLE_UNITS[unit])


def format_figure(time_ns: float, decimals: int, unit: str) -> str:
    """Write a duration as a bare number in ``unit`` with ``decimals`` (see `supported_decimals`).

    Examples
    --------
    >>> format_figure(61_234, 1, "µs"), format_figure(15_012_345, -2, "µs")
    ('61.2', '15,000')
    """
    return _rounded(time_ns / ns_in(unit), decimals, ",")


def format_duration(
    value_ns: float, low_ns: float | None = None, high_ns: float | None = None, resolution_ns: float = 0.0
) -> str:
    """Write a duration, as `figures` does, in the unit that suits it; negative ones are differences.

    Examples
    --------
    >>> format_duration(56_312, 55_900, 56_800), format_duration(1_270_400), format_duration(0.3, resolution_ns=1)
    ('56.3 µs', '1.27 ms', '< 1 ns')
    """
    return figures(value_ns, low_ns, high_ns, resolution=resolution_ns).short


def format_duration_interval(value_ns: float, low_ns: float, high_ns: float, resolution_ns: float = 0.0) -> str:
    """Write a duration with its interval, all in one unit and to the same digit; one without width is left out.

    Examples
    --------
    >>> format_duration_interval(56_312, 55_870, 56_840), format_duration_interval(56_312, 56_312, 56_312)
    ('56.3 (55.9 to 56.8) µs', '56.3 µs')
    """
    return figures(value_ns, low_ns, high_ns, resolution=resolution_ns).text


def format_ratio(value: float, low: float | None = None, high: float | None = None) -> str:
    """Write a ratio with its interval, if it has one, with no more digits than that supports.

    An end that is not 1 is never rounded to 1 where a fourth digit tells them apart, because whether the
    interval contains 1 is what a reader looks for; nor is one rounded to 0. It alone gets that digit.

    Examples
    --------
    >>> format_ratio(3.0912, 2.913, 3.298), format_ratio(1.0312, 1.004, 1.054), format_ratio(2.5, 2.5, 2.5)
    ('3.1 (2.9 to 3.3)', '1.03 (1.004 to 1.05)', '2.50')
    >>> format_ratio(2512.0, 1500.0, 2700.0)
    '2,500 (1,500 to 2,700)'
    """
    if low is None or high is None or math.isclose(low, high, rel_tol=1e-9):
        return _rounded(value, _interval_decimals(value, low, high, _MOST_DIGITS), ",")
    middle, left, right = ratio_figures(value, low, high)
    return f"{middle} ({left} to {right})"


def ratio_figures(value: float, low: float, high: float) -> tuple[str, str, str]:
    """Write a ratio and the ends of its interval, each as `format_ratio` does.

    Examples
    --------
    >>> ratio_figures(1.0312, 1.004, 1.054), ratio_figures(0.9848, 0.927, 0.9997)
    (('1.03', '1.004', '1.05'), ('0.98', '0.93', '0.9997'))
    """
    decimals = _interval_decimals(value, low, high, _MOST_DIGITS)
    most = _interval_decimals(value, None, None, _MOST_RATIO_DIGITS)
    left, right = (_end(end, decimals, most, (0, 1)) for end in (low, high))
    return _rounded(value, decimals, ","), left, right


def _end(end: float, decimals: int, most: int, telling: tuple[int, ...]) -> str:
    """Write the end of an interval so that it is not rounded to a ``telling`` number that it is not."""
    while decimals < most and round(end, decimals) in telling and end not in telling:
        decimals += 1
    return _rounded(end, decimals, ",")


def format_share(share: float) -> str:
    """Write a share as a percentage, to two digits and no finer than a tenth.

    Examples
    --------
    >>> format_share(0.02), format_share(0.0134), format_share(0.256), format_share(1.5)
    ('2%', '1.3%', '26%', '150%')
    """
    percent = share * 100
    return f"{percent:.0f}%" if percent >= 9.95 else f"{percent:.1f}".removesuffix(".0") + "%"


def parse_share(text: str) -> float:
    """Read a share such as ``5%``, ``2.5 %`` or ``0.05``.

    Raises
    ------
    UsageError
        If the text is no share, or not above 0.

    Examples
    --------
    >>> parse_share("5%"), parse_share("0.05")
    (0.05, 0.05)
    """
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a share", "shares look like 5% or 0.05")
    share = float(match[1]) / (100 if match[2] else 1)
    if not 0 < share < math.inf:
        raise UsageError(f"a share of {text!r} is not greater than 0", "shares look like 5% or 0.05")
    if share >= 1 and not match[2]:
        raise UsageError(f"a share of {text} would be {text}00%", f"write {text}% if you mean that")
    return share
