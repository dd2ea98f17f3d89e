"""Means of several quantities that belong together, with intervals from the processes that they came from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import percentile_intervals, places_drawn


def mean_intervals(groups: ArrayLike, *, seed: int) -> list[Interval]:
    """Means over processes, each with a 95% bootstrap percentile interval widened for few of them.

    Parameters
    ----------
    groups
        Shape (processes, quantities), finite: each process's own mean of each quantity. Means are linear, so that
        those of parts sum to that of their sum.
    seed
        Seed of the generator: the same seed gives the same intervals.

    Returns
    -------
    list of Interval
        One for each quantity, as `clonometer.stats.percentile.percentile_interval`; with one process it has no width.

    Raises
    ------
    ValueError
        If there is no process, or a number is not finite.

    Examples
    --------
    >>> [round(mean.value, 1) for mean in mean_intervals([[1.0, 10.0], [3.0, 30.0]], seed=1)]
    [2.0, 20.0]
    """
    values = np.asarray(groups, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] == 0 or not np.isfinite(values).all():
        raise ValueError(f"means need a finite table with a row a process, not shape {values.shape}")
    n = values.shape[0]
    method = "mean of processes, bootstrap over them, widened"
    chosen = places_drawn(n, np.random.default_rng(seed))
    intervals = percentile_intervals(values.mean(axis=0), values[chosen].mean(axis=1), n, method)
    if values.min() >= 0:
        # What is never negative has no negative mean.
        intervals = [replace(interval, low=max(interval.low, 0.0)) for interval in intervals]
    return intervals
