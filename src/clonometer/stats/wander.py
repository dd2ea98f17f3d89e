"""What wandering along a run adds to the variance of a mean, beyond what the scatter of its values explains.

Whether values wander at all is the question of `clonometer.stats.trend.keeps_level`, which sees more of one series.
This is how much: one series hardly tells, the mean over many does.

References
----------
.. [1] F. E. Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2
       (1946) 110-114.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from numpy.typing import ArrayLike

from clonometer.stats.quantiles import finite_values
from clonometer.stats.trend import LEAST_VALUES


def added_by_wandering(many: Iterable[ArrayLike]) -> float:
    """Estimate what wandering adds to the variance of the mean of values in order of time, by many such series.

    Parameters
    ----------
    many
        Series of shape (n,), in order of time, finite, in one unit; n may differ. Those of fewer than 8 values, and
        those that do not scatter, tell nothing.

    Returns
    -------
    float
        In the squared unit of the values; 0 of nothing. The squared distance of the last third's mean from the first's,
        less what independent values make of it: its mean over the series, each weighted by how little it scatters.

    Notes
    -----
    A random walk moves its mean over a run away from its beginning by a variance of T / 3, and thirds of it apart by
    5 T / 9: what is seen within a run is a little more than what wandering adds to its mean. What wanders slower than
    the run cannot be seen in it. The squared distance over its expectation is of the F distribution with 1 and n - 3
    degrees of freedom, whose mean is (n - 3) / (n - 5).

    Examples
    --------
    >>> added_by_wandering([range(12), range(12)]) > 50, added_by_wandering([[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]])
    (True, 0.0)
    """
    excess = weight = 0.0
    for values in many:
        series = finite_values(values)
        third, freedom = series.size // 3, series.size - 3
        if series.size < LEAST_VALUES:
            continue
        parts = series[:third], series[third:-third], series[-third:]
        expected = 2 / freedom / third * sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        if expected > 0:
            excess += float((parts[2].mean() - parts[0].mean()) ** 2) / expected - freedom / (freedom - 2)
            weight += 1 / expected
    return max(0.0, excess) / weight if weight else 0.0


def freedom_of_differences(pairs: Sequence[tuple[Hashable, Hashable]]) -> float:
    """How many degrees of freedom the mean square of differences has, whose sides take part in several of them.

    Parameters
    ----------
    pairs
        The two sides of each difference; each side varies by itself, as much as the others.

    Returns
    -------
    float
        That of the quadratic form with the Laplacian L of these pairs: tr(L)^2 / tr(L^2) [1]_. At least 1.

    Examples
    --------
    >>> freedom_of_differences([("a", "b"), ("c", "d")]), freedom_of_differences([("a", "b"), ("a", "c")])
    (2.0, 1.6)
    """
    several = Counter(frozenset(pair) for pair in pairs)
    degrees = Counter(side for pair in pairs for side in pair)
    squares = sum(count**2 for count in degrees.values()) + 2 * sum(count**2 for count in several.values())
    return max(1.0, sum(degrees.values()) ** 2 / squares) if squares else 1.0
