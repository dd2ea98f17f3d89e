"""What the ledger says of a claim, and the parts that it is made of (docs/studies.md has the rules)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.multiplicity import simultaneous
from clonometer.studies.types import (
    DEPENDS,
    DOES_NOT_HOLD,
    HOLDS,
    NOT_DISTINGUISHABLE,
    NOT_MEASURABLE,
    Pair,
    Verdict,
)
from clonometer.units import format_ratio, format_share

#: Below this share no effect counts.
LEAST = 0.05


@dataclass(frozen=True)
class JudgedPart:
    """One number under one condition, and the threshold that a claim sets it.

    ``expected`` is ``above``: ``threshold`` or more; ``below``: ``threshold`` or less; or ``alike``: between it and its
    inverse. ``write`` writes a value and the ends of its interval.
    """

    label: str
    value: Interval
    expected: str
    threshold: float
    cells: tuple[str, ...]
    write: Callable[[float, float, float], str] = format_ratio

    def outcome(self, among: int = 1) -> str:
        """``yes`` where the whole interval meets the threshold, ``no`` where all of it misses it, else ``unclear``.

        ``among`` so many parts one is enough to decide: the interval is then as wide as it must be for all of them.
        """
        if self.value.n < FEWEST_PROCESSES:
            return "unclear"
        interval = simultaneous(self.value, among)
        low, high, threshold = interval.low, interval.high, self.threshold
        if self.expected == "above":
            met, missed = low >= threshold, high < threshold
        elif self.expected == "below":
            met, missed = high <= threshold, low > threshold
        else:
            met = 1 / threshold <= low and high <= threshold
            missed = low > threshold or high < 1 / threshold
        return "yes" if met else "no" if missed else "unclear"

    @property
    def text(self) -> str:
        """The label with the value."""
        noun = "process" if self.value.n == 1 else "processes"
        few = f", from only {self.value.n} {noun}" if self.value.n < FEWEST_PROCESSES else ""
        return f"{self.label} {self.write(*self.value.ends)}{few}"


def judged_ratio(label: str, ratio: Interval, expected: str, least: float, cells: tuple[str, ...]) -> JudgedPart:
    """A ratio that a claim expects to differ from 1 by a least effect, or to be alike within it.

    ``least`` is the effect as a share: 0.05 is 5%, more or less; for ``alike`` the most that still is.
    """
    threshold = 1 / (1 + least) if expected == "below" else 1 + least
    return JudgedPart(label, ratio, expected, threshold, cells)


def judged_share(label: str, share: Interval, most: float, cells: tuple[str, ...]) -> JudgedPart:
    """A share that a claim expects to be small."""
    return JudgedPart(label, share, "below", most, cells, _share_text)


def sign_of(pair: Pair, among: int = 1) -> int:
    """Which side of a pair takes longer, by the least effect: 1 the first, -1 the second, 0 where nobody can tell."""
    ratio = Interval(*pair.ends, CONFIDENCE, "", pair.n)
    longer = {"above": 1, "below": -1}
    return sum(
        sign
        for expected, sign in longer.items()
        if judged_ratio("", ratio, expected, LEAST, ()).outcome(among) == "yes"
    )


def _share_text(value: float, low: float, high: float) -> str:
    return f"{format_share(value)} ({format_share(low)} to {format_share(high)})"


Rule = Callable[[Sequence[JudgedPart]], str]


def certain(*, met: bool, missed: bool) -> str:
    """Status of what is certainly so, or certainly not; of both or neither that nobody can tell."""
    return HOLDS if met else DOES_NOT_HOLD if missed else NOT_DISTINGUISHABLE


def _outcomes(parts: Sequence[JudgedPart]) -> tuple[set[str], set[str]]:
    """What each part is by itself, which counts where all must agree; and what it is among all, where one decides."""
    return {part.outcome() for part in parts}, {part.outcome(len(parts)) for part in parts}


def over_conditions(parts: Sequence[JudgedPart]) -> str:
    """Status of a claim that is tested under several conditions: `DEPENDS` where they disagree.

    Examples
    --------
    >>> over_conditions([])
    'not_measurable'
    """
    alone, among = _outcomes(parts)
    if not alone:
        return NOT_MEASURABLE
    if {"yes", "no"} <= among:
        return DEPENDS
    return certain(met=alone == {"yes"} or "yes" in among, missed=alone == {"no"} or "no" in among)


def over_some(parts: Sequence[JudgedPart]) -> str:
    """Status of a claim that something can be so: one part that is so is enough."""
    alone, among = _outcomes(parts)
    return certain(met="yes" in among, missed=alone == {"no"}) if alone else NOT_MEASURABLE


def over_demands(parts: Sequence[JudgedPart]) -> str:
    """Status of a claim that makes several demands, all of which must be met."""
    alone, among = _outcomes(parts)
    return certain(met=alone == {"yes"}, missed="no" in among) if alone else NOT_MEASURABLE


def verdict(rule: Rule, parts: Sequence[JudgedPart], words: str, effect_is: str) -> Verdict:
    """Judge parts by a rule: the first part that decided gives the effect, all of them the reason."""
    status = rule(parts)
    wanted = {HOLDS: "yes", DEPENDS: "yes", DOES_NOT_HOLD: "no"}.get(status, "unclear")
    # One that decides by itself alone may do so only among others that all agree.
    deciding = [part for part in parts if part.outcome(len(parts)) == wanted]
    lead = next(iter(deciding or [part for part in parts if part.outcome() == wanted] or parts))
    cells = tuple(dict.fromkeys(cell for part in parts for cell in part.cells))
    outcomes = "; ".join(part.text for part in parts)
    interval = (lead.value.low, lead.value.high)
    reason = f"{words}{_told(rule, status, parts, len(deciding))}: {outcomes}."
    return Verdict(status, reason, lead.value.value, interval, effect_is, cells)


def _told(rule: Rule, status: str, parts: Sequence[JudgedPart], deciding: int) -> str:
    """Say how many of several parts decide, where not all do."""
    if rule is over_demands or len(parts) == 1 or len({part.outcome() for part in parts}) == 1:
        return ""
    if status in (HOLDS, DOES_NOT_HOLD):
        return f" (sure in {deciding} of {len(parts)})"
    return f" (nothing is sure in any of {len(parts)})" if status == NOT_DISTINGUISHABLE else ""
