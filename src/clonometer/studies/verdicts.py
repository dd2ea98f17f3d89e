"""What the ledger says of a claim, and the parts that it is made of (docs/studies.md has the rules)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clonometer.results.change import Change
from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.multiplicity import simultaneous
from clonometer.studies.thresholds import DIFFERS, TENTH, Threshold
from clonometer.studies.types import Pair, Verdict
from clonometer.units import format_ratio, format_share
from clonometer.verdicts import Status


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

    def outcome(self, among: int = 1) -> Status:
        """Holds where the whole interval meets the threshold, fails where all of it misses it, else unknown.

        ``among`` so many parts one is enough to decide: the interval is then as wide as it must be for all of them.
        """
        if self.value.n < FEWEST_PROCESSES:
            return Status.UNKNOWN
        interval = simultaneous(self.value, among)
        low, high, threshold = interval.low, interval.high, self.threshold
        if self.expected == "above":
            met, missed = low >= threshold, high < threshold
        elif self.expected == "below":
            met, missed = high <= threshold, low > threshold
        else:
            met = 1 / threshold <= low and high <= threshold
            missed = low > threshold or high < 1 / threshold
        return Status.HOLDS if met else Status.FAILS if missed else Status.UNKNOWN

    @property
    def margin(self) -> float:
        """How far the nearer end of the interval lies from missing the threshold; below zero where it misses it."""
        low, high = self.value.low, self.value.high
        if self.expected == "above":
            return low / self.threshold - 1
        return min(1 - high / self.threshold, low * self.threshold - 1 if self.expected == "alike" else 1)

    @property
    def text(self) -> str:
        """The label with the value."""
        noun = "process" if self.value.n == 1 else "processes"
        few = f", from only {self.value.n} {noun}" if self.value.n < FEWEST_PROCESSES else ""
        return f"{self.label} {self.write(*self.value.ends)}{few}"


def judged_ratio(label: str, ratio: Interval, expected: str, least: Threshold, cells: tuple[str, ...]) -> JudgedPart:
    """A ratio that a claim expects to differ from 1 by a threshold's share, or to be alike within it."""
    times = 1 + least.share
    return JudgedPart(label, ratio, expected, 1 / times if expected == "below" else times, cells)


def judged_share(label: str, share: Interval, expected: str, cells: tuple[str, ...]) -> JudgedPart:
    """A share that a claim expects to be ``below`` `TENTH`, or ``above`` all but that."""
    threshold = TENTH.share if expected == "below" else 1 - TENTH.share
    return JudgedPart(label, share, expected, threshold, cells, _share_text)


def interval_of(change: Change[str]) -> Interval | None:
    """What is judged of a change; None where it has no interval."""
    if change.value is None or change.interval is None:
        return None
    return Interval(change.value, *change.interval, CONFIDENCE, change.method, change.n)


def sign_of(pair: Pair, among: int = 1) -> int:
    """Which side of a pair takes longer, by the least effect: 1 the first, -1 the second, 0 where nobody can tell."""
    ratio = interval_of(pair.change)
    longer = {"above": 1, "below": -1}
    return sum(
        sign
        for expected, sign in longer.items()
        if ratio is not None and judged_ratio("", ratio, expected, DIFFERS, ()).outcome(among) == Status.HOLDS
    )


def _share_text(value: float, low: float, high: float) -> str:
    return f"{format_share(value)} ({format_share(low)} to {format_share(high)})"


Rule = Callable[[Sequence[JudgedPart]], Status]


def certain(*, met: bool, missed: bool) -> Status:
    """Status of what is certainly so, or certainly not; of both or neither that nobody can tell."""
    return Status.HOLDS if met else Status.FAILS if missed else Status.UNKNOWN


def over_conditions(parts: Sequence[JudgedPart]) -> Status:
    """Status of a claim that is made of all conditions it is tested under: `Status.DEPENDS` where they disagree.

    It holds where each part is a yes alone (an intersection-union test [1]_: that no condition was chosen needs no
    correction). One part that is a no among all of them is enough against it.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982) 295-300.

    Examples
    --------
    >>> over_conditions([])
    <Status.NOT_MEASURABLE: 'not_measurable'>
    """
    among = {part.outcome(len(parts)) for part in parts}
    return Status.DEPENDS if {Status.HOLDS, Status.FAILS} <= among else over_demands(parts)


def over_demands(parts: Sequence[JudgedPart]) -> Status:
    """Status of a claim that makes several demands, all of which must be met."""
    alone = {part.outcome() for part in parts}
    among = {part.outcome(len(parts)) for part in parts}
    return (
        certain(met=alone == {Status.HOLDS}, missed=alone == {Status.FAILS} or Status.FAILS in among)
        if alone
        else Status.NOT_MEASURABLE
    )


def over_some(parts: Sequence[JudgedPart]) -> Status:
    """Status of a claim that something can be so: one part that is so among all is enough."""
    alone = {part.outcome() for part in parts}
    among = {part.outcome(len(parts)) for part in parts}
    return certain(met=Status.HOLDS in among, missed=alone == {Status.FAILS}) if alone else Status.NOT_MEASURABLE


def verdict(rule: Rule, parts: Sequence[JudgedPart], words: str, effect_is: str) -> Verdict:
    """Judge parts by a rule: the part that decided gives the effect, all of them the evidence."""
    status = rule(parts)
    lead = _lead(status, parts)
    cells = tuple(dict.fromkeys(cell for part in parts for cell in part.cells))
    outcomes = "; ".join(part.text for part in parts)
    interval = (lead.value.low, lead.value.high)
    return Verdict(
        status,
        f"{words}{tally(parts)}: {outcomes}.",
        lead.value.value,
        interval,
        effect_is,
        cells,
    )


def _lead(status: Status, parts: Sequence[JudgedPart]) -> JudgedPart:
    """The part whose number stands for all: of those that decided the one that came nearest to not deciding."""
    if status == Status.HOLDS:
        chosen = [part for part in parts if part.outcome() == Status.HOLDS]
        return min(chosen, key=lambda part: part.margin)
    wanted = Status.FAILS if status in (Status.DEPENDS, Status.FAILS) else Status.UNKNOWN
    chosen = [part for part in parts if part.outcome(len(parts)) == wanted]
    return next(iter(chosen or [part for part in parts if part.outcome() == wanted] or parts))


def tally(parts: Sequence[JudgedPart]) -> str:
    """Say how many of several parts say yes and how many no, where they do not all say the same."""
    alone = [part.outcome() for part in parts]
    among = [part.outcome(len(parts)) for part in parts]
    if len(set(alone)) == 1:
        return "" if len(parts) == 1 or alone[0] != Status.UNKNOWN else f" (cannot tell in all {len(parts)})"
    return f" (yes in {alone.count(Status.HOLDS)} of {len(parts)}, certainly no in {among.count(Status.FAILS)})"
