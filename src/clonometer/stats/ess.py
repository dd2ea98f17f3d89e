"""Effective sample size: how many independent values a sequence of dependent ones is worth.

References
----------
.. [1] C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473-483: the initial
       positive sequence.
.. [2] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, "Rank-normalization, folding, and
       localization", Bayesian Analysis 16 (2021) 667-718: effective sample size for quantiles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values

_TOO_SHORT = 4


def autocorrelation(values: ArrayLike) -> Floats:
    """Autocorrelation at lags 0 to n - 1, normalised by lag 0 (the biased estimator, which decays).

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring.

    Returns
    -------
    numpy.ndarray
        Shape (n,), float64, starting with 1. A constant sequence has no correlation: 1, then zeros.

    Raises
    ------
    ValueError
        If there is no value or one is not finite.

    Examples
    --------
    >>> autocorrelation([1.0, -1.0, 1.0, -1.0]).round(2).tolist()
    [1.0, -0.75, 0.5, -0.25]
    """
    array = finite_values(values)
    n = array.size
    centred = array - array.mean()
    largest = float(np.max(np.abs(centred)))
    # Rounding in the mean leaves dust in a constant sequence, which would pass for correlation.
    if np.ptp(array) == 0 or largest == 0:
        return np.concatenate([[1.0], np.zeros(n - 1)])
    # Squares of very small differences underflow to nothing.
    centred = centred / largest
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, length)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), length)[:n]
    return np.asarray(covariance / covariance[0], dtype=np.float64)


def effective_sample_size(values: ArrayLike) -> float:
    """Effective sample size for the mean, by Geyer's initial positive sequence [1]_.

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring.

    Returns
    -------
    float
        Between 1 and n. A constant sequence and one of fewer than 4 values count in full: they show no
        dependence. Never more than n: alternating sequences are not billed as better than independent ones.

    Raises
    ------
    ValueError
        If there is no value or one is not finite.

    Examples
    --------
    >>> effective_sample_size([5.0] * 10)
    10.0
    """
    array = finite_values(values)
    n = array.size
    if n < _TOO_SHORT:
        return float(n)
    correlation = autocorrelation(array)
    even = correlation[: n - n % 2]
    pairs = even[0::2] + even[1::2]
    negative = np.flatnonzero(pairs <= 0)
    kept = pairs[: negative[0]] if negative.size else pairs
    time = max(1.0, -1.0 + 2.0 * float(kept.sum()))
    return float(max(1.0, n / time))


def effective_sample_size_of_median(values: ArrayLike) -> float:
    """Effective sample size for the median [2]_: that of the sequence "is this value at or below the median".

    Launch times have tails that swamp the plain autocorrelation; the indicator has none.

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring.

    Returns
    -------
    float
        Between 1 and n.

    Raises
    ------
    ValueError
        If there is no value or one is not finite.

    Examples
    --------
    >>> effective_sample_size_of_median([1.0, 1.0, 1.0])
    3.0
    """
    array = finite_values(values)
    return effective_sample_size((array <= np.median(array)).astype(np.float64))
