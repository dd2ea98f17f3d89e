"""What the ledger says of a claim, and the parts that it is made of (docs/studies.md has the rules)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.interval import Interval
from clonometer.stats.multiplicity import simes_p
from clonometer.stats.quantiles import binomial_cdf
from clonometer.stats.verdict import ALONE, Levels
from clonometer.studies.thresholds import TENTH
from clonometer.studies.types import FEW, Verdict
from clonometer.units import format_ratio, format_share
from clonometer.verdicts import Status, Word


class Bars(NamedTuple):
    """The levels at which it is sure, or likely, that a claim is so, and that it is not.

    The two are corrected apart: that many claims are surely not so makes it no likelier that one is.
    """

    yes: Levels = ALONE
    no: Levels = ALONE


#: Those of a claim that is asked first.
FIRST = Bars()


@dataclass(frozen=True)
class JudgedPart:
    """One number under one condition, and the threshold that a claim sets it.

    ``expected`` is ``above``: ``threshold`` or more; ``below``: ``threshold`` or less; or ``alike``: between it and its
    inverse. ``met`` and ``missed`` are the p-values of its being so, and of its not being so, by the rule of
    `clonometer.stats.verdict`. ``least`` is how far the number is from 1 at least, None where that is not sure;
    ``write`` writes a value and the ends of its interval.
    """

    label: str
    value: Interval
    expected: str
    threshold: float
    cells: tuple[str, ...]
    met: float
    missed: float
    bars: Bars = FIRST
    least: float | None = None
    write: Callable[[float, float, float], str] = format_ratio

    @property
    def outcome(self) -> Status:
        """Whether it is surely so, or surely not so; else unknown."""
        return Chances(self.met, self.missed).status(self.bars.yes.sure, self.bars.no.sure)

    @property
    def margin(self) -> float:
        """How far the nearer end of the interval lies from missing the threshold; below zero where it misses it."""
        low, high = self.value.low, self.value.high
        if self.expected == "above":
            return low / self.threshold - 1
        return min(1 - high / self.threshold, low * self.threshold - 1 if self.expected == "alike" else 1)

    @property
    def text(self) -> str:
        """The label with the value; of fewer than 6 processes there is none."""
        if self.value.n >= FEWEST_PROCESSES:
            return f"{self.label} {self.write(*self.value.ends)}"
        return f"{self.label} – ({_effect_is(self, '')})"


def judged_share(label: str, share: Interval, expected: str, cells: tuple[str, ...], bars: Bars = FIRST) -> JudgedPart:
    """A share that a claim expects to be ``below`` `TENTH`, or ``above`` all but that: by the exact binomial test."""
    threshold = TENTH.share if expected == "below" else 1 - TENTH.share
    n, total = share.n, share.value * share.n
    chances = binomial_cdf(n, threshold)
    # Rounded to the side that is harder to tell, to a millionth, since the sum of thirds is no whole number.
    fewer = 2 * float(chances[min(n, math.ceil(total - 1e-6))])
    least = math.floor(total + 1e-6)
    more = 2 * (1 - float(chances[least - 1])) if least > 0 else 1.0
    met, missed = (fewer, more) if expected == "below" else (more, fewer)
    return JudgedPart(label, share, expected, threshold, cells, met, missed, bars, write=_share_text)


def _share_text(value: float, low: float, high: float) -> str:
    return f"{format_share(value)} ({format_share(low)} to {format_share(high)})"


class Chances(NamedTuple):
    """The p-values of a claim's being so, of its not being so, and of its being so under some conditions at least."""

    holds: float
    fails: float
    somewhere: float = 1.0

    def status(self, yes: float, no: float) -> Status:
        """What is said at such levels; of what is neither so nor not so that nobody can tell."""
        if self.holds <= yes:
            return Status.HOLDS
        if self.fails <= no:
            return Status.DEPENDS if self.somewhere <= yes else Status.FAILS
        return Status.UNKNOWN


