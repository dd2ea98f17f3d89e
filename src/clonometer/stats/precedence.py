"""Whether the fastest of one side are slower than those of another: a test of a low quantile, by order alone.

A precedence test counts how many values of one side come before an order statistic of the other [1]_ [2]_. Here the
order statistics move apart from the quantile in steps: at each, a higher one of the one side must still come before a
lower one of the other. The steps are nested, so the last that holds has an exact p-value if every order of all
values is as likely as any other.

References
----------
.. [1] H. C. Mathisen, "A method of testing the hypothesis that two samples are from the same population", Annals of
       Mathematical Statistics 14 (1943) 188-194.
.. [2] N. Balakrishnan, H. K. T. Ng, "Precedence-type tests and applications", Wiley 2006.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import CONFIDENCE
from clonometer.stats.quantiles import Floats, finite_values
from clonometer.stats.serial import deflated_p

_LEAST = 1e-300


class Step(NamedTuple):
    """A claim that the second side is larger about the quantile, and how likely it is by chance.

    Attributes
    ----------
    first, second
        The claim: the order statistic ``first`` of the first side (1 is its smallest value) lies below the order
        statistic ``second`` of the second.
    p
        Its probability if all values are exchangeable.
    """

    first: int
    second: int
    p: float


@lru_cache(maxsize=256)
def steps(n: int, m: int, share: float) -> tuple[Step, ...]:
    """The claims in order: each implies all before it.

    Parameters
    ----------
    n, m
        How many values the sides have, at least 1.
    share
        The quantile, in (0, 0.5].

    Returns
    -------
    tuple of Step
        From one that holds by chance in about half of all cases to that of all ``n`` below all ``m``.

    Examples
    --------
    >>> [(step.first, step.second, round(step.p, 3)) for step in steps(4, 4, 0.25)]
    [(1, 2, 0.786), (2, 2, 0.5), (2, 1, 0.214), (3, 1, 0.071), (4, 1, 0.014)]
    """
    lowest, highest = math.ceil(share * n), math.floor(share * m) + 1
    # As many standard errors from the quantile on either side.
    pace = (m / n) ** 0.5
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + m + 1)))])
    claims: list[Step] = []
    # One side moves at a time: fewer steps would round every p-value up.
    for moved in range(2 * (n - lowest) + 1):
        first, second = lowest + (moved + 1) // 2, min(m, max(1, highest - round(moved // 2 * pace)))
        if claims and claims[-1][:2] == (first, second):
            continue
        claims.append(Step(first, second, _chance(n, m, first, second, logs)))
    return tuple(claims)


def _chance(n: int, m: int, first: int, second: int, log_factorials: Floats) -> float:
    """Of the ``first + second - 1`` smallest values at least ``first`` are of the first side: hypergeometric."""

    def log_choose(of: int, taken: Floats) -> Floats:
        places = taken.astype(np.int64)
        return np.asarray(log_factorials[of] - log_factorials[places] - log_factorials[of - places])

    smallest = first + second - 1
    of_first = np.arange(max(first, smallest - m), min(n, smallest) + 1, dtype=np.float64)
    terms = (
        log_choose(n, of_first) + log_choose(m, smallest - of_first) - log_choose(n + m, np.array([float(smallest)]))
    )
    # A probability too small for a float is still none of zero.
    return float(min(1.0, max(np.exp(terms).sum(), _LEAST)))


def precedence_p(base: ArrayLike, other: ArrayLike, share: float) -> float:
    """One-sided p-value that the other side's quantile is larger only by chance.

    Parameters
    ----------
    base, other
        Shapes (n,) and (m,), finite, any one unit.
    share
        The quantile, in (0, 0.5].

    Returns
    -------
    float
        In (0, 1]; a tie speaks against a difference.

    Raises
    ------
    ValueError
        If a side has no value, or one is not finite.

    Examples
    --------
    >>> round(precedence_p([1, 2, 3, 9], [4, 5, 6, 7], 0.25), 3)
    0.071
    """
    first, second = np.sort(finite_values(base)), np.sort(finite_values(other))
    p = 1.0
    for step in steps(first.size, second.size, share):
        if first[step.first - 1] >= second[step.second - 1]:
            break
        p = step.p
    return p


def critical_step(n: int, m: int, share: float, p: float) -> Step | None:
    """The first claim that is as unlikely as ``p``; None where none is."""
    return next((step for step in steps(n, m, share) if step.p <= p), None)


def quantile_shift(
    base: ArrayLike, other: ArrayLike, share: float, *, inflation: float = 1.0
) -> tuple[float, float, float]:
    """How far the other side's quantile lies from the base's, with the 95% interval of the test.

    Parameters
    ----------
    base, other
        Shapes (n,) and (m,), finite, any one unit.
    share
        The quantile, in (0, 0.5].
    inflation
        How many times as uncertain a side's quantile is as that of independent values.

    Returns
    -------
    tuple of float
        The difference of the quantiles, and the ends of the interval: all shifts of the other side that the test does
        not reject, either way. Of values too few for the coverage, the widest that they can give.

    Examples
    --------
    >>> base = [float(value) for value in range(40)]
    >>> quantile_shift(base, [value + 5 for value in base], 0.25)
    (5.0, -3.0, 13.0)
    """
    first, second = np.sort(finite_values(base)), np.sort(finite_values(other))
    tail = deflated_p((1 - CONFIDENCE) / 2, inflation)
    value = float(np.quantile(second, share) - np.quantile(first, share))
    up = _surest(first.size, second.size, share, tail)
    down = _surest(second.size, first.size, share, tail)
    low = float(second[up.second - 1] - first[up.first - 1])
    high = float(second[down.first - 1] - first[down.second - 1])
    return value, min(low, value), max(high, value)


def _surest(n: int, m: int, share: float, p: float) -> Step:
    return critical_step(n, m, share, p) or steps(n, m, share)[-1]
