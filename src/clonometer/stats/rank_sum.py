"""Wilcoxon's rank-sum test of two sides, exact.

It asks whether values of one side tend to be larger, by their order alone: no distribution is assumed and one
wild process moves it no further than any other. Under the hypothesis that all values are exchangeable every
order is as likely as any other, which gives the exact distribution [1]_.

References
----------
.. [1] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than
       the other", Annals of Mathematical Statistics 18 (1947) 50-60.
.. [2] B. Streitberg, J. Röhmel, "Exact distributions for permutation and rank tests", Statistical Software
       Newsletter 12 (1986) 10-17: the shift algorithm.
.. [3] J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34
       (1963) 598-611: the shift between two sides, and the interval that is the test turned around.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate
from operator import sub
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.percentile import exponential
from clonometer.stats.quantiles import Floats, finite_values

#: Above, the normal approximation takes over: its tails are then the wider ones.
MOST_EXACT = 40
_METHOD = "median of all differences of two processes, rank sums turned around"


def rank_sum_p(a: ArrayLike, b: ArrayLike) -> tuple[float, float]:
    """One-sided p-values: that A's values are larger than B's only by chance, and smaller.

    Parameters
    ----------
    a, b
        Shapes (n,) and (m,), finite, any unit.

    Returns
    -------
    larger, smaller
        In (0, 1]: a small ``larger`` says that A's values are larger.

    Raises
    ------
    ValueError
        If a side has no value, or a value is not finite.

    Notes
    -----
    Ties count half; where there are any, the distribution is the exact one given these ties [2]_: constant samples
    give 1. Beyond 40 values on a side the normal approximation is used, corrected for ties and continuity.

    Examples
    --------
    >>> rank_sum_p([5, 6, 7, 8], [1, 2, 3, 4])
    (0.014285714285714285, 1.0)
    """
    left, right = finite_values(a, "a side"), np.sort(finite_values(b, "a side"))
    n, m = left.size, right.size
    # Of B's values those below each of A's, a tie counting half.
    wins = float(sum(np.searchsorted(right, left, side=side).sum() for side in ("left", "right"))) / 2
    counts = np.unique(np.concatenate([left, right]), return_counts=True)[1]
    if max(n, m) > MOST_EXACT:
        spread = _spread(n, m, counts)
        return _normal(wins, n, m, spread), _normal(n * m - wins, n, m, spread)
    if counts.max() > 1:
        return _tied_tails(counts, n, wins)
    at_least = _upper_tail(n, m)
    # P(U >= u) by symmetry also serves the other side: U' = nm - U.
    return float(at_least[int(wins)]), float(at_least[n * m - int(wins)])


def two_sided_p(a: ArrayLike, b: ArrayLike) -> float:
    """The p-value of either side's values being larger: twice the smaller of `rank_sum_p`, at most 1; errors as there.

    Examples
    --------
    >>> two_sided_p([5, 6, 7, 8], [1, 2, 3, 4])
    0.02857142857142857
    """
    return min(1.0, 2 * min(rank_sum_p(a, b)))


def shift_interval(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """By how much A's values are larger than B's, with the shifts that the test does not reject [3]_.

    Parameters
    ----------
    a, b
        Shapes (n,) and (m,), finite, same unit.

    Returns
    -------
    Interval
        The median of all n m differences, and two of them as its ends; ``n`` is the smaller side. Where so few values
        exclude nothing, ``reaches_nominal`` is False and the ends are those of all differences.

    Raises
    ------
    ValueError
        If a side has no value, or a value is not finite.

    Notes
    -----
    Where processes have one of two levels, the medians of both sides jump between these, and the median of differences
    hardly moves. Ties are not corrected for: the interval is then the wider one. What both sides share in time, as a
    drift of the machine, widens it too.

    Examples
    --------
    >>> shift_interval([5, 6, 7, 8], [1, 2, 3, 4]).ends
    (4.0, 1.0, 7.0)
    """
    left, right = finite_values(a, "a side"), finite_values(b, "a side")
    n, m = left.size, right.size
    tail = (1 - confidence) / 2
    if max(n, m) > MOST_EXACT:
        spread = math.sqrt(n * m * (n + m + 1) / 12)
        place = math.floor(n * m / 2 - 0.5 + NormalDist().inv_cdf(tail) * spread) + 1
    else:
        place = int(np.searchsorted(_upper_tail(n, m)[::-1], tail, side="right"))
    nominal = place >= 1
    differences = (left[:, np.newaxis] - right).ravel()
    middle, ends = n * m // 2, (max(place, 1) - 1, -max(place, 1))
    differences.partition(sorted({middle, (n * m - 1) // 2, ends[0], n * m + ends[1]}))
    value = (differences[(n * m - 1) // 2] + differences[middle]) / 2
    covered = confidence if nominal else 1 - 2 * least_p(n, m)
    low, high = (float(differences[end]) for end in ends)
    return Interval(float(value), low, high, max(0.0, covered), _METHOD, min(n, m), nominal)


def ratio_interval(a: ArrayLike, b: ArrayLike) -> Interval:
    """How many times as large A's values are as B's, all positive: `shift_interval` of their logarithms.

    Examples
    --------
    >>> round(ratio_interval([3.0] * 8, [2.0] * 8).value, 3)
    1.5
    """
    left, right = finite_values(a, "a side"), finite_values(b, "a side")
    if min(left.min(), right.min()) <= 0:
        raise ValueError("a ratio needs positive values on both sides")
    return exponential(shift_interval(np.log(left), np.log(right)))


@lru_cache(maxsize=256)
def least_p(n: int, m: int) -> float:
    """The smallest one-sided p-value that ``n`` and ``m`` values can give.

    Examples
    --------
    >>> least_p(3, 3), round(1 / least_p(12, 12))
    (0.05, 2704156)
    """
    return 1 / math.comb(n + m, n)


@lru_cache(maxsize=256)
def _upper_tail(n: int, m: int) -> Floats:
    """P(U >= u) for u = 0 ... nm, if all orders are equally likely."""
    # Mann and Whitney's recurrence as a product: the number of orders with U = u is the coefficient of q^u in
    # the Gaussian binomial, built factor by factor: multiply by (1 - q^(m + i)), divide by (1 - q^i).
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        counts[m + i :] = map(sub, counts[m + i :], counts)
        for first in range(i):
            counts[first::i] = accumulate(counts[first::i])
    # Whole numbers until here, because the terms are huge and cancel.
    total = math.comb(n + m, n)
    return np.array([count / total for count in accumulate(reversed(counts))], dtype=np.float64)[::-1]


def _spread(n: int, m: int, counts: NDArray[np.intp]) -> float:
    """The standard deviation of U, where ``counts`` says how often each different value came."""
    total = n + m
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    return math.sqrt(max(0.0, n * m * (total + 1 - ties / (total * (total - 1))) / 12))


def _normal(wins: float, n: int, m: int, spread: float) -> float:
    """P(U >= wins) for a normal U, never below what the smallest exact one is."""
    if spread == 0:
        return 1.0
    tail = math.erfc((wins - 0.5 - n * m / 2) / spread / math.sqrt(2)) / 2
    return min(1.0, max(tail, least_p(n, m)))


def _tied_tails(counts: NDArray[np.intp], n: int, wins: float) -> tuple[float, float]:
    """P(U >= wins) and P(U <= wins), given how often each different value came."""
    below = np.cumsum(counts) - counts
    doubled_ranks = np.repeat(2 * below + counts + 1, counts)
    # ways[k, s]: choices of k values whose doubled mid-ranks sum to s.
    ways = np.zeros((n + 1, int(doubled_ranks.sum()) + 1))
    ways[0, 0] = 1
    beyond = 1
    for seen, rank in enumerate(doubled_ranks.tolist(), 1):
        beyond += rank
        most = min(seen, n)
        ways[1 : most + 1, rank:beyond] += ways[:most, : beyond - rank]
    sums = ways[n]
    at = round(2 * wins) + n * (n + 1)
    return min(1.0, float(sums[at:].sum() / sums.sum())), min(1.0, float(sums[: at + 1].sum() / sums.sum()))
