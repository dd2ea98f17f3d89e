"""Wilcoxon's rank-sum test of two sides, exact and for many rows at once.

It asks whether values of one side tend to be larger, by their order alone: no distribution is assumed and one
wild process moves it no further than any other. Under the hypothesis that all values are exchangeable every
order is as likely as any other, which gives the exact distribution [1]_.

References
----------
.. [1] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than
       the other", Annals of Mathematical Statistics 18 (1947) 50-60.
.. [2] B. Streitberg, J. Röhmel, "Exact distributions for permutation and rank tests", Statistical Software
       Newsletter 12 (1986) 10-17: the shift algorithm.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats

#: Above, the normal approximation takes over: its tails are then the wider ones.
MOST_EXACT = 40
_CHUNK = 4_000_000


def rank_sum_p(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """One-sided p-values, row by row: that A's values are larger than B's only by chance, and smaller.

    Parameters
    ----------
    a, b
        Shapes (rows, n) and (rows, m), finite, any unit; a one-dimensional array is one row.

    Returns
    -------
    larger, smaller
        Two float64 arrays of shape (rows,), in (0, 1]: a small ``larger`` says that A's values are larger.

    Raises
    ------
    ValueError
        If the rows differ in number, a side has no value, or a value is not finite.

    Notes
    -----
    Ties count half, and rows that have any get the exact distribution given their ties [2]_: constant samples
    give 1. Beyond 40 values on a side the normal approximation is used, corrected for ties and continuity.

    Examples
    --------
    >>> [float(p[0]) for p in rank_sum_p([5, 6, 7, 8], [1, 2, 3, 4])]
    [0.014285714285714285, 1.0]
    """
    left, right = _rows(a), _rows(b)
    if left.shape[0] != right.shape[0]:
        raise ValueError(f"{left.shape[0]} rows on one side, {right.shape[0]} on the other")
    n, m = left.shape[1], right.shape[1]
    both = np.concatenate([left, right], axis=1)
    order = np.argsort(both, axis=1)
    both = np.take_along_axis(both, order, axis=1)
    tied = (np.diff(both, axis=1) == 0).any(axis=1)
    # Without ties the pairs won are A's ranks less the least that these can sum to: sorting is quicker than pairing.
    wins = ((order < n) @ np.arange(1.0, n + m + 1)) - n * (n + 1) / 2
    if tied.any():
        wins[tied] = _wins(left[tied], right[tied])
    at_least = _upper_tail(n, m)
    # P(U >= u) by symmetry also serves the other side: U' = nm - U.
    larger = at_least[np.floor(wins).astype(np.int64)]
    smaller = at_least[np.floor(n * m - wins).astype(np.int64)]
    for row in np.flatnonzero(tied):
        larger[row], smaller[row] = _tied_tails(both[row], n, float(wins[row]))
    return larger, smaller


@lru_cache(maxsize=256)
def least_p(n: int, m: int) -> float:
    """The smallest one-sided p-value that ``n`` and ``m`` values can give.

    Examples
    --------
    >>> least_p(3, 3), round(1 / least_p(12, 12))
    (0.05, 2704156)
    """
    return 1 / math.comb(n + m, n)


def _rows(values: ArrayLike) -> Floats:
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"a side must have shape (rows, values), not {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError("values must be finite")
    return array


def _wins(a: Floats, b: Floats) -> Floats:
    """Count, for each row, the pairs in which A's value is larger; a tie counts half."""
    step = max(1, _CHUNK // (a.shape[1] * b.shape[1]))
    parts = []
    for start in range(0, a.shape[0], step):
        left, right = a[start : start + step, :, None], b[start : start + step, None, :]
        parts.append((left > right).sum(axis=(1, 2)) + (left == right).sum(axis=(1, 2)) / 2)
    return np.concatenate(parts).astype(np.float64)


@lru_cache(maxsize=256)
def _upper_tail(n: int, m: int) -> Floats:
    """P(U >= u) for u = 0 ... nm, if all orders are equally likely."""
    if max(n, m) > MOST_EXACT:
        return _normal_tail(n, m)
    # Mann and Whitney's recurrence as a product: the number of orders with U = u is the coefficient of q^u in
    # the Gaussian binomial, built factor by factor: multiply by (1 - q^(m + i)), divide by (1 - q^i).
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):
            counts[u] += counts[u - i]
    # Whole numbers until here, because the terms are huge and cancel.
    total = math.comb(n + m, n)
    tail, running = [0.0] * (n * m + 1), 0
    for u in range(n * m, -1, -1):
        running += counts[u]
        tail[u] = running / total
    return np.array(tail, dtype=np.float64)


def _normal_tail(n: int, m: int) -> Floats:
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    return np.array([_normal(u, n, m, spread) for u in range(n * m + 1)], dtype=np.float64)


def _normal(wins: float, n: int, m: int, spread: float) -> float:
    """P(U >= wins) for a normal U, never below what the smallest exact one is."""
    if spread == 0:
        return 1.0
    tail = math.erfc((wins - 0.5 - n * m / 2) / spread / math.sqrt(2)) / 2
    return min(1.0, max(tail, least_p(n, m)))


def _tied_tails(ordered: Floats, n: int, wins: float) -> tuple[float, float]:
    """P(U >= wins) and P(U <= wins), given which of the values are tied."""
    total = ordered.size
    m = total - n
    _, counts = np.unique(ordered, return_counts=True)
    if max(n, m) > MOST_EXACT:
        ties = float((counts.astype(np.float64) ** 3 - counts).sum())
        spread = math.sqrt(max(0.0, n * m / 12 * (total + 1 - ties / (total * (total - 1)))))
        return _normal(wins, n, m, spread), _normal(n * m - wins, n, m, spread)
    below = np.cumsum(counts) - counts
    doubled_ranks = np.repeat(2 * below + counts + 1, counts)
    # ways[k, s]: choices of k values whose doubled mid-ranks sum to s.
    ways = np.zeros((n + 1, int(doubled_ranks.sum()) + 1))
    ways[0, 0] = 1
    for rank in doubled_ranks.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    sums = ways[n]
    at = round(2 * wins) + n * (n + 1)
    return min(1.0, float(sums[at:].sum() / sums.sum())), min(1.0, float(sums[: at + 1].sum() / sums.sum()))
