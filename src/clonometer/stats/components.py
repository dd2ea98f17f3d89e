"""Variance between units and within them, and which units are far from the rest.

References
----------
.. [1] S. R. Searle, G. Casella, C. E. McCulloch, "Variance components", Wiley 1992, section 3.6: the analysis of
       variance of unbalanced data in one way.
.. [2] B. Iglewicz, D. C. Hoaglin, "How to detect and handle outliers", ASQC 1993: the modified z-score, and 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats, finite_values, median

#: A unit is odd beyond so many robust standard deviations, or more where many are looked at.
ODD_SCORE = 3.5
#: Fewer units do not say how far units are from each other.
LEAST_UNITS = 8
_NORMAL_MAD = 0.6745


@dataclass(frozen=True)
class Components:
    """Variance components of many families at once; NaN where there are too few units or repeated values.

    Attributes
    ----------
    between, within
        Shape (families,): variances, at least 0.
    """

    between: Floats
    within: Floats


def unit_means(values: Floats, first: NDArray[np.intp]) -> Floats:
    """The mean of each unit's values; ``first``: where each unit starts, as of `clonometer.stats.segments`."""
    return np.asarray(np.add.reduceat(values, first) / np.diff(first, append=values.size), dtype=np.float64)


def variance_components(values: ArrayLike, first: ArrayLike, families: ArrayLike) -> Components:
    """Split the variance of values into that between units and that within them, by the analysis of variance [1]_.

    Parameters
    ----------
    values
        Shape (n,), finite, unit after unit.
    first
        Shape (units,): where each unit starts in ``values``, rising from 0.
    families
        Shape (families,): where each family starts among the units, rising from 0.

    Returns
    -------
    Components
        ``between`` needs two units and one repeated value somewhere in the family; where no unit has two values it is
        the variance of the units' values, which contains what they differ by from time to time. ``within`` needs a unit
        with two values.

    Examples
    --------
    >>> parts = variance_components([1.0, 3.0, 5.0, 7.0], [0, 2], [0])
    >>> float(parts.within[0]), float(parts.between[0])
    (2.0, 7.0)
    """
    array = finite_values(values)
    starts, heads = np.asarray(first, np.intp), np.asarray(families, np.intp)
    counts = np.diff(starts, append=array.size).astype(np.float64)
    means = unit_means(array, starts)
    squares_within = np.add.reduceat((array - np.repeat(means, counts.astype(np.intp))) ** 2, starts)
    units = np.diff(heads, append=starts.size).astype(np.float64)
    total = np.add.reduceat(counts, heads)
    grand = np.add.reduceat(means * counts, heads) / total
    of_units = np.repeat(grand, units.astype(np.intp))
    squares_between = np.add.reduceat(counts * (means - of_units) ** 2, heads)
    within_sum = np.add.reduceat(squares_within, heads)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = within_sum / (total - units)
        # The mean number of values a unit, as far as it is uneven.
        usual = (total - np.add.reduceat(counts**2, heads) / total) / (units - 1)
        variance = squares_between / (units - 1)
        between = np.where(total > units, (variance - within) / usual, variance)
    return Components(np.where(units > 1, np.maximum(between, 0.0), np.nan), np.where(total > units, within, np.nan))


def odd_scores(values: ArrayLike) -> Floats | None:
    """How far each unit is from the median of all, in robust standard deviations [2]_.

    Parameters
    ----------
    values
        Shape (units,), finite.

    Returns
    -------
    numpy.ndarray or None
        Shape (units,): the modified z-score, signed. None with fewer than 8 units, and where more than half are alike.

    Examples
    --------
    >>> scores = odd_scores([1, 2, 3, 4, 5, 6, 7, 40])
    >>> [round(float(score), 1) for score in scores]
    [-1.2, -0.8, -0.5, -0.2, 0.2, 0.5, 0.8, 12.0]
    """
    array = finite_values(values)
    if array.size < LEAST_UNITS:
        return None
    away = array - median(array)
    spread = median(np.abs(away))
    return None if spread == 0 else np.asarray(_NORMAL_MAD * away / spread, dtype=np.float64)


def odd_limit(looked_at: int) -> float:
    """The score beyond which a unit is odd: 3.5, or where many are looked at what the largest of them may reach.

    The chance that any normal one is beyond it is 5%.

    Parameters
    ----------
    looked_at
        How many scores there are.

    Examples
    --------
    >>> odd_limit(10), round(odd_limit(5000), 2)
    (3.5, 4.42)
    """
    return max(ODD_SCORE, NormalDist().inv_cdf(1 - 0.05 / (2 * max(looked_at, 1))))
