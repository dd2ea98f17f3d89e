"""Processes that follow each other in time may be alike: how much less they are worth, and how much wider that is.

References
----------
.. [1] G. V. Bayley, J. M. Hammersley, "The effective number of independent observations in an autocorrelated time
       series", Supplement to the Journal of the Royal Statistical Society 8 (1946) 184-197.
.. [2] F. H. C. Marriott, J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41 (1954) 390-402.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.quantiles import Floats, finite_values, quantile_interval
from clonometer.stats.trend import MOST_VALUES, mean_ranks, rank_von_neumann

_NORMAL = NormalDist()
_LEAST_ALIKE = 8
_ALIKE_P = 0.05
_MOST_RHO = 0.95
_LEAST_TAIL = 1e-12


def median_in_time(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Estimate the median of values that may be alike where they are near in time.

    Parameters
    ----------
    values
        Shape (n,), in order of time, finite, in any unit.
    confidence
        Coverage asked for.

    Returns
    -------
    Interval
        That of `quantile_interval`. Where neighbours are alike (`rank_von_neumann` below 0.05) its
        normal score is multiplied by the root of the factor by which an AR(1) of their correlation inflates the
        variance of a mean [1]_. Never wider than the range, and then not nominal.

    Notes
    -----
    The correlation is that of the ranks at lag 1, corrected for the bias of its estimate, (1 + 3 rho) / n [2]_. Of few
    values it is uncertain itself: what drifts is covered better so, and still not well (docs/methods.md).

    Examples
    --------
    >>> steady, rising = median_in_time([3, 9, 1, 7, 5, 2, 8, 4]), median_in_time([1, 2, 3, 4, 5, 7, 8, 9])
    >>> steady.high - steady.low < rising.high - rising.low, rising.reaches_nominal
    (True, False)
    """
    series = finite_values(values)
    inflation = inflation_in_time(series)
    if inflation == 1:
        return quantile_interval(series, 0.5, confidence)
    tail = _deflated_p((1 - confidence) / 2, inflation)
    wider = quantile_interval(series, 0.5, max(confidence, 1 - 2 * max(tail, _LEAST_TAIL)))
    return replace(wider, confidence=min(wider.confidence, confidence))


def inflation_in_time(values: ArrayLike) -> float:
    """How many times as large the variance of a mean of these values is as of independent ones, by one series alone.

    Parameters
    ----------
    values
        Shape (n,), in order of time, finite, in any unit.

    Returns
    -------
    float
        That of an AR(1) with the values' own correlation (see `median_in_time`), at least 1; exactly 1 below 8 values
        and where neighbours are not seen to be alike.

    Examples
    --------
    >>> inflation_in_time([3, 9, 1, 7, 5, 2, 8, 4]), inflation_in_time([1, 2, 3, 4, 5, 7, 8, 9]) > 2
    (1.0, True)
    """
    series = finite_values(values)
    if series.size < _LEAST_ALIKE or rank_von_neumann(series[:MOST_VALUES]).p_value >= _ALIKE_P:
        return 1.0
    return max(1.0, _ar1_inflation(series))


def _ar1_inflation(values: Floats) -> float:
    # Ties get the mean of their ranks: constant values are all alike and say nothing.
    ranks = mean_ranks(values)
    ranks -= ranks.mean()
    square = float((ranks**2).sum())
    if square == 0:
        return 1.0
    size = values.size
    correlation = float((ranks[1:] * ranks[:-1]).sum()) / square
    rho = min(max(correlation + (1 + 3 * correlation) / size, 0.0), _MOST_RHO)
    lags = np.arange(1, size)
    return 1 + 2 * float(((1 - lags / size) * rho**lags).sum())


def _deflated_p(p: float, inflation: float) -> float:
    """The tail beyond the normal score of ``p`` times the root: what so much more uncertain values need."""
    # Not `NormalDist.cdf`, which has no digit left below -8 scores.
    return math.erfc(-_NORMAL.inv_cdf(p) * inflation**0.5 / math.sqrt(2)) / 2
