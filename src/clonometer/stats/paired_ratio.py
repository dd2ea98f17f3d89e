"""Ratio of two conditions that took turns: from pairs of neighbours in time, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import LEAST_NOMINAL, Interval
from clonometer.stats.percentile import RESAMPLES, exponential, percentile_interval
from clonometer.stats.quantiles import Floats, finite_values, median


def paired_ratio(groups: Sequence[ArrayLike], *, seed: int) -> Interval:
    """Ratio of A to B by the median over pairs of neighbours, with a 95% bootstrap interval of the same median.

    Parameters
    ----------
    groups
        For each process the logarithms of A over B of its pairs, shape (pairs,), finite; a process without pairs is
        left out. Half of the pairs should have A first and half B, so that drift cancels. Pairs that each come from
        two processes of their own are one group.
    seed
        Seed of the generator: the same seed gives the same interval.

    Returns
    -------
    Interval
        Dimensionless: the exponential of the median of all pairs. ``n`` is the number of groups, or of pairs where
        there is one group; with fewer than 6 ``reaches_nominal`` is False, with one pair the interval has no width.

    Raises
    ------
    ValueError
        If there is no pair, or a number is not finite.

    Notes
    -----
    Processes are resampled with all their pairs; their spread contains that of the pairs (A. C. Davison, D. V. Hinkley,
    "Bootstrap methods and their application", Cambridge 1997, section 3.8). With fewer than 6 processes pairs are
    resampled as well. Percentiles are those of `clonometer.stats.percentile`, on the logarithm: swapping A and B gives
    the reciprocal interval.

    Examples
    --------
    >>> import math
    >>> round(paired_ratio([[math.log(1.1)] * 8] * 6, seed=1).value, 3)
    1.1
    """
    processes = [finite_values(group, "logarithms of ratios") for group in groups if np.size(group) > 0]
    if not processes:
        raise ValueError("a paired ratio needs a pair")
    value = median(np.concatenate(processes))
    alone = len(processes) == 1
    n = processes[0].size if alone else len(processes)
    what = "pairs" if alone else "processes" if len(processes) >= LEAST_NOMINAL else "processes and pairs"
    method = f"median of neighbouring pairs, bootstrap over {what}, percentile"
    drawn = _draw(processes, np.random.default_rng(seed))
    return exponential(percentile_interval(value, drawn, n, method))


def _draw(groups: list[Floats], generator: np.random.Generator) -> Floats:
    """Medians of resampled pairs, shape (resamples,): all pairs are ordered once and counted as often as drawn."""
    n = len(groups)
    drawn = generator.multinomial(n, np.full(n, 1 / n), RESAMPLES)
    counts = []
    for times, group in zip(drawn.T, groups, strict=True):
        each = np.full(group.size, 1 / group.size)
        alike = np.broadcast_to(times[:, None], (RESAMPLES, group.size))
        counts.append(generator.multinomial(times * group.size, each) if n < LEAST_NOMINAL else alike)
    values = np.concatenate(groups)
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(np.concatenate(counts, axis=1)[:, order], axis=1)
    all_of_them = upto[:, -1:]
    lower = np.argmax(2 * upto >= all_of_them, axis=1)
    upper = np.argmax(2 * upto > all_of_them, axis=1)
    ordered = values[order]
    return np.asarray((ordered[lower] + ordered[upper]) / 2, dtype=np.float64)
