"""How much more one side scatters than another, over several conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import exponential, percentile_interval, places_drawn
from clonometer.stats.quantiles import Floats

_METHOD = "ratio of mean relative deviations, bootstrap over processes, percentile"
_STUDIES = 2000


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


def chance_of_lower_fit(x: Sequence[float], a: Sequence[Floats], b: Sequence[Floats], *, seed: int) -> float:
    """The chance that a line through single runs has a lower R2 for one side than for the other.

    Parameters
    ----------
    x
        Where runs were made, at least three places.
    a, b
        The two sides: for each place single runs there, shape (runs,) each. Those of the second may be fewer or more.
    seed
        Seed of the generator.

    Returns
    -------
    float
        The share among 2,000 pairs of studies, each of one run for each place and side, drawn from these. Where both
        have the same R2, half counts. Near one half, studies of single runs say nothing of which side scatters more.

    Examples
    --------
    >>> exact, wild = [np.array([1.0]), np.array([2.0]), np.array([3.0])], [np.array([1.0, 9.0])] * 3
    >>> chance_of_lower_fit([1, 2, 3], wild, exact, seed=1)
    1.0
    """
    generator = np.random.default_rng(seed)
    first, second = (_r_squared(np.asarray(x, dtype=np.float64), side, generator) for side in (a, b))
    return float(np.mean(first < second) + np.mean(first == second) / 2)


def _r_squared(x: Floats, runs: Sequence[Floats], generator: np.random.Generator) -> Floats:
    """R2 of the line through each draw of one run a place; 0 where a draw is flat."""
    drawn = np.stack([generator.choice(at, _STUDIES) for at in runs])
    across, down = x - x.mean(), drawn - drawn.mean(axis=0)
    lengths = (across @ across) * (down * down).sum(axis=0)
    return np.asarray((across @ down) ** 2 / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)


def _means_drawn(values: Floats, generator: np.random.Generator) -> Floats:
    return np.asarray(values[places_drawn(values.size, generator)].mean(axis=1), dtype=np.float64)
