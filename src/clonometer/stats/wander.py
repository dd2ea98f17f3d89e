"""What wandering along a run adds to the variance of a mean, beyond what the scatter of its values explains.

Whether values wander at all is the question of `clonometer.stats.trend.keeps_level`, which sees more of one series.
This is how much: one series hardly tells, many together do.

References
----------
.. [1] R. DerSimonian, N. Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7 (1986) 177-188.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import finite_values
from clonometer.stats.trend import LEAST_VALUES


def added_by_wandering(groups: Iterable[Iterable[ArrayLike]]) -> float:
    """Estimate what wandering by itself adds to the variance of the mean of a series, by groups of such series.

    Parameters
    ----------
    groups
        Series of shape (n,), in order of time, finite, in one unit; n may differ. What all of a group move by together
        does not count. Series of fewer than 8 values, and those that do not scatter, tell nothing.

    Returns
    -------
    float
        In the squared unit of the values; 0 where no group has two series. The variance, between the series of a
        group, of the distance of the last third's mean from the first's, beyond what independent values make of it:
        the estimate of DerSimonian and Laird [1]_, each distance weighted by how little its series scatters.

    Notes
    -----
    A random walk moves its mean over a run away from its beginning by a variance of T / 3, and thirds of it apart by
    5 T / 9: what is seen within a run is a little more than what wandering adds to its mean. What wanders slower than
    the run cannot be seen in it. The variance of a distance is estimated with n - 3 degrees of freedom; the mean of
    its inverse is larger than the inverse of its mean by (n - 3) / (n - 5).

    Examples
    --------
    >>> added_by_wandering([[range(12), range(12, 0, -1)]]) > 50, added_by_wandering([[range(12), range(12)]])
    (True, 0.0)
    """
    excess = weight = 0.0
    for many in groups:
        measured = np.array([distance for series in many if (distance := _distance(series)) is not None])
        if len(measured) < 2:
            continue
        distances, variances = measured.T
        weights = 1 / variances
        middle = np.average(distances, weights=weights)
        excess += float((weights * (distances - middle) ** 2).sum()) - (len(weights) - 1)
        weight += float(weights.sum() - (weights**2).sum() / weights.sum())
    return max(0.0, excess) / weight if weight else 0.0


def _distance(values: ArrayLike) -> tuple[float, float] | None:
    """How far the last third's mean is from the first's, and the variance that independent values give it."""
    series = finite_values(values)
    if series.size < LEAST_VALUES:
        return None
    third, freedom = series.size // 3, series.size - 3
    parts = series[:third], series[third:-third], series[-third:]
    variance = 2 / (freedom - 2) / third * sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    return (float(parts[2].mean() - parts[0].mean()), variance) if variance > 0 else None
