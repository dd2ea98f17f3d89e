"""Effective sample size: how many independent values a sequence of dependent ones is worth.

References
----------
.. [1] C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473-483: the initial
       positive sequence.
.. [2] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, "Rank-normalization, folding, and
       localization", Bayesian Analysis 16 (2021) 667-718: effective sample size for quantiles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats, finite_values
from clonometer.stats.segments import segment_medians, similar_lengths

_TOO_SHORT = 4


def autocorrelations(rows: Floats, lengths: NDArray[Any] | None = None) -> Floats:
    """Autocorrelation of each row at lags 0 to n - 1, normalised by lag 0 (the biased estimator, which decays).

    Parameters
    ----------
    rows
        Shape (rows, n), finite, each row in the order of measuring.
    lengths
        Shape (rows,): how many values each row has, where shorter ones are filled up with zeros; None: n each.

    Returns
    -------
    numpy.ndarray
        Shape (rows, n), float64, each row starting with 1. A constant row has no correlation: 1, then zeros. Behind the
        lags of a shorter row there is nothing of meaning.

    Examples
    --------
    >>> autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0]])).round(2).tolist()
    [[1.0, -0.75, 0.5, -0.25]]
    """
    n = rows.shape[1]
    sizes = np.full(rows.shape[0], n) if lengths is None else lengths
    inside = np.arange(n) < sizes[:, None]
    centred = np.where(inside, rows - (rows.sum(axis=1) / sizes)[:, None], 0.0)
    largest = np.max(np.abs(centred), axis=1, keepdims=True)
    # Rounding in the mean leaves dust in a constant sequence, which would pass for correlation.
    constant = (~inside | (rows == rows[:, :1])).all(axis=1) | (largest[:, 0] == 0)
    largest[constant] = 1.0
    # Squares of very small differences underflow to nothing.
    centred = centred / largest
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, length)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), length)[:, :n]
    covariance[constant] = 0.0
    covariance[constant, 0] = 1.0
    return np.asarray(covariance / covariance[:, :1], dtype=np.float64)


def effective_sample_sizes(rows: Floats, lengths: NDArray[Any] | None = None) -> Floats:
    """Effective sample size of each row for its mean, by Geyer's initial positive sequence [1]_.

    Parameters
    ----------
    rows, lengths
        As of `autocorrelations`.

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
    sizes = np.full(rows.shape[0], n) if lengths is None else lengths
    if n < _TOO_SHORT:
        return sizes.astype(np.float64)
    even = autocorrelations(rows, lengths)[:, : n - n % 2]
    pairs = even[:, 0::2] + even[:, 1::2]
    whole = np.arange(pairs.shape[1]) < (sizes // 2)[:, None]
    # The initial sequence: what comes after the first pair that is not positive does not count.
    kept = np.logical_and.accumulate((pairs > 0) & whole, axis=1)
    time = np.maximum(1.0, -1.0 + 2.0 * np.where(kept, pairs, 0.0).sum(axis=1))
    return np.where(sizes < _TOO_SHORT, sizes, np.maximum(1.0, sizes / time))


def effective_sample_size_of_medians(values: ArrayLike, first: ArrayLike, medians: Floats | None = None) -> float:
    """Effective sample size for the median [2]_, summed over segments that are independent of each other.

    It is that of the sequence "is this value at or below the median": launch times have tails that swamp the plain
    autocorrelation; the indicator has none.

    Parameters
    ----------
    values
        Shape (n,), finite, in the order of measuring.
    first
        Shape (segments,): where each segment starts, rising from 0; none is empty.
    medians
        Shape (segments,): their medians, where they are known already.

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
    if medians is None:
        medians = segment_medians(array, first)
    below = (array <= np.repeat(medians, np.diff(first, append=array.size))).astype(np.float64)
    parts = similar_lengths(below, first, 0.0)
    return float(sum(effective_sample_sizes(rows, lengths).sum() for _, lengths, rows in parts))
