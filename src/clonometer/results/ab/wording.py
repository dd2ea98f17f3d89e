"""A verdict of two sides in one sentence that anybody can check."""

from __future__ import annotations

import math
from typing import Any

from clonometer.results.change import Change
from clonometer.run_document import SwitchedSetting
from clonometer.units import format_ratio, ratio_figures
from clonometer.verdicts import Direction, Word
from clonometer.words import setting_name

#: Why a row has no interval although its pairs are enough.
DRIFT = (
    "the change drifts during the run, so it has no 95% interval; repeat it for longer (--budget) or on a quieter "
    "machine"
)
#: Why a row has no verdict although its interval leaves out 1.
ONE_ORDER = "pairs that A began and pairs that B began do not each show it: more pairs may decide"
# From here on people say how many times as long, and not by how much.
_MANY_TIMES = 2.0
# An interval of so many percentage points needs no decimals.
_WIDE = 1.5


def change_text(ratio: float, ends: tuple[float, float] | None) -> str:
    """Say a change upwards as a percentage or as a multiple, with its interval; a ratio below 1 is turned around.

    Examples
    --------
    >>> change_text(1.06, (1.04, 1.08)), change_text(2.4, (2.31, 2.48)), change_text(0.5, (0.4, 0.6))
    ('by 6% (4 to 8)', '2.40 times (2.31 to 2.48)', '2.0 times (1.7 to 2.5)')
    >>> change_text(0.94, (0.92, 0.96))
    'by 6% (4 to 8)'
    """
    if not 1 / _MANY_TIMES < ratio < _MANY_TIMES:
        turned = ratio if ratio > 1 else 1 / ratio
        if ends is None:
            return f"{format_ratio(turned)} times"
        low, high = ends if ratio > 1 else (1 / ends[1], 1 / ends[0])
        value, first, last = ratio_figures(turned, low, high)
        return f"{value} times ({first} to {last})"
    sign = 1 if ratio > 1 else -1
    shares = [sign * (value - 1) for value in (ratio, *(ends or ()))]
    value, *others = percentages(*shares)
    return f"by {value}%" + (f" ({min(others, key=float)} to {max(others, key=float)})" if others else "")


def percentages(*shares: float) -> list[str]:
    """Write shares as percentages without the sign %, with as many decimals as the distance of the others supports.

    Examples
    --------
    >>> percentages(0.0612, 0.041, 0.083), percentages(0.0612, 0.0605, 0.0621), percentages(-0.001, -0.04, 0.04)
    (['6', '4', '8'], ['6.1', '6.0', '6.2'], ['0', '-4', '4'])
    >>> percentages(0.012, 0.003, 0.021)
    ['1', '0.3', '2']
    """
    width = 100 * (max(shares) - min(shares))
    decimals = 0 if width == 0 else min(2, max(0, math.ceil(-math.log10(width / _WIDE))))
    texts = [f"{100 * shares[0]:.{decimals}f}", *(_end_text(100 * share, decimals) for share in shares[1:])]
    return ["0" if text.strip("-0.") == "" else text for text in texts]


def _end_text(percent: float, decimals: int) -> str:
    """An end that is not zero is not shown as zero, and alone gets another digit for that: it decides."""
    while decimals < 2 and percent and not round(percent, decimals):
        decimals += 1
    return f"{percent:.{decimals}f}"


