"""How much more one side scatters than another, over several conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import exponential, percentile_interval, places_drawn
from clonometer.stats.quantiles import Floats

_METHOD = "ratio of mean relative deviations, bootstrap over processes, percentile"


def ratio_of_scatter(pairs: Sequence[tuple[Floats, Floats]], *, seed: int) -> Interval | None:
    """Mean relative deviation of one side over that of another, each from the median of its own condition.

    Parameters
    ----------
    pairs
        For each condition the two sides, shape (processes,) each: what the executions of a process deviate from the
        median of their condition on average, as a share of that median.
    seed
        Seed of the generator.

    Returns
    -------
    Interval or None
        Each condition counts alike, and the processes of each are resampled apart. None without a condition, or where
        a side, or a resample of it, does not scatter at all.

    Examples
    --------
    >>> wide, narrow = np.full(12, 0.2), np.full(12, 0.1)
    >>> ratio_of_scatter([(wide, narrow)], seed=1).value
    2.0
    """
    if not pairs:
        return None
    generator = np.random.default_rng(seed)
    drawn = [np.mean([_means_drawn(pair[side], generator) for pair in pairs], axis=0) for side in (0, 1)]
    means = [float(np.mean([pair[side].mean() for pair in pairs])) for side in (0, 1)]
    if min(*means, *(float(side.min()) for side in drawn)) <= 0:
        return None
    fewest = min(min(a.size, b.size) for a, b in pairs)
    centre = float(np.log(means[0] / means[1]))
    return exponential(percentile_interval(centre, np.log(drawn[0] / drawn[1]), fewest, _METHOD))


def _means_drawn(values: Floats, generator: np.random.Generator) -> Floats:
    return np.asarray(values[places_drawn(values.size, generator)].mean(axis=1), dtype=np.float64)
