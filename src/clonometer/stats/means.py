"""Means of several quantities that belong together, with intervals from the processes that they came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import CONFIDENCE, Interval

RESAMPLES = 2000


def mean_intervals(groups: ArrayLike, *, seed: int) -> list[Interval]:
    """Means over processes, each with a 95% bootstrap percentile interval that is widened for few processes.

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
        One for each quantity; with one process the interval has no width and ``reaches_nominal`` is False.

    Raises
    ------
    ValueError
        If there is no process, or a number is not finite.

    Notes
    -----
    Resampling n values makes the spread of their mean too narrow by sqrt((n - 1) / n); the interval is widened by its
    inverse about the mean (T. C. Hesterberg, The American Statistician 69 (2015) 371-386).

    Examples
    --------
    >>> [round(mean.value, 1) for mean in mean_intervals([[1.0, 10.0], [3.0, 30.0]], seed=1)]
    [2.0, 20.0]
    """
    values = np.asarray(groups, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] == 0 or not np.isfinite(values).all():
        raise ValueError(f"means need a finite table with a row a process, not shape {values.shape}")
    n = values.shape[0]
    means = values.mean(axis=0)
    method = "mean of processes, bootstrap over them, widened"
    if n == 1:
        return [Interval(float(mean), float(mean), float(mean), 0.0, method, 1, False) for mean in means]
    chosen = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    drawn = values[chosen].mean(axis=1)
    tail = 50 * (1 - CONFIDENCE)
    ends = np.percentile(drawn, [tail, 100 - tail], axis=0)
    widened = means + (ends - means) * np.sqrt(n / (n - 1))
    if values.min() >= 0:
        # What is never negative has no negative mean.
        widened = np.maximum(widened, 0.0)
    return [
        Interval(float(mean), float(min(low, mean)), float(max(high, mean)), CONFIDENCE, method, n, n >= 5)
        for mean, low, high in zip(means, widened[0], widened[1], strict=True)
    ]
