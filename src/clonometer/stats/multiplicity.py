"""Many tests are many chances: p-values corrected for their number.

References
----------
.. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate: a practical and powerful approach to multiple
       testing", Journal of the Royal Statistical Society B 57 (1995) 289-300.
.. [2] R. J. Simes, "An improved Bonferroni procedure for multiple tests of significance", Biometrika 73 (1986)
       751-754.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

#: From so many degrees of freedom on Student's t is taken for a normal value.
NEARLY_NORMAL = 200


def simes_p(p_values: Sequence[float]) -> float:
    """The p-value of all of several hypotheses at once [2]_: small if any of them is surely wrong among so many.

    Parameters
    ----------
    p_values
        Each in [0, 1]; of one at least.

    Returns
    -------
    float
        The least rate at which `false_discovery_level` counts one of them.

    Examples
    --------
    >>> round(simes_p([0.01, 0.5, 0.9]), 3), simes_p([0.04, 0.04])
    (0.03, 0.04)
    """
    return min(len(p_values) * p / place for place, p in enumerate(sorted(p_values), 1))


@lru_cache(maxsize=4096)
def score(error: float, degrees: int | None = None) -> float:
    """What a normal value, or Student's t, exceeds in size with a chance of ``error``.

    Parameters
    ----------
    error
        Between 0 and 1.
    degrees
        Degrees of freedom of t, at least 1; None for a normal value.

    Examples
    --------
    >>> round(score(0.05), 3), round(score(0.05, 4), 3), round(score(0.01, 7), 3)
    (1.96, 2.776, 3.499)
    """
    return NormalDist().inv_cdf(1 - error / 2) if degrees is None else student_quantile(1 - error / 2, degrees)


def student_quantile(probability: float, freedom: int) -> float:
    """A quantile above the middle of Student's distribution with a whole number of degrees of freedom.

    Examples
    --------
    >>> round(student_quantile(0.975, 5), 3), round(student_quantile(0.975, 10), 3)
    (2.571, 2.228)
    """
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"no upper quantile {probability} with {freedom} degrees of freedom")
    low, high = 0.0, math.pi / 2
    # The angle whose tangent is t over the root of the degrees of freedom: the distribution is a finite sum in it.
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, freedom) < 2 * probability - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan(high)


def student_p(score: float, freedom: float) -> float:
    """The chance that Student's t with so many degrees of freedom, rounded down, is as far from 0 as ``score``.

    From 200 degrees on it is taken for a normal one.

    Examples
    --------
    >>> round(student_p(2.571, 5), 3), round(student_p(1.96, math.inf), 3)
    (0.05, 0.05)
    """
    if freedom >= NEARLY_NORMAL:
        return math.erfc(abs(score) / math.sqrt(2))
    return max(0.0, 1 - student_within(abs(score), max(1, int(freedom))))


def student_within(score: float, freedom: int) -> float:
    """The chance that Student's t lies within ``score`` of 0.

    Examples
    --------
    >>> round(student_within(2.571, 5), 3)
    0.95
    """
    return _between(math.atan(score / math.sqrt(freedom)), freedom)


def _between(angle: float, freedom: int) -> float:
    """P(-t < T < t) by M. Abramowitz, I. Stegun, "Handbook of mathematical functions" (1964), 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for power in range(1 + odd, freedom, 2):
        total += term
        term *= power / (power + 1) * cosine**2
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def false_discovery_level(p_values: ArrayLike, error_rate: float, tests: int = 0) -> float:
    """The level at which each of many tests is judged, so that of all differences stated few are wrong.

    Parameters
    ----------
    p_values
        Shape (tests,): all tests of one report, each in [0, 1].
    error_rate
        The expected share of wrong statements among all of them. Where nothing differs, it is the chance that any
        is made.
    tests
        How many the report has, if more.

    Returns
    -------
    float
        A test counts if its p-value is at most this: the step-up procedure of Benjamini and Hochberg [1]_, k of m
        tests at the level k / m. It is that of one test where none counts.

    Examples
    --------
    >>> [round(false_discovery_level(values, 0.05), 3) for values in ([0.01, 0.02, 0.5, 0.03], [0.04, 0.5])]
    [0.038, 0.025]
    """
    ordered = np.sort(np.asarray(p_values, dtype=np.float64))
    places = np.arange(1, ordered.size + 1)
    size = max(ordered.size, tests, 1)
    counted = int(places[ordered <= error_rate * places / size].max(initial=1))
    return error_rate * counted / size
