"""What typical rows of a run wander by themselves, beyond what the scatter of their values explains.

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
_STEPS = 60
#: How many waves are slow.
_SLOW = 2
#: Of a wave's variance in the unit of the mean, what it adds to a ratio.
OF_WANDERING = 2 * math.pi**2 / 3
#: Less than this share of a series is no scatter of its values.
_ROUNDING = 1e-20
#: The mean of the square of a normal value, no more than 6.25.
_OF_NORMAL = 0.9775
#: The median of a squared normal value.
_MEDIAN_SQUARE = 0.455
#: What a median of squares is worth of their mean, and how often its limit is exceeded.
_OF_MEDIAN, _EXCEEDED = 0.37, 0.2


def typical_wandering(groups: Iterable[Iterable[ArrayLike]]) -> tuple[float, int]:
    """Estimate by how much the ratio of two typical series is off because each wanders by itself, as a variance.

    Parameters
    ----------
    groups
        Series of shape (n,), in order of time, finite, in one unit (logarithms, for ratios); n may differ. What all of
        a group move by together does not count. Series of fewer than 8 values, and those that do not scatter, tell
        nothing.

    Returns
    -------
    variance
        In the squared unit of the values; 0 where no group has two series.
    degrees
        The degrees of freedom that it rests on.

    Notes
    -----
    The two slowest waves of a series (cosines of half a period and of a whole one) hold what moves slowly, all others
    how far its values scatter, v. The k-th wave of a random walk of variance T over the run has n T / (pi k)^2. So the
    wandering t solves that the winsorised squares min(d^2 / (v + t / k^2), 6.25), weighted by 1 / (v + t / k^2), are as
    large as independent values make them [1]_, [2]_; d is a wave beside the group's median. Unweighted, series that
    scatter too much to tell anything would decide as much as those that scatter little. Of six series or fewer one with
    a large step still decides.

    A random walk moves its mean over a run away from its beginning by T / 3, and two of them their ratio by 2 T / 3,
    which is 2 pi^2 / 3 of t / n. What wanders slower than the run cannot be seen in it.

    Examples
    --------
    >>> typical_wandering([[range(12), range(12, 0, -1)]])[0] > 50, typical_wandering([[range(12), range(12)]])
    (True, (0.0, 2))
    """
    parts: list[tuple[Floats, ...]] = []
    most = 0
    for many in groups:
        measured = [waves for series in many if (waves := _waves(series)) is not None]
        if len(measured) < 2:
            continue
        most = max(most, len(measured))
        slow, errors, sizes = map(np.array, zip(*measured, strict=True))
        # Each value is one of its group, and off the median by that much less.
        share = 1 - 1 / len(measured)
        means = np.array([expected_square(int(size)) for size in sizes])
        for k, wave in enumerate(slow.T, 1):
            middle = _weighted_median(wave, 1 / np.sqrt(errors))
            parts.append(
                ((wave - middle) ** 2, errors, means, np.full(sizes.size, share), np.full(sizes.size, 1 / k**2))
            )
    if not parts:
        return 0.0, 1
    squares, variances, expected, kept, falling = map(np.concatenate, zip(*parts, strict=True))

    def is_more(added: float) -> bool:
        whole = variances + added * falling
        # What is added is no estimate of each series, so that its part of the square is a normal value's.
        wanted = _OF_NORMAL + (expected - _OF_NORMAL) * variances / whole
        return float(((np.minimum(squares / whole, MOST_SQUARE) - kept * wanted) * falling / whole).sum()) > 0

    return OF_WANDERING * _solved(is_more, squares), _SLOW * (most - 1)


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

    A wave over its standard error is Student's t with n - 3 degrees of freedom, its square made to have a mean of 1.
    Weighting by the inverse of the estimated variance takes two degrees off, so that it is T with f = n - 5. Cut at a,
    E[T^2; |T| < a] = f ((f - 1) / (f - 2) P(|T'| < a') - P(|T| < a)) with T' of f - 2, and a' = a root((f - 2) / f).

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


def _waves(values: ArrayLike) -> tuple[Floats, float, int] | None:
    """The slowest waves of a series, as moves of its mean, the variance that independent values give each, its length.

    A wave of a length of 1 is the discrete cosine transform's; over the root of n it is in the unit of the mean.
    """
    series = finite_values(values)
    n = series.size
    if n < LEAST_VALUES:
        return None
    waves = _cosines(n) @ series
    # The mean of an estimated variance's inverse is larger than the inverse of its mean: two degrees less.
    variance = float((waves[_SLOW:] ** 2).sum()) / (n - 1 - _SLOW - 2)
    return (waves[:_SLOW], variance, n) if variance > _ROUNDING * float((waves**2).sum()) else None


@lru_cache(maxsize=64)
def _cosines(n: int) -> Floats:
    """All waves of n values but the constant one: shape (n - 1, n), divided by the root of n."""
    phases = np.pi / n * np.outer(np.arange(1, n), np.arange(n) + 0.5)
    return np.asarray(math.sqrt(2) / n * np.cos(phases), dtype=np.float64)
