"""A change between two sides as a logarithm: its interval at any level, and which of many changes are sure together.

An interval joins what is uncertain: the scatter of processes, and what two runs of a machine differ by. Their
variances add, on each side of the value by itself, as the method of variance estimates recovery does it [1]_.

References
----------
.. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics
       in Medicine 27 (2008) 1693-1702.
.. [2] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979)
       65-70.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance

from clonometer.stats.interval import Interval
from clonometer.stats.multiplicity import score


@dataclass(frozen=True)
class LogChange:
    """How much two sides differ, on the logarithm.

    Attributes
    ----------
    value
        Logarithm of the ratio.
    below, above
        Standard errors towards smaller and towards larger values, at least 0.
    between
        Standard deviation of what two runs of the machine differ by, at least 0.
    degrees, between_degrees
        Degrees of freedom that the standard errors and ``between`` rest on; None where they count as known.

    Examples
    --------
    >>> change = LogChange(0.1, 0.03, 0.03, between=0.04)
    >>> [round(end, 3) for end in change.ends(0.05)]
    [0.002, 0.198]
    """

    value: float
    below: float
    above: float
    between: float = 0.0
    degrees: int | None = None
    between_degrees: int | None = None

    def ends(self, error: float) -> tuple[float, float]:
        """The two-sided interval that misses with a chance of ``error``."""
        student, apart = score(error, self.degrees), score(error, self.between_degrees) * self.between
        return (
            self.value - math.hypot(student * self.below, apart),
            self.value + math.hypot(student * self.above, apart),
        )

    def needed(self, error: float, power: float) -> float:
        """How large a rise must be for such an interval to lie above 0 in a share ``power`` of cases."""
        beyond = score(2 * (1 - power))
        apart = (score(error, self.between_degrees) + beyond) * self.between
        return math.hypot((score(error, self.degrees) + beyond) * self.above, apart)

    def widened(self, factor: float) -> LogChange:
        """The same change, so many times as uncertain."""
        return replace(self, below=self.below * factor, above=self.above * factor, between=self.between * factor)

    def turning(self, error: float, rest: float = 0.0) -> float | None:
        """How large ``between`` may be, at most, for such an interval to lie beyond both 0 and ``rest``.

        The standard errors count, ``between`` does not. None where even without any the interval does not.

        Examples
        --------
        >>> round(LogChange(0.1, 0.03, 0.03).turning(0.05), 3)
        0.041
        >>> LogChange(0.05, 0.03, 0.03).turning(0.05) is None
        True
        """
        error_to_it = self.below if self.value > 0 else self.above
        margin = self.value - max(0.0, rest) if self.value > 0 else min(0.0, rest) - self.value
        within = score(error, self.degrees) * error_to_it
        return math.sqrt(margin**2 - within**2) / score(error) if margin > within else None


def change_of_ratio(ratio: Interval, between: float = 0.0, between_degrees: int | None = None) -> LogChange:
    """The change that a ratio with its interval is.

    Parameters
    ----------
    ratio
        Positive. Its scatter rests on as many degrees of freedom as its smaller side has processes but one.
    between, between_degrees
        Standard deviation of what two runs differ by, on the logarithm, and what it rests on.
    """
    degrees = max(1, ratio.n - 1)
    student = score(1 - ratio.confidence, degrees)
    below, above = math.log(ratio.value / ratio.low), math.log(ratio.high / ratio.value)
    return LogChange(math.log(ratio.value), below / student, above / student, between, degrees, between_degrees)


def variance_of_runs(base: Sequence[float], other: Sequence[float]) -> float:
    """The variance between runs of one side, pooled over both sides; three runs together at least.

    Parameters
    ----------
    base, other
        One value a run, any unit.
    """
    squares = sum(sum((value - fmean(side)) ** 2 for value in side) for side in (base, other))
    return squares / (len(base) + len(other) - 2)


def change_of_runs(base: Sequence[float], other: Sequence[float], typical: float | None = None) -> LogChange:
    """The change between two groups of runs: each run is one value.

    Parameters
    ----------
    base, other
        Logarithms, one a run; three together at least.
    typical
        The variance between runs of rows of the same kind; None where there are none.

    Returns
    -------
    LogChange
        Its variance is the mean of the row's own and the typical one, which doubles the degrees of freedom: few runs
        tell little of one row's variance, and many rows tell much of each other's.
    """
    degrees = len(base) + len(other) - 2
    squared, degrees = _beside_typical(variance_of_runs(base, other), degrees, typical)
    error = math.sqrt(squared * (1 / len(base) + 1 / len(other)))
    return LogChange(fmean(other) - fmean(base), error, error, degrees=degrees)


def change_of_pairs(differences: Sequence[float], typical: float | None = None) -> LogChange:
    """The change between two times of the same units: each unit's difference is one value.

    Parameters
    ----------
    differences
        Of logarithms, one a unit; two at least.
    typical
        The variance of such differences in rows of the same kind; None where there are none.

    Returns
    -------
    LogChange
        As of `change_of_runs`.

    Examples
    --------
    >>> change = change_of_pairs([0.1, 0.12, 0.08])
    >>> round(change.value, 3), change.degrees
    (0.1, 2)
    """
    squared, degrees = _beside_typical(variance(differences), len(differences) - 1, typical)
    error = math.sqrt(squared / len(differences))
    return LogChange(fmean(differences), error, error, degrees=degrees)


def _beside_typical(of_row: float, degrees: int, typical: float | None) -> tuple[float, int]:
    return (of_row, degrees) if typical is None else ((of_row + typical) / 2, 2 * degrees)


def sure_levels(
    is_sure: Callable[[int, float], bool], size: int, error_rate: float, tests: int | None = None
) -> tuple[list[float], list[bool]]:
    """Decide which of many changes are sure together, by Holm's procedure on their intervals.

    Parameters
    ----------
    is_sure
        Whether the change at a place is sure where its interval may miss with a given chance: sure at a smaller chance
        is sure at a larger.
    size
        How many changes there are.
    error_rate
        The chance that any is called sure where nothing changed, however they depend on each other.
    tests
        How many the family has, if more than these.

    Returns
    -------
    levels, sure
        For each the chance at which its interval was judged, and whether it was sure.

    Notes
    -----
    All are asked at ``error_rate`` over their number; what is sure counts no longer, and the others are asked again.
    That is Holm's step-down procedure [2]_ said with intervals: the interval at the level given is what decides.

    Examples
    --------
    >>> p_values = [0.01, 0.02, 0.2]
    >>> sure_levels(lambda place, level: p_values[place] <= level, 3, 0.05)
    ([0.016666666666666666, 0.025, 0.05], [True, True, False])
    """
    family = size if tests is None else max(tests, size)
    levels, sure = [error_rate] * size, [False] * size
    while True:
        level = error_rate / max(1, family - sum(sure))
        left = [place for place in range(size) if not sure[place]]
        for place in left:
            levels[place] = level
        new = [place for place in left if is_sure(place, level)]
        if not new:
            return levels, sure
        for place in new:
            sure[place] = True
