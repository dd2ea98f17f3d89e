"""Whether a sequence keeps its level: trend, wandering, and a step at its beginning.

References
----------
.. [1] H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945) 245-259; M. G. Kendall, "Rank
       correlation methods", Griffin 1975, chapter 4: the variance with ties.
.. [2] P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968) 1379-1389.
.. [3] R. Bartels, "The rank version of von Neumann's ratio test for randomness", JASA 77 (1982) 40-46.
.. [4] J. Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11 (1995) 403-436.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    first, second = _pairs(n)
    score = float(np.sign(array[second] - array[first]).sum())
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
    first, second = _pairs(abscissa.size)
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


def place_of_step(values: ArrayLike) -> int:
    """Count the values before a step: where the absolute deviations from both sides' medians have the least sum [4]_.

    Whether there is a step is another question. Parameters and errors are those of `mann_kendall`; 2 values at least.

    Examples
    --------
    >>> place_of_step([9, 9, 8, 1, 2, 1, 2, 1, 2, 1, 2, 1])
    3
    """
    array = _short(values)
    return int(np.argmin(_deviations(array) + _deviations(array[::-1])[::-1])) + 1


def _deviations(array: Floats) -> Floats:
    """Sum up how far the first value, the first two, and so on are from their median; not all of them."""
    counts = np.arange(1, array.size)[:, None]
    first = np.arange(array.size) < counts
    ordered = np.sort(np.where(first, array, np.inf), axis=1)
    middle = [np.take_along_axis(ordered, places, axis=1) for places in ((counts - 1) // 2, counts // 2)]
    return np.asarray(np.abs(array - sum(middle) / 2).sum(axis=1, where=first), dtype=np.float64)


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the first and of the second of each pair; most rows of a run have the same number of processes."""
    first, second = np.triu_indices(n, 1)
    first.flags.writeable = second.flags.writeable = False
    return first, second


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
