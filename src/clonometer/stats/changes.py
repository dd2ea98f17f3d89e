"""A change between two sides as a logarithm, with all of its error: its interval at any level, and its p-value.

The error joins what is uncertain: the scatter of processes, and what they share. The variances add, on each side of
the value by itself, as the method of variance estimates recovery does it [1]_.

References
----------
.. [1] G. Y. Zou, A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics
       in Medicine 27 (2008) 1693-1702.
.. [2] F. E. Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2
       (1946) 110-114.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance

from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.multiplicity import NEARLY_NORMAL, score, student_p


@dataclass(frozen=True)
class LogChange:
    """How much two sides differ, on the logarithm.

    Attributes
    ----------
    value
        Logarithm of the ratio.
    below, above
        Standard errors towards smaller and towards larger values, at least 0: what the interval says.
    between
        Standard deviation of what more processes do not make smaller, at least 0: layout, wandering, another run.
    degrees, between_degrees
        Degrees of freedom that the standard errors and ``between`` rest on; None where they count as known.

    Examples
    --------
    >>> change = LogChange(0.1, 0.03, 0.03, between=0.04)
    >>> [round(end, 3) for end in change.ends(0.05)], round(change.p_value(), 3)
    ([0.002, 0.198], 0.046)
    """

    value: float
    below: float
    above: float
    between: float = 0.0
    degrees: int | None = None
    between_degrees: int | None = None

    @property
    def _inner(self) -> float:
        """The standard error on the side of 0."""
        return self.below if self.value > 0 else self.above

    def reach(self, error: float) -> float:
        """How far an interval that misses with a chance of ``error`` reaches from the value toward 0."""
        return self._reach(self._inner, error)

    def ends(self, error: float) -> tuple[float, float]:
        """The two-sided interval that misses with a chance of ``error``."""
        return self.value - self._reach(self.below, error), self.value + self._reach(self.above, error)

    def p_value(self, rest: float = 0.0) -> float:
        """The chance of such a change, or a larger one, beyond both 0 and ``rest``, where there is none; both sides."""
        margin = self.value - max(0.0, rest) if self.value > 0 else min(0.0, rest) - self.value
        if margin <= 0:
            return 1.0
        error = math.hypot(self._inner, self.between)
        return student_p(margin / error, self._freedom(error)) if error else 0.0

    def needed(self, error: float, power: float = 0.5) -> float:
        """How large a rise must be for such an interval to lie above 0 in a share ``power`` of cases."""
        return self._reach(self.above, error) + score(2 * (1 - power)) * math.hypot(self.above, self.between)

    def widened(self, factor: float) -> LogChange:
        """The same change, so many times as uncertain."""
        return replace(self, below=self.below * factor, above=self.above * factor, between=self.between * factor)

    def _reach(self, scatter: float, error: float) -> float:
        whole = math.hypot(scatter, self.between)
        freedom = self._freedom(whole)
        return whole * score(error, int(freedom) if freedom < NEARLY_NORMAL else None)

    def _freedom(self, whole: float) -> float:
        """Degrees of freedom of the whole error (Satterthwaite's): infinite where nothing of it was estimated [2]_."""
        scatter = max(0.0, whole**2 - self.between**2)
        parts = ((scatter, self.degrees), (self.between**2, self.between_degrees))
        share = sum((square / whole**2) ** 2 / degrees for square, degrees in parts if degrees is not None and whole)
        return max(1.0, 1 / share) if share else math.inf


def change_of_ratio(ratio: Interval, between: float = 0.0, between_degrees: int | None = None) -> LogChange:
    """The change that a ratio with its interval is.

    Parameters
    ----------
    ratio
        Positive, as its ends: its errors are those of the normal value with such an interval.
    between, between_degrees
        Standard deviation of what processes do not tell, on the logarithm, and what it rests on.
    """
    normal = score(1 - CONFIDENCE)
    below, above = math.log(ratio.value / ratio.low), math.log(ratio.high / ratio.value)
    return LogChange(math.log(ratio.value), below / normal, above / normal, between, None, between_degrees)


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
