"""Quantiles of independent values with intervals from order statistics.

No distribution is assumed: the number of values at or below a quantile is binomial, whatever the values are.

References
----------
.. [1] T. P. Hettmansperger, S. J. Sheather, "Confidence intervals based on interpolated order statistics",
       Statistics & Probability Letters 4 (1986) 75-79: the median.
.. [2] J. Nyblom, "Note on interpolated order statistics", Statistics & Probability Letters 14 (1992) 129-131:
       any quantile; equals [1]_ at the median.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.interval import CONFIDENCE, Interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_INTERPOLATED = "order statistics, interpolated"
_RANGE = "range of the values"
# Up to here sorting short rows is several times as fast as partitioning them.
_SORTED_LENGTH = 512
#: How far normal values scatter, by their median absolute deviation.
MAD_TO_SIGMA = 1.4826
# Of normal values: a median's error, by that of a mean.
_MEDIAN_ERROR = 1.2533


def finite_values(values: ArrayLike, what: str = "values") -> Floats:
    """Return ``values`` as a one-dimensional float64 array, or refuse them.

    Raises
    ------
    ValueError
        If they are empty, not one-dimensional, or hold a NaN or an infinity.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, not of shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{what} must not be empty")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{what} must be finite")
    return array


def row_medians(rows: Floats) -> Floats:
    """Median along the last axis, to the digit that of `numpy.median`, which takes ten times as long for short rows.

    Parameters
    ----------
    rows
        Shape (..., n) with n of at least 1, finite.

    Returns
    -------
    numpy.ndarray
        Shape (...), float64.

    Examples
    --------
    >>> row_medians(np.array([[3.0, 1.0, 2.0], [4.0, 9.0, 6.0]])).tolist()
    [2.0, 6.0]
    """
    length = rows.shape[-1]
    half = length // 2
    ordered = np.sort(rows, axis=-1) if length <= _SORTED_LENGTH else np.partition(rows, half, axis=-1)
    if length % 2:
        return np.asarray(ordered[..., half])
    # To part them at two places takes several times as long as at one.
    return np.asarray((ordered[..., :half].max(axis=-1) + ordered[..., half]) / 2)


def median(values: Floats) -> float:
    """Median of finite values of shape (n,), as `row_medians`."""
    return float(row_medians(values))


def median_deviation(values: Floats) -> float:
    """Median absolute deviation from the median, not scaled."""
    return median(np.abs(values - median(values)))


def median_error(values: Floats) -> float:
    """Standard error of the median of so many values, as of normal ones: 1.2533 x 1.4826 MAD / sqrt(n)."""
    return _MEDIAN_ERROR * (median_deviation(values) * MAD_TO_SIGMA) / math.sqrt(values.size)


def in_order(values: Floats) -> Floats:
    """The values, rising; the same array where they are so already."""
    return values if bool((values[1:] >= values[:-1]).all()) else np.sort(values)


def quantile_of_ordered(ordered: Floats, probability: float) -> float:
    """Quantile by linear interpolation, to the digit that of `numpy.quantile`, of values that are sorted already.

    Parameters
    ----------
    ordered
        Shape (n,), finite, rising.
    probability
        Which quantile, between 0 and 1.

    Examples
    --------
    >>> quantile_of_ordered(np.array([1.0, 2.0, 4.0]), 0.75)
    3.0
    """
    place = (ordered.size - 1) * probability
    before = int(place)
    if before >= ordered.size - 1:
        return float(ordered[-1])
    low, high, weight = float(ordered[before]), float(ordered[before + 1]), place - before
    # From the nearer end, as numpy does: the other way rounds differently.
    return high - (high - low) * (1 - weight) if weight >= 0.5 else low + (high - low) * weight


