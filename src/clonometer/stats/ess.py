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

from clonometer.stats.quantiles import Floats, finite_values, row_medians
from clonometer.stats.segments import equal_lengths

_TOO_SHORT = 4


def autocorrelations(rows: Floats) -> Floats:
    """Autocorrelation of each row at lags 0 to n - 1, normalised by lag 0 (the biased estimator, which decays).

    Parameters
    ----------
    rows
        Shape (rows, n), finite, each row in the order of measuring.

    Returns
    -------
    numpy.ndarray
        Shape (rows, n), float64, each row starting with 1. A constant row has no correlation: 1, then zeros.

    Examples
    --------
    >>> autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0]])).round(2).tolist()
    [[1.0, -0.75, 0.5, -0.25]]
    """
    n = rows.shape[1]
    centred = rows - rows.mean(axis=1, keepdims=True)
    largest = np.max(np.abs(centred), axis=1, keepdims=True)
    # Rounding in the mean leaves dust in a constant sequence, which would pass for correlation.
    constant = (np.ptp(rows, axis=1) == 0) | (largest[:, 0] == 0)
    largest[constant] = 1.0
    # Squares of very small differences underflow to nothing.
    centred = centred / largest
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, length)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), length)[:, :n]
    covariance[constant] = 0.0
    covariance[constant, 0] = 1.0
    return np.asarray(covariance / covariance[:, :1], dtype=np.float64)


def effective_sample_sizes(rows: Floats) -> Floats:
    """Effective sample size of each row for its mean, by Geyer's initial positive sequence [1]_.

    Parameters
    ----------
    rows
        Shape (rows, n), finite, each row in the order of measuring.

    Returns
    -------
    numpy.ndarray
        Shape (rows,), between 1 and n. A constant row and one of fewer than 4 values count in full: they show no
        dependence. Never more than n: alternating rows are not billed as better than independent ones.

    Examples
    --------
    >>> effective_sample_sizes(np.full((1, 10), 5.0)).tolist()
    [10.0]
    """
    n = rows.shape[1]
    if n < _TOO_SHORT:
        return np.full(rows.shape[0], float(n))
    even = autocorrelations(rows)[:, : n - n % 2]
    pairs = even[:, 0::2] + even[:, 1::2]
    # The initial sequence: what comes after the first pair that is not positive does not count.
    kept = np.logical_and.accumulate(pairs > 0, axis=1)
    time = np.maximum(1.0, -1.0 + 2.0 * np.where(kept, pairs, 0.0).sum(axis=1))
    return np.asarray(np.maximum(1.0, n / time), dtype=np.float64)


def effective_sample_size_of_medians(values: ArrayLike, first: ArrayLike) -> float:
    """Effective sample size for the median [2]_, summed over segments that are independent of each other.

    It is that of the sequence "is this value at or below the median": launch times have tails that swamp the plain
    autocorrelation; the indicator has none.

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring.
    first
        Shape (segments,): where each segment starts, rising from 0; none is empty.

    Returns
    -------
    float
        Between the number of segments and n.

    Raises
    ------
    ValueError
        If there is no value or one is not finite.

    Examples
    --------
    >>> effective_sample_size_of_medians([1.0, 1.0, 1.0, 2.0], [0, 3])
    4.0
    """
    array = finite_values(values)
    parts = (rows <= row_medians(rows)[:, None] for _, rows in equal_lengths(array, first))
    return float(sum(effective_sample_sizes(part.astype(np.float64)).sum() for part in parts))
