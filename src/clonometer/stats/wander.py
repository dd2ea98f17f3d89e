"""What a typical row of a run wandered by itself, beyond what the scatter of its values explains.

One series hardly tells whether it wanders, and many together do. But a mean of squares has no breakdown point: one
series with a step of six would decide all others. So no series counts for more than 2.5 of its standard errors.

References
----------
.. [1] R. C. Paule, J. Mandel, "Consensus values and weighting factors", Journal of Research of the National Bureau of
       Standards 87 (1982) 377-385: the variance with which squares are as large as they should be.
.. [2] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35 (1964) 73-101,
       proposal 2: the same with winsorised squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.multiplicity import student_within
from clonometer.stats.quantiles import Floats, finite_values

#: Fewer values say nothing of how their level moves.
LEAST_VALUES = 8
#: No series counts for more than so many of its standard errors, squared.
MOST_SQUARE = 2.5**2
#: Of fewer series in each group one may decide a mean, however little it counts.
_LEAST_SERIES = 8
#: What is wrong of two or three series is an estimate of nothing: in simulations a wider tail made no fewer differences
#: false, and hid a ratio of three.
_LEAST_DEGREES = 4
_STEPS = 60
#: The mean of the square of a normal value, no more than 6.25.
_OF_NORMAL = 0.9775
#: The median of a squared normal value.
_MEDIAN_SQUARE = 0.455
#: What a median of squares is worth of their mean, and how often its limit is exceeded.
_OF_MEDIAN, _EXCEEDED = 0.37, 0.2


def typical_wandering(groups: Iterable[Iterable[ArrayLike]]) -> tuple[float, int]:
    """Estimate the variance of how far a typical series moves by itself from its first to its last third.

    Parameters
    ----------
    groups
        Series of shape (n,), in order of time, finite, in one unit (logarithms, for ratios); n may differ. What all of
        a group move by together does not count. Series of fewer than 8 values, and those that do not scatter, tell
        nothing.

    Returns
    -------
    variance
        In the squared unit of the values; 0 where no group has two series. The variance t with which the winsorised
        squares min(d^2 / (v + t), 6.25), each weighted by 1 / (v + t), are as large as independent values make them
        [1]_, [2]_: d is how far the last third's mean is from the first's, beside the group's median, v its variance.
        Unweighted, series that scatter too much to tell anything would decide as much as those that scatter little. In
        groups of fewer than 8 one series would still decide: the median of the squares counts there.
    degrees
        The degrees of freedom that it rests on.

    Notes
    -----
    A random walk moves its mean over a run away from its beginning by a variance of T / 3, and thirds of it apart by
    5 T / 9. What wanders slower than the run cannot be seen in it.

    Examples
    --------
    >>> typical_wandering([[range(12), range(12, 0, -1)]])[0] > 50, typical_wandering([[range(12), range(12)]])
    (True, (0.0, 4))
    """
    squares: list[Floats] = []
    variances: list[Floats] = []
    expected: list[Floats] = []
    kept: list[Floats] = []
    for many in groups:
        measured = [distance for series in many if (distance := _distance(series)) is not None]
        if len(measured) < 2:
            continue
        distances, its_variances, sizes = map(np.array, zip(*measured, strict=True))
        squares.append((distances - _weighted_median(distances, 1 / np.sqrt(its_variances))) ** 2)
        variances.append(its_variances)
        kept.append(np.full(len(measured), 1 - 1 / len(measured)))
        expected.append(np.array([expected_square(int(size)) for size in sizes]))
    if not squares:
        return 0.0, 1
    most = max(map(len, squares))
    is_robust = most < _LEAST_SERIES
    degrees = max(_LEAST_DEGREES, most - 1)
    of_all, errors, means, shares = map(np.concatenate, (squares, variances, expected, kept))

    def is_more(added: float) -> bool:
        whole = errors + added
        if is_robust:
            return float(np.median(of_all - _MEDIAN_SQUARE * shares * whole)) > 0
        # What is added is no estimate of each series, so that its part of the square is a normal value's.
        wanted = _OF_NORMAL + (means - _OF_NORMAL) * errors / whole
        return float(((np.minimum(of_all / whole, MOST_SQUARE) - shares * wanted) / whole).sum()) > 0

    return _solved(is_more, of_all), degrees


def _solved(is_more: Callable[[float], bool], squares: Floats) -> float:
    """The least variance that is no longer too little."""
    if not is_more(0.0):
        return 0.0
    low, high = 0.0, 4 * float(squares.max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_more(middle) else (low, middle)
    return high


@lru_cache(maxsize=256)
def expected_square(n: int) -> float:
    """The mean of min(d^2 / v, 6.25) of ``n`` independent normal values without wandering, weighted by 1 / v.

    The distance over its standard error is Student's t with n - 3 degrees of freedom, its square made to have a mean of
    1. Weighting by the inverse of the estimated variance takes two degrees off, so that it is T with f = n - 5. Cut at
    a, E[T^2; |T| < a] = f ((f - 1) / (f - 2) P(|T'| < a') - P(|T| < a)) with T' of f - 2, and a' = a root((f - 2) / f).

    Examples
    --------
    >>> [round(expected_square(n), 2) for n in (8, 12, 24, 200)]
    [1.5, 1.2, 1.06, 0.99]
    """
    freedom, end = n - 5, math.sqrt(MOST_SQUARE)
    inside = student_within(end, freedom)
    lighter = student_within(end * math.sqrt((freedom - 2) / freedom), freedom - 2)
    below = freedom * ((freedom - 1) / (freedom - 2) * lighter - inside)
    return below + MOST_SQUARE * (1 - inside)


def most_added_variance(squares: Floats, variances: Floats) -> float:
    """The most that values have of variance beyond their own errors, told by their median: half may have other reasons.

    Parameters
    ----------
    squares, variances
        Shape (n,), n at least 3: of the values about their median, and of their errors, in one unit.

    Returns
    -------
    float
        What is exceeded in one of five cases: a median of squares is worth 37% of the values' degrees of freedom.

    Examples
    --------
    >>> round(most_added_variance(np.array([0.9, 1.0, 1.1, 900.0] * 10), np.full(40, 0.1)), 1)
    3.3
    """
    # E. B. Wilson, M. M. Hilferty, "The distribution of chi-square", PNAS 17 (1931) 684-688.
    freedom = _OF_MEDIAN * (squares.size - 1)
    least = (1 - 2 / (9 * freedom) + NormalDist().inv_cdf(_EXCEEDED) * math.sqrt(2 / (9 * freedom))) ** 3
    expected = _MEDIAN_SQUARE * least
    return _solved(lambda added: float(np.median(squares - expected * (variances + added))) > 0, squares / least)


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, sums[-1] / 2)])


def _distance(values: ArrayLike) -> tuple[float, float, int] | None:
    """How far the last third's mean is from the first's, the variance that independent values give it, their number."""
    series = finite_values(values)
    if series.size < LEAST_VALUES:
        return None
    third, freedom = series.size // 3, series.size - 3
    parts = series[:third], series[third:-third], series[-third:]
    # The mean of an estimated variance's inverse is larger than the inverse of its mean.
    variance = 2 / (freedom - 2) / third * sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    return (float(parts[2].mean() - parts[0].mean()), variance, series.size) if variance > 0 else None
