"""Whether a sequence keeps its level: trend, wandering, and a step at its beginning.

References
----------
.. [1] H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945) 245-259; M. G. Kendall, "Rank
       correlation methods", Griffin 1975, chapter 4: the variance with ties.
.. [2] P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968) 1379-1389.
.. [3] R. Bartels, "The rank version of von Neumann's ratio test for randomness", JASA 77 (1982) 40-46.
.. [4] A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28 (1979) 126-135.
.. [5] J. Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11 (1995) 403-436.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values, median

MOST_VALUES = 2000  # the tests compare all pairs


@dataclass(frozen=True)
class Outcome:
    """A statistic with the probability of one as far from its expectation, or farther, by chance alone."""

    statistic: float
    p_value: float


def mann_kendall(values: ArrayLike) -> Outcome:
    """Test for a monotone trend [1]_, whatever its shape.

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring, at most 2,000.

    Returns
    -------
    Outcome
        Statistic: Kendall's S, the pairs that rise less those that fall. p: two-sided, normal with continuity
        correction and the variance for ties; 1 for fewer than 4 values and for a constant sequence.

    Raises
    ------
    ValueError
        If there is no value, one is not finite, or there are more than 2,000.

    Examples
    --------
    >>> test = mann_kendall([1, 2, 3, 4, 5, 6, 7, 8])
    >>> test.statistic, round(test.p_value, 4)
    (28.0, 0.0008)
    """
    array = _short(values)
    n = array.size
    upper = np.triu_indices(n, 1)
    score = float(np.sign(array[upper[1]] - array[upper[0]]).sum())
    _, ties = np.unique(array, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if n < 4 or variance <= 0:
        return Outcome(score, 1.0)
    z = max(0.0, abs(score) - 1) / math.sqrt(variance)
    return Outcome(score, math.erfc(z / math.sqrt(2)))


def theil_sen(x: ArrayLike, y: ArrayLike) -> float:
    """Slope of ``y`` along ``x``: the median of the slopes of all pairs [2]_.

    Parameters
    ----------
    x, y
        Shape (n,), finite, at most 2,000, at least two different x.

    Returns
    -------
    float
        In the unit of y per unit of x.

    Raises
    ------
    ValueError
        If the lengths differ, all x are the same, or a number is not finite.

    Examples
    --------
    >>> theil_sen([0, 1, 2, 3, 4], [5, 7, 9, 11, 1000])
    2.0
    """
    abscissa, ordinate = _short(x), _short(y)
    if abscissa.size != ordinate.size:
        raise ValueError(f"{abscissa.size} x, but {ordinate.size} y")
    first, second = np.triu_indices(abscissa.size, 1)
    run = abscissa[second] - abscissa[first]
    apart = run != 0
    if not apart.any():
        raise ValueError("a slope needs at least two different x")
    return median((ordinate[second] - ordinate[first])[apart] / run[apart])


def rank_von_neumann(values: ArrayLike) -> Outcome:
    """Test whether neighbours are more alike than chance makes them [3]_: a drift, a step, a slow wandering.

    Parameters and errors are those of `mann_kendall`.

    Returns
    -------
    Outcome
        Statistic: Bartels' ratio RVN, 2 for a random order and less where neighbours are alike. p: one-sided, by
        the normal approximation, which is conservative enough from 10 values on; 1 for fewer than 4 values and for
        a constant sequence.

    Examples
    --------
    >>> round(rank_von_neumann([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).statistic, 3)
    0.109
    """
    array = _short(values)
    n = array.size
    ranks = mean_ranks(array)
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    if n < 4 or spread == 0:
        return Outcome(2.0, 1.0)
    ratio = float((np.diff(ranks) ** 2).sum()) / spread
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return Outcome(ratio, 0.5 * math.erfc((2 - ratio) / math.sqrt(2 * variance)))


@dataclass(frozen=True)
class Change:
    """Where a sequence changes its level: the first ``before`` values against the rest."""

    before: int
    p_value: float


def pettitt(values: ArrayLike) -> Change:
    """Find the most likely place of one change of level, and test it [4]_.

    Parameters and errors are those of `mann_kendall`.

    Returns
    -------
    Change
        ``before`` lies between 1 and n - 1. p: Pettitt's approximation 2 exp(-6 K^2 / (n^3 + n^2)), at most 1; it
        takes the values as independent. A constant sequence and one of fewer than 4 values have p = 1.

    Examples
    --------
    >>> pettitt([9, 9, 8, 1, 2, 1, 2, 1, 2, 1, 2, 1]).before
    3
    """
    array = _short(values)
    n = array.size
    if n < 4 or np.ptp(array) == 0:
        return Change(max(1, n // 2), 1.0)
    # U(t) = 2 (sum of the first t ranks) - t (n + 1), with mean ranks for ties.
    sums = 2 * np.cumsum(mean_ranks(array))[:-1] - np.arange(1, n) * (n + 1)
    place = int(np.argmax(np.abs(sums)))
    largest = float(abs(sums[place]))
    return Change(place + 1, min(1.0, 2 * math.exp(-6 * largest**2 / (n**3 + n**2))))


def place_of_step(values: ArrayLike) -> int:
    """Count the values before a step: where the absolute deviations from both sides' medians have the least sum [5]_.

    Pettitt's place is worse: his ranks draw a step near an end towards the middle. Whether there is a step is for his
    test. Parameters and errors are those of `mann_kendall`; 2 values at least.

    Examples
    --------
    >>> place_of_step([9, 9, 8, 1, 2, 1, 2, 1, 2, 1, 2, 1])
    3
    """
    array = _short(values)

    def missed(place: int) -> float:
        return float(sum(np.abs(side - median(side)).sum() for side in (array[:place], array[place:])))

    return min(range(1, array.size), key=missed)


def _short(values: ArrayLike) -> Floats:
    array = finite_values(values)
    if array.size > MOST_VALUES:
        raise ValueError(f"{array.size} values; {MOST_VALUES} at most, since all pairs are compared")
    return array


def mean_ranks(array: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)
