"""Processes that follow each other in time may be alike: how much less they are worth, and what that does to a test.

References
----------
.. [1] G. V. Bayley, J. M. Hammersley, "The effective number of independent observations in an autocorrelated time
       series", Supplement to the Journal of the Royal Statistical Society 8 (1946) 184-197.
.. [2] C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992) 473-483: where to stop adding.
.. [3] F. H. C. Marriott, J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41 (1954) 390-402.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.quantiles import Floats, finite_values, quantile_interval
from clonometer.stats.trend import MOST_VALUES, rank_von_neumann

#: So many pairs of a group's own values weigh as much as what all groups say together (`serial_inflations`).
PRIOR_PAIRS = 32
_LEAST = 4
_NORMAL = NormalDist()
_LEAST_ALIKE = 8
_ALIKE_P = 0.05
_MOST_RHO = 0.95
_LEAST_TAIL = 1e-12


def serial_inflations(groups: Sequence[Sequence[ArrayLike]], typical: Iterable[int] | None = None) -> list[float]:
    """How many times as large the variance of a mean is as it would be of independent values, for groups of series.

    Parameters
    ----------
    groups
        For each group its series, each of shape (values,), in order of time, finite, in any unit: ranks are taken.
        Series of fewer than 4 values say nothing. Those of a group are taken to remember equally long, and to be
        independent but for that.
    typical
        Places of the groups that together say what the others are like; all where None.

    Returns
    -------
    list of float
        One for each group, at least 1; exactly 1 where nothing is known.

    Notes
    -----
    One series of 12 values tells next to nothing of its autocorrelation; dozens that were measured in turn tell much.
    But what remembers long (a mode that holds for seconds, memory that drifts) need not be what its neighbours do. The
    autocorrelations of a group are its own, shrunk towards those of all that are typical as if these had been seen in
    `PRIOR_PAIRS` pairs of its own values: a dozen processes rest on the others, dozens on themselves.

    Autocorrelations are those of the ranks, corrected for the -1 / n that taking off the mean costs,
    lowered by their standard error, so that few series need not pay for their ignorance, and added up by pairs while
    these are positive [1]_ [2]_. A drift that is longer than the series themselves shows
    only in part: that part is taken off with the mean.

    Examples
    --------
    >>> steady, rising = [[1, 9, 2, 8, 3, 7, 4, 6] * 8], [list(range(64))]
    >>> [round(inflation) for inflation in serial_inflations([steady, steady, rising])]
    [1, 1, 14]
    """
    places = range(len(groups)) if typical is None else typical
    pool = _Correlations(series for place in places for series in groups[place])
    return [_added_up(_Correlations(group), pool) for group in groups]


class _Correlations:
    """Autocorrelations of the ranks of some series, pooled."""

    def __init__(self, series: Iterable[ArrayLike]) -> None:
        ranked = [_centred_ranks(values) for values in series]
        self._series = [ranks for ranks in ranked if ranks.size >= _LEAST and ranks.any()]
        self.typical_size = float(np.median([ranks.size for ranks in self._series])) if self._series else 0.0
        self._by_lag: dict[int, tuple[float, int]] = {}

    def at(self, lag: int) -> tuple[float, int]:
        """The autocorrelation at a lag, and the number of pairs that it rests on."""
        # Every group asks the pool for the same lags.
        if lag not in self._by_lag:
            self._by_lag[lag] = self._correlation(lag)
        return self._by_lag[lag]

    def _correlation(self, lag: int) -> tuple[float, int]:
        """Pool products and variances over the series; -1 / n, which taking off the mean costs, is put back."""
        above = below = 0.0
        count = 0
        for ranks in self._series:
            pairs = ranks.size - lag
            if pairs < 1:
                continue
            variance = float((ranks**2).sum()) / (ranks.size - 1)
            above += float((ranks[:-lag] * ranks[lag:]).sum()) + pairs * variance / ranks.size
            below += pairs * variance
            count += pairs
        return (above / below, count) if below else (0.0, 0)


def _added_up(group: _Correlations, pool: _Correlations) -> float:
    """Sum the autocorrelations, by pairs while these are positive."""
    size = group.typical_size or pool.typical_size
    if not size:
        return 1.0
    terms = [max(0.0, 1 - lag / size) * _shrunk(group, pool, lag) for lag in range(1, int(size // 2) + 1)]
    total = 1.0
    for first in range(0, len(terms) - 1, 2):
        pair = terms[first] + terms[first + 1]
        if pair <= 0:
            break
        total += 2 * pair
    return max(1.0, total)


def _shrunk(group: _Correlations, pool: _Correlations, lag: int) -> float:
    """The autocorrelation of a group, lowered by its standard error."""
    correlation, pairs = group.at(lag)
    typical, count = pool.at(lag)
    weight = pairs / (pairs + PRIOR_PAIRS)
    error = weight**2 / pairs if pairs else 0.0
    error += (1 - weight) ** 2 / count if count else 0.0
    return float(weight * correlation + (1 - weight) * typical - error**0.5)


def _centred_ranks(values: ArrayLike) -> Floats:
    checked = finite_values(values)
    # Ties get the mean of their ranks: constant values are all alike and say nothing.
    _, which, counts = np.unique(checked, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]
    return np.asarray(ranks - ranks.mean(), dtype=np.float64)


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
        variance of a mean. Never wider than the range, and then not nominal.

    Notes
    -----
    The correlation is that of the ranks at lag 1, corrected for the bias of its estimate, (1 + 3 rho) / n [3]_. Of few
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
    tail = deflated_p((1 - confidence) / 2, inflation)
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
    ranks = _centred_ranks(values)
    square = float((ranks**2).sum())
    if square == 0:
        return 1.0
    size = values.size
    correlation = float((ranks[1:] * ranks[:-1]).sum()) / square
    rho = min(max(correlation + (1 + 3 * correlation) / size, 0.0), _MOST_RHO)
    lags = np.arange(1, size)
    return 1 + 2 * float(((1 - lags / size) * rho**lags).sum())


def inflated_p(p: float, inflation: float) -> float:
    """Correct a one-sided p-value for values that are worth fewer: its normal score is divided by the root.

    Parameters
    ----------
    p
        In (0, 1].
    inflation
        What `serial_inflations` gave, at least 1.

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
    return _lower_tail(_NORMAL.inv_cdf(p) / inflation**0.5)


def deflated_p(p: float, inflation: float) -> float:
    """Undo `inflated_p`: the p-value that becomes ``p``."""
    return p if p >= 1 else _lower_tail(_NORMAL.inv_cdf(p) * inflation**0.5)


def _lower_tail(score: float) -> float:
    """P(Z <= score), also where `NormalDist.cdf` has no digit left: below -8 scores."""
    return math.erfc(-score / math.sqrt(2)) / 2