Rule = Callable[[Sequence[JudgedPart]], Chances]


def over_conditions(parts: Sequence[JudgedPart]) -> Chances:
    """A claim that is made of all conditions it is tested under: it depends where they disagree.

    It holds where each part is a yes (an intersection-union test [1]_: that no condition was chosen needs no
    correction). One part that is a no among all of them is enough against it [2]_.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982) 295-300.
    .. [2] R. J. Simes, "An improved Bonferroni procedure for multiple tests of significance", Biometrika 73 (1986)
           751-754.
    """
    return over_demands(parts)._replace(somewhere=simes_p([part.met for part in parts]))


def over_demands(parts: Sequence[JudgedPart]) -> Chances:
    """A claim that makes several demands, all of which must be met."""
    return Chances(max(part.met for part in parts), simes_p([part.missed for part in parts]))


def over_some(parts: Sequence[JudgedPart]) -> Chances:
    """A claim that something can be so: one part that is so among all is enough."""
    return Chances(simes_p([part.met for part in parts]), max(part.missed for part in parts))


def verdict(rule: Rule, parts: Sequence[JudgedPart], words: str, effect_is: str) -> Verdict:
    """Judge parts by a rule: the part that decided gives the effect, all of them the evidence."""
    bars = parts[0].bars
    outcome = rule(parts)
    lead = _lead(outcome.status(bars.yes.sure, bars.no.sure), parts)
    is_number = lead.value.n >= FEWEST_PROCESSES
    draft = Verdict(
        Status.UNKNOWN,
        f"{words}{tally(parts)}: {'; '.join(part.text for part in parts)}.",
        lead.value.value if is_number else None,
        (lead.value.low, lead.value.high) if is_number else None,
        _effect_is(lead, effect_is if len(parts) == 1 else f"{effect_is}, {lead.label}"),
        tuple(dict.fromkeys(cell for part in parts for cell in part.cells)),
        at_least=lead.least if is_number else None,
    )
    return ruled(draft, outcome, bars)


def _effect_is(part: JudgedPart, words: str) -> str:
    n = part.value.n
    return words if n >= FEWEST_PROCESSES else f"{FEW}{n} process{'' if n == 1 else 'es'}"


def ruled(draft: Verdict, outcome: Chances, bars: Bars) -> Verdict:
    """Say what p-values mean at the levels of an answer, beside what is said already."""
    status, likely = (outcome.status(yes, no) for yes, no in zip(*bars, strict=True))
    word = Word.SURE if status != Status.UNKNOWN else Word.LIKELY if likely != Status.UNKNOWN else Word.OPEN
    return replace(
        draft,
        status=status,
        word=word,
        likely=likely if word == Word.LIKELY else None,
        at_least=draft.at_least if word == Word.SURE else None,
        p=(min(outcome.holds, outcome.somewhere), outcome.fails),
    )


def _lead(status: Status, parts: Sequence[JudgedPart]) -> JudgedPart:
    """The part whose number stands for all: of those that decided the one that came nearest to not deciding.

    A claim that holds is told by what it says first: that fork grows, rather than that threads do not.
    """
    wanted = Status.FAILS if status == Status.DEPENDS else status
    chosen = [part for part in parts if part.outcome == wanted] or parts
    if status != Status.HOLDS:
        return chosen[0]
    first = [part for part in chosen if part.expected == chosen[0].expected]
    return min(first, key=lambda part: part.margin)


def tally(parts: Sequence[JudgedPart]) -> str:
    """Say how many of several parts say yes and how many no, where they do not all say the same."""
    outcomes = [part.outcome for part in parts]
    yes, no = outcomes.count(Status.HOLDS), outcomes.count(Status.FAILS)
    if len(parts) == 1 or len(parts) in (yes, no):
        return ""
    return f" (yes in {yes} of {len(parts)}, certainly no in {no})" if yes or no else f" (open in all {len(parts)})"