@lru_cache(maxsize=64)
def binomial_cdf(n: int, probability: float) -> Floats:
    """Cumulative distribution of Binomial(n, probability) at 0, 1, ..., n.

    Parameters
    ----------
    n
        Number of trials, at least 1.
    probability
        Chance of a success, strictly between 0 and 1.

    Returns
    -------
    numpy.ndarray
        Shape (n + 1,), float64, non-decreasing, its last entry 1.

    Raises
    ------
    ValueError
        If ``n`` or ``probability`` is out of range.

    Examples
    --------
    >>> binomial_cdf(2, 0.5).tolist()
    [0.25, 0.75, 1.0]
    """
    if n < 1 or not 0 < probability < 1:
        raise ValueError(f"no binomial distribution with n={n} and probability={probability}")
    k = np.arange(1, n + 1, dtype=np.float64)
    # In logarithms, because the first term underflows from about n = 1,000 on.
    steps = np.log((n - k + 1) / k) + np.log(probability / (1 - probability))
    log_mass = np.concatenate([[0.0], np.cumsum(steps)]) + n * np.log1p(-probability)
    cumulative = np.cumsum(np.exp(log_mass))
    distribution = np.asarray(np.minimum(cumulative / cumulative[-1], 1.0), dtype=np.float64)
    # Kept for the next one of so many: nobody may change it.
    distribution.flags.writeable = False
    return distribution


def quantile_interval(values: ArrayLike, probability: float = 0.5, confidence: float = CONFIDENCE) -> Interval:
    """Estimate a quantile of independent values, with an interval from order statistics.

    Parameters
    ----------
    values
        Shape (n,), independent, finite, in any unit; the result has the same unit.
    probability
        Which quantile, strictly between 0 and 1.
    confidence
        Coverage asked for, strictly between 0 and 1.

    Returns
    -------
    Interval
        Its value is the quantile by linear interpolation (Hyndman and Fan's type 7, numpy's default). Where
        the two ends of the sample cannot reach ``confidence`` (for the median at 95%: fewer than 6 values)
        the interval is the range, ``confidence`` what it covers, and ``reaches_nominal`` False. Never NaN.

    Raises
    ------
    ValueError
        If there is no value, a value is not finite, or a probability is out of range.

    Notes
    -----
    Each limit errs with probability (1 - confidence) / 2 and is interpolated between the two order statistics
    that bracket it [1]_ [2]_.

    Examples
    --------
    >>> interval = quantile_interval([1, 2, 3, 4, 5, 6])
    >>> round(interval.low, 2), interval.value, round(interval.high, 2)
    (1.36, 3.5, 5.64)
    >>> quantile_interval([1, 2, 3]).confidence, quantile_interval([1, 2, 3]).reaches_nominal
    (0.75, False)
    """
    ordered = np.sort(finite_values(values))
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    n = ordered.size
    tail = (1 - confidence) / 2
    below = binomial_cdf(n, probability)
    above = binomial_cdf(n, 1 - probability)
    value = quantile_of_ordered(ordered, probability)
    if below[0] > tail or above[0] > tail:
        return Interval(
            value=value,
            low=float(ordered[0]),
            high=float(ordered[-1]),
            confidence=max(0.0, float(1 - below[0] - above[0])),
            method=_RANGE,
            n=n,
            reaches_nominal=False,
        )
    low = _lower_limit(ordered, below, probability, tail)
    high = -_lower_limit(-ordered[::-1], above, 1 - probability, tail)
    return Interval(value, min(low, value), max(high, value), confidence, _INTERPOLATED, n)


def _lower_limit(ordered: Floats, cumulative: Floats, probability: float, tail: float) -> float:
    """Return the interpolated order statistic that exceeds the quantile with probability ``tail``."""
    n = ordered.size
    # P(X_(r) > quantile) = P(fewer than r values at or below it) = cumulative[r - 1].
    r = int(np.searchsorted(cumulative, tail, side="right"))
    if r >= n:
        return float(ordered[-1])
    share = (tail - cumulative[r - 1]) / (cumulative[r] - cumulative[r - 1])
    if share == 0:
        return float(ordered[r - 1])
    odds = r * (1 - probability) * (1 - share) / ((n - r) * probability * share)
    weight = 1 / (1 + odds)
    below, above = float(ordered[r - 1]), float(ordered[r])
    # Rounding may carry the mean of two equal values past them.
    return float(min(max((1 - weight) * below + weight * above, below), above))
