"""What the ledger says of a claim, and the parts that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.interval import Interval
from clonometer.studies.types import (
    DEPENDS,
    DOES_NOT_HOLD,
    HOLDS,
    NOT_DISTINGUISHABLE,
    NOT_MEASURABLE,
    Verdict,
)
from clonometer.units import format_ratio


@dataclass(frozen=True)
class JudgedRatio:
    """One comparison under one condition, and what the claim expects of it.

    Attributes
    ----------
    label
        The condition, in words.
    ratio
        The measured ratio.
    expected
        ``above``: more than 1; ``below``: less than 1; ``alike``: 1, give or take.
    least
        The least effect that counts, as a share: 0.05 is 5%; for ``alike`` the most that still is.
    cells
        The evidence.
    """

    label: str
    ratio: Interval
    expected: str
    least: float
    cells: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """``yes``, ``no`` or ``unclear``."""
        low, high, value = self.ratio.low, self.ratio.high, self.ratio.value
        few = self.ratio.n < FEWEST_PROCESSES
        most = 1 + self.least
        if self.expected == "alike":
            if not few and 1 / most <= low and high <= most:
                return "yes"
            return "no" if not few and (low > most or high < 1 / most) else "unclear"
        larger = not few and low > 1 and value >= most
        smaller = not few and high < 1 and value <= 1 / most
        if self.expected == "below":
            larger, smaller = smaller, larger
        return "yes" if larger else "no" if smaller else "unclear"

    @property
    def text(self) -> str:
        """The label with the ratio."""
        noun = "process" if self.ratio.n == 1 else "processes"
        few = f", from only {self.ratio.n} {noun}" if self.ratio.n < FEWEST_PROCESSES else ""
        return f"{self.label} {format_ratio(self.ratio.value, self.ratio.low, self.ratio.high)}{few}"


def over_conditions(parts: Sequence[JudgedRatio]) -> str:
    """Status of a claim that is tested under several conditions: `DEPENDS` where they disagree.

    Examples
    --------
    >>> over_conditions([])
    'not_measurable'
    """
    outcomes = {part.outcome for part in parts}
    if not outcomes:
        return NOT_MEASURABLE
    if outcomes == {"yes"}:
        return HOLDS
    if "yes" in outcomes:
        return DEPENDS
    return DOES_NOT_HOLD if "no" in outcomes else NOT_DISTINGUISHABLE


def over_some(parts: Sequence[JudgedRatio]) -> str:
    """Status of a claim that something can be so: one part that is so is enough."""
    outcomes = {part.outcome for part in parts}
    if not outcomes:
        return NOT_MEASURABLE
    if "yes" in outcomes:
        return HOLDS
    return DOES_NOT_HOLD if outcomes == {"no"} else NOT_DISTINGUISHABLE


def over_demands(parts: Sequence[JudgedRatio]) -> str:
    """Status of a claim that makes several demands, all of which must be met."""
    outcomes = {part.outcome for part in parts}
    if not outcomes:
        return NOT_MEASURABLE
    if "no" in outcomes:
        return DOES_NOT_HOLD
    return NOT_DISTINGUISHABLE if "unclear" in outcomes else HOLDS


def verdict(id_: str, status: str, parts: Sequence[JudgedRatio], words: str, effect_is: str) -> Verdict:
    """Make a verdict of parts: the first one that decided gives the effect, all of them the reason."""
    wanted = {HOLDS: "yes", DEPENDS: "yes", DOES_NOT_HOLD: "no", NOT_DISTINGUISHABLE: "unclear"}[status]
    lead = next((part for part in parts if part.outcome == wanted), parts[0])
    cells = tuple(dict.fromkeys(cell for part in parts for cell in part.cells))
    outcomes = "; ".join(part.text for part in parts)
    ratio = lead.ratio
    return Verdict(id_, status, f"{words}: {outcomes}.", ratio.value, (ratio.low, ratio.high), effect_is, cells)
