"""Processes that follow each other in time may be alike: how much less they are worth, and what that does to a test.

References
----------
.. [1] G. V. Bayley, J. M. Hammersley, "The effective number of independent observations in an autocorrelated time
       series", Supplement to the Journal of the Royal Statistical Society 8 (1946) 184-197.
.. [2] C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473-483: where to stop adding.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values

_LEAST = 4
_NORMAL = NormalDist()


def serial_inflation(series: Iterable[ArrayLike]) -> float:
    """How many times as large the variance of a mean is as it would be of independent values, over many series.

    Parameters
    ----------
    series
        Each of shape (values,), in order of time, finite, in any unit: ranks are taken. Series of fewer than 4 values
        say nothing. All are taken to remember equally long, as those do that one machine drifts under, and to be
        independent but for that.

    Returns
    -------
    float
        At least 1; exactly 1 where nothing is known.

    Notes
    -----
    One series of 12 values tells next to nothing of its autocorrelation; dozens that were measured in turn tell much.
    Autocorrelations of the ranks are pooled over the series, corrected for the -1 / n that taking off the mean costs,
    lowered by their standard error, so that few series need not pay for their ignorance, and added up by pairs while
    these are positive [1]_ [2]_. A drift that is longer than the series themselves shows
    only in part: that part is taken off with the mean.

    Examples
    --------
    >>> serial_inflation([[1, 9, 2, 8, 3, 7, 4, 6]] * 9), serial_inflation([[1, 2, 3, 4, 5, 6, 7, 8]] * 9) > 2
    (1.0, True)
    """
    ranked = [_centred_ranks(values) for values in series]
    usable = [ranks for ranks in ranked if ranks.size >= _LEAST and ranks.any()]
    if not usable:
        return 1.0
    typical = float(np.median([ranks.size for ranks in usable]))
    lags = int(typical // 2)
    terms = [max(0.0, 1 - lag / typical) * _autocorrelation(usable, lag) for lag in range(1, lags + 1)]
    total = 1.0
    for first in range(0, len(terms) - 1, 2):
        pair = terms[first] + terms[first + 1]
        if pair <= 0:
            break
        total += 2 * pair
    return max(1.0, total)


def _centred_ranks(values: ArrayLike) -> Floats:
    own = finite_values(values)
    # Ties get the mean of their ranks: constant values are all alike and say nothing.
    _, which, counts = np.unique(own, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]
    return np.asarray(ranks - ranks.mean(), dtype=np.float64)


def _autocorrelation(series: list[Floats], lag: int) -> float:
    above = below = 0.0
    count = 0
    for ranks in series:
        pairs = ranks.size - lag
        if pairs < 1:
            continue
        variance = float((ranks**2).sum()) / (ranks.size - 1)
        above += float((ranks[:-lag] * ranks[lag:]).sum()) + pairs * variance / ranks.size
        below += pairs * variance
        count += pairs
    return above / below - count**-0.5 if below else 0.0


def inflated_p(p: float, inflation: float) -> float:
    """Correct a one-sided p-value for values that are worth fewer: its normal score is divided by the root.

    Parameters
    ----------
    p
        In (0, 1].
    inflation
        What `serial_inflation` gave, at least 1.

    Returns
    -------
    float
        Nearer to one half.

    Examples
    --------
    >>> round(inflated_p(0.001, 1.0), 6), round(inflated_p(0.001, 4.0), 3)
    (0.001, 0.061)
    """
    if p >= 1:
        return 1.0
    return _NORMAL.cdf(_NORMAL.inv_cdf(p) / inflation**0.5)


def deflated_p(p: float, inflation: float) -> float:
    """Undo `inflated_p`: the p-value that becomes ``p``."""
    return p if p >= 1 else _NORMAL.cdf(_NORMAL.inv_cdf(p) * inflation**0.5)