def verdict_text(change: Change[Any], b_slower: int, *, is_time: bool = True, drifts: bool = False) -> str:
    """Say the verdict of pairs; ``drifts``: more pairs alone would give no interval.

    Examples
    --------
    >>> from dataclasses import replace
    >>> pairs = Change(base="A", other="B", value=1.06, low=1.04, high=1.08, direction=Direction.MORE, n=30)
    >>> verdict_text(pairs, 27)
    'B was slower in 27 of 30 pairs, by 6% (4 to 8)'
    >>> verdict_text(replace(pairs, value=0.5, low=0.4, high=0.6, direction=Direction.LESS), 3)
    'B was faster in 27 of 30 pairs, 2.0 times (1.7 to 2.5)'
    >>> verdict_text(replace(pairs, value=1.001, low=0.992, high=1.0095, direction=Direction.EQUAL), 14)
    'the same within 1%: B was slower in 14 of 30 pairs'
    >>> verdict_text(replace(pairs, low=None, high=None, direction=Direction.UNKNOWN), 18)
    'open, B was slower in 18 of 30 pairs; more pairs are needed for an interval'
    >>> verdict_text(replace(pairs, direction=Direction.UNKNOWN, word=Word.LIKELY), 27)
    'B was likely slower in 27 of 30 pairs, by 6% (4 to 8)'
    """
    ratio, ends, pairs, verdict = change.value, change.interval, change.n, change.direction
    slower, faster = (direction.word(is_time=is_time) for direction in (Direction.MORE, Direction.LESS))
    in_pairs = f"B was {slower} in {b_slower} of {pairs} pairs"
    if ratio is None:
        return "open, no pair finished on both sides"
    if verdict.is_change or change.word == Word.LIKELY:
        likely = "" if verdict.is_change else "likely "
        word, times = (slower, b_slower) if change.rises else (faster, pairs - b_slower)
        return f"B was {likely}{word} in {times} of {pairs} pairs, {change_text(ratio, ends)}"
    if ends is None:
        return f"open, {in_pairs}{'' if drifts else '; more pairs are needed for an interval'}"
    if verdict == Direction.EQUAL:
        farthest = max(ends[1] - 1, 1 / ends[0] - 1)
        return f"the same within {math.ceil(farthest * 1000 - 1e-9) / 10:g}%: {in_pairs}"
    _, low, high = percentages(ratio - 1, ends[0] - 1, ends[1] - 1)
    return f"open, {in_pairs}; the change is between {low}% and {high}%"


def order_text(first_a: float, first_b: float) -> str:
    """Say that it matters which side of a pair comes first, by the ratio of B to A in either order.

    Examples
    --------
    >>> order_text(1.001, 0.97)
    'the order matters: the change is 0% when A comes first and -3% when B does; one side disturbs the next process'
    """
    shares = [
        f"{round(100 * (ratio - 1)):+d}%".replace("+0%", "0%").replace("-0%", "0%") for ratio in (first_a, first_b)
    ]
    return (
        f"the order matters: the change is {shares[0]} when A comes first and {shares[1]} when B does; one side "
        f"disturbs the next process"
    )


def medians_text(ratio: float) -> str:
    """Say what the ratio of the medians is where the interval of the pairs does not hold it.

    Examples
    --------
    >>> medians_text(1.019)
    "B's median is 1.02 times A's: pairs and medians differ where only some processes do"
    """
    return f"B's median is {format_ratio(ratio)} times A's: pairs and medians differ where only some processes do"


def switched_text(setting: SwitchedSetting) -> str:
    """Say what a setting was, became, and was again.

    Examples
    --------
    >>> thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    >>> switched_text(SwitchedSetting("b", thp, "madvise", "always", "madvise", 30, None))
    'transparent_hugepage/enabled: madvise -> always; madvise again after undo (30 times)'
    >>> switched_text(SwitchedSetting("b", "", None, None, None, 3, "it names no file"))
    'not verified: it names no file'
    """
    name = setting_name(setting.name)
    if setting.not_verified is not None:
        return f"not verified: {f'{name}: ' if name else ''}{setting.not_verified}"
    if setting.during is None:
        return f"{name}: it was never changed"
    times = "once" if setting.times == 1 else f"{setting.times} times"
    again = "not read after undo"
    if setting.after is not None:
        put_back = setting.after == setting.before
        again = f"{setting.after} again after undo" if put_back else f"{setting.after} after undo"
    return f"{name}: {setting.before} -> {setting.during}; {again} ({times})"
