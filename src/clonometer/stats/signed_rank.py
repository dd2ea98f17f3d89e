"""Wilcoxon's signed-rank test of differences of pairs, and the interval that says the same.

Where a coin decided which of a pair came first, and it does not matter which side is which, each difference could as
well have had the other sign: all 2^n choices of signs are equally likely, whatever drifted meanwhile [1]_. The interval
is the test turned around: all shifts that it would not reject [2]_.

References
----------
.. [1] R. A. Fisher, "The design of experiments", Oliver & Boyd 1935, chapter 3: the order was drawn, which makes the
       test exact.
.. [2] J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34
       (1963) 598-611; G. E. Noether, "Some simple distribution-free confidence intervals for the center of a
       symmetric distribution", Communications in Statistics 1 (1973) 271-278: closed intervals, for ties.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values


class SignedRank:
    """The differences of n pairs: their centre, a p-value, and intervals that agree with it.

    Parameters
    ----------
    differences
        Shape (n,), n from 1, finite, any unit: of logarithms, the centre is that of a ratio.

    Raises
    ------
    ValueError
        If there is none, or one is not finite.

    Notes
    -----
    Means of two differences (each with itself too) that are zero count against the test, and the ends of the interval
    belong to it: ties make both more careful, and `p_value` is at most ``error_rate`` exactly where ``interval`` of
    that error rate does not hold zero.

    Examples
    --------
    >>> test = SignedRank([0.04, 0.05, 0.06, 0.07, 0.05, 0.08])
    >>> round(test.value, 3), test.p_value, test.interval(0.05)
    (0.06, 0.03125, (0.04, 0.08))
    """

    def __init__(self, differences: ArrayLike) -> None:
        self._differences = finite_values(differences, "differences of pairs")

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self._differences.size

    @cached_property
    def _means(self) -> Floats:
        """The mean of each two differences, and each by itself, rising: shape (n (n + 1) / 2,)."""
        first, second = np.triu_indices(self.n)
        return np.sort((self._differences[first] + self._differences[second]) / 2)

    @cached_property
    def value(self) -> float:
        """Hodges and Lehmann's estimate of the centre: the median of those means."""
        return float(np.median(self._means))

    @cached_property
    def p_value(self) -> float:
        """Two-sided, exact: that the differences are to one side of zero by the fall of the coins alone."""
        not_above = int(np.searchsorted(self._means, 0.0, side="right"))
        not_below = self._means.size - int(np.searchsorted(self._means, 0.0, side="left"))
        return min(1.0, 2 * float(_at_most(self.n)[min(not_above, not_below)]))

    def one_sided_p(self, bound: float) -> tuple[float, float]:
        """Exact p-values against a centre at ``bound``: that it lies above it, and that it lies below it."""
        not_above = int(np.searchsorted(self._means, bound, side="right"))
        not_below = self._means.size - int(np.searchsorted(self._means, bound, side="left"))
        return float(_at_most(self.n)[not_above]), float(_at_most(self.n)[not_below])

    def interval(self, error_rate: float) -> tuple[float, float]:
        """The shifts that are not rejected at ``error_rate``; infinite on both sides where so few pairs reject none."""
        place = int(np.searchsorted(_at_most(self.n), error_rate / 2, side="right"))
        if place == 0:
            return -math.inf, math.inf
        return float(self._means[place - 1]), float(self._means[-place])


def least_p(n: int) -> float:
    """The smallest two-sided p-value that ``n`` pairs can give.

    Examples
    --------
    >>> least_p(6)
    0.03125
    """
    return min(1.0, math.ldexp(2.0, -n))


@lru_cache(maxsize=512)
def _at_most(n: int) -> Floats:
    """P(T <= t) of the signed-rank statistic for t = 0 ... n (n + 1) / 2: each rank is in the sum or not."""
    chances = np.zeros(n * (n + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, n + 1):
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    return np.cumsum(chances)
