"""The one rule by which a difference is stated, for every answer that compares.

A difference is stated if, after one correction for all comparisons of the answer, the processes' ranks differ and the
logarithm of the ratio is far from 0 by its error. The error is the root of what the interval says, and of what more
processes do not make smaller, each squared: layout, and what a typical row wandered by itself, or between two runs.
Half of the chance of being wrong is the first question's. docs/methods.md has the rule and its simulations.

References
----------
.. [1] C. R. Genovese, K. Roeder, L. Wasserman, "False discovery control with p-value weighting", Biometrika 93 (2006)
       509-524: what was asked first weighs more, and the weights have a mean of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clonometer.stats.changes import LogChange
from clonometer.stats.multiplicity import false_discovery_level
from clonometer.stats.rank_sum import least_p
from clonometer.verdicts import Direction, Word

#: Of all differences that an answer calls sure, so many are wrong at most, on average; where nothing differs it is the
#: chance that any is.
ERROR_RATE = 0.05
#: The same of those that it calls likely.
LIKELY_RATE = 0.25
#: What the layout of code and memory may do to a side for as long as it is built and placed so, as a standard deviation
#: (T. Mytkowicz and others, "Producing wrong data without doing anything obviously wrong", ASPLOS 2009).
LAYOUT = 0.03
#: The logarithm of a change that nobody hopes for.
_FARTHEST = 7.0


class Levels(NamedTuple):
    """At which p-value a statement of an answer is sure, and at which it is at least likely."""

    sure: float
    likely: float

    @classmethod
    def of(
        cls,
        p_values: Sequence[float],
        error_rate: float = ERROR_RATE,
        family: int = 0,
        likely_rate: float = LIKELY_RATE,
    ) -> Levels:
        """The levels of statements that are corrected together; of `judged` are the parameters."""
        return cls(*(false_discovery_level(p_values, rate, family) for rate in (error_rate, likely_rate)))

    def word(self, p: float) -> Word:
        """How sure a statement is.

        Examples
        --------
        >>> [ALONE.word(p).value for p in (0.01, 0.1, 0.5)]
        ['sure', 'likely', 'open']
        """
        return Word.SURE if p <= self.sure else Word.LIKELY if p <= self.likely else Word.OPEN


#: Those of the question that was asked first.
ALONE = Levels(ERROR_RATE, LIKELY_RATE)


@dataclass(frozen=True)
class Contrast:
    """One comparison, as it is before all are known.

    Attributes
    ----------
    change
        The logarithm of the ratio with all of its error.
    ranks_p
        The two-sided p-value of the processes' ranks; 0 where the units are others, 1 where they are too few.
    sizes
        How many processes the sides have, whose ranks are compared; None where they are not.
    rest
        What everything else changed by: a change counts beyond it.
    alone
        It is the question that was asked first: it weighs as much as all others together.
    """

    change: LogChange
    ranks_p: float = 0.0
    sizes: tuple[int, int] | None = None
    rest: float = 0.0
    alone: bool = False

    @property
    def p(self) -> float:
        """The larger of both p-values: both must be small."""
        return max(self.ranks_p, self.change.p_value(self.rest))


@dataclass(frozen=True)
class Ruling:
    """What is said of a comparison.

    Attributes
    ----------
    word, direction
        The direction is that of a sure one, else unknown.
    p, level
        Its p-value, and at which it would have been sure.
    at_least
        Of a sure one, how far from 0 the change is at least, in 95 of 100 cases.
    told_from
        Of one that is open or likely, from which change on it would have been sure; None where no change would, since
        the processes are too few, or hardly one.
    """

    word: Word
    direction: Direction
    p: float
    level: float
    at_least: float | None = None
    told_from: float | None = None


def judged(
    tests: Sequence[Contrast], error_rate: float = ERROR_RATE, family: int = 0, likely_rate: float = LIKELY_RATE
) -> list[Ruling]:
    """Judge the comparisons of one answer together.

    Parameters
    ----------
    tests
        All of them.
    error_rate
        The expected share of wrong ones among those that are sure.
    family
        How many the answer has, if more.
    likely_rate
        The expected share of wrong ones among those that are at least likely.

    Examples
    --------
    >>> import math
    >>> apart = Contrast(LogChange(1.36, 0.08, 0.08, between=0.04), ranks_p=1e-6)
    >>> [verdict] = judged([apart])
    >>> verdict.word.value, verdict.direction.value, round(math.exp(verdict.at_least), 1)
    ('sure', 'more', 3.4)
    """
    p_values = [test.p for test in tests]
    size = max(len(tests), family)
    first = sum(test.alone for test in tests)
    # Weights with a mean of 1 [1]_; where there is only the first question, or none, all weigh alike.
    share = size / 2 / first if 0 < first < size else 1.0
    rest = size / 2 / (size - first) if 0 < first < size else 1.0
    weights = [share if test.alone else rest for test in tests]
    weighted = [p / weight for p, weight in zip(p_values, weights, strict=True)]
    level, lax = (false_discovery_level(weighted, rate, size) for rate in (error_rate, likely_rate))
    return [
        _verdict(test, p, Levels(min(level * weight, error_rate), min(lax * weight, likely_rate)))
        for test, p, weight in zip(tests, p_values, weights, strict=True)
    ]


def _verdict(test: Contrast, p: float, levels: Levels) -> Ruling:
    change, word = test.change, levels.word(p)
    if word == Word.SURE:
        least = abs(change.value) - change.reach(2 * ERROR_RATE)
        return Ruling(word, Direction.of(change.value), p, levels.sure, at_least=max(0.0, least))
    is_possible = test.sizes is None or 2 * least_p(*test.sizes) <= levels.sure
    told_from: float | None = change.reach(levels.sure) + abs(test.rest)
    if not is_possible or (told_from or 0.0) > _FARTHEST:
        told_from = None
    return Ruling(word, Direction.UNKNOWN, p, levels.sure, told_from=told_from)
