"""Whether a sequence in order of time keeps its level, and where a step at its beginning ends.

References
----------
.. [1] R. Bartels, "The rank version of von Neumann's ratio test for randomness", JASA 77 (1982) 40-46.
.. [2] J. Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11 (1995) 403-436.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values

#: Fewer values say nothing of how their level moves.
LEAST_VALUES = 8
#: Where values are independent, so many sequences are said not to keep their level. At 1 in 200 a tenth fewer of those
#: that follow an AR(1) of 0.9 are seen, at 1 in 20 each run of independent processes has a row or two without interval.
_CHANCE = 0.01
#: More are too many to compare each step of them with each value.
MOST_VALUES = 2000


@dataclass(frozen=True)
class Outcome:
    """A statistic with the probability of one as far from its expectation, or farther, by chance alone."""

    statistic: float
    p_value: float


def keeps_level(values: ArrayLike) -> bool:
    """Whether values in order of time may be taken as independent: the one test of drift, steps and slow wandering.

    Where they may not, no interval that takes them as independent covers what it says, and none should be shown.

    Parameters
    ----------
    values
        Shape (n,), in order of time, finite; differences or ratios of pairs where two sides took turns.

    Returns
    -------
    bool
        False where neighbours are more alike than chance makes them in 1 of 100 sequences (`rank_von_neumann`). True of
        fewer than 8 values, of which nothing can be said.

    Raises
    ------
    ValueError
        If there is no value, or one is not finite.

    Examples
    --------
    >>> keeps_level([3, 9, 1, 7, 5, 2, 8, 4]), keeps_level(range(12))
    (True, False)
    """
    series = finite_values(values)
    return series.size < LEAST_VALUES or rank_von_neumann(series).p_value >= _CHANCE


def rank_von_neumann(values: ArrayLike) -> Outcome:
    """Test whether neighbours are more alike than chance makes them [1]_: a drift, a step, a slow wandering.

    Parameters
    ----------
    values
        Shape (n,), finite, in order of time.

    Returns
    -------
    Outcome
        Statistic: Bartels' ratio RVN, 2 for a random order and less where neighbours are alike. p: one-sided, by
        the normal approximation, which is conservative enough from 10 values on; 1 for fewer than 4 values and for
        a constant sequence.

    Raises
    ------
    ValueError
        If there is no value, or one is not finite.

    Examples
    --------
    >>> round(rank_von_neumann([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).statistic, 3)
    0.109
    """
    array = finite_values(values)
    n = array.size
    ranks = mean_ranks(array)
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    if n < 4 or spread == 0:
        return Outcome(2.0, 1.0)
    ratio = float((np.diff(ranks) ** 2).sum()) / spread
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return Outcome(ratio, 0.5 * math.erfc((2 - ratio) / math.sqrt(2 * variance)))


def place_of_step(values: ArrayLike) -> int:
    """Count the values before a step: where the absolute deviations from both sides' medians have the least sum [2]_.

    Whether there is a step is another question.

    Parameters
    ----------
    values
        Shape (n,), finite, in order of time, 2 at least and 2,000 at most.

    Raises
    ------
    ValueError
        If there is no value, one is not finite, or there are more than 2,000.

    Examples
    --------
    >>> place_of_step([9, 9, 8, 1, 2, 1, 2, 1, 2, 1, 2, 1])
    3
    """
    array = finite_values(values)
    if array.size > MOST_VALUES:
        raise ValueError(f"{array.size} values; {MOST_VALUES} at most")
    return int(np.argmin(_deviations(array) + _deviations(array[::-1])[::-1])) + 1


def _deviations(array: Floats) -> Floats:
    """Sum up how far the first value, the first two, and so on are from their median; not all of them."""
    counts = np.arange(1, array.size)[:, None]
    first = np.arange(array.size) < counts
    ordered = np.sort(np.where(first, array, np.inf), axis=1)
    middle = [np.take_along_axis(ordered, places, axis=1) for places in ((counts - 1) // 2, counts // 2)]
    return np.asarray(np.abs(array - sum(middle) / 2).sum(axis=1, where=first), dtype=np.float64)


def mean_ranks(array: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean."""
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)
