"""Factorial designs of two levels: main effects and interactions of conditions on a ratio, by a bootstrap.

References
----------
.. [1] G. E. P. Box, J. S. Hunter, W. G. Hunter, "Statistics for experimenters", 2nd edition, Wiley 2005, chapter 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import exponential, medians_drawn, percentile_interval, places_drawn
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import median

_METHOD = "means of log ratios, bootstrap over processes, percentile"


@dataclass(frozen=True)
class DesignPoint:
    """One point of a design.

    Attributes
    ----------
    levels
        Factor -> 0 or 1.
    a, b
        The two sides whose ratio of medians, a over b, is the response; all values positive.
    """

    levels: Mapping[str, int]
    a: Processes
    b: Processes


@dataclass(frozen=True)
class FactorialEffect:
    """What a factor, or two together, do to the ratio.

    Attributes
    ----------
    factors
        One factor: its main effect. Two: their interaction.
    times
        By how much the ratio is multiplied when the factor goes from 0 to 1, averaged over all else; for an
        interaction by how much one factor's own multiplier grows per step of half the other.
    """

    factors: tuple[str, ...]
    times: Interval


def factorial_effects(points: Sequence[DesignPoint], *, seed: int) -> list[FactorialEffect]:
    """Estimate all main effects and interactions of two factors.

    Parameters
    ----------
    points
        A full design: every combination of the factors' levels exactly once.
    seed
        Seed of the generator.

    Returns
    -------
    list of FactorialEffect
        Main effects in the order of the factors, then interactions.

    Raises
    ------
    ValueError
        If the design is not full, or a value is not positive.

    Notes
    -----
    The response is y = log(median(a) / median(b)). A main effect is the mean of y at level 1 minus that at level 0;
    an interaction the mean of y where the two levels are the same minus that where they differ [1]_. Both are given as
    exp(effect). The processes of each side are resampled apart.

    Examples
    --------
    >>> one, two = Processes.of([1.0] * 6), Processes.of([2.0] * 6)
    >>> [effect] = factorial_effects([DesignPoint({"x": 0}, one, one), DesignPoint({"x": 1}, two, one)], seed=1)
    >>> effect.times.value
    2.0
    """
    factors = tuple(points[0].levels) if points else ()
    seen = sorted(tuple(point.levels.get(factor, -1) for factor in factors) for point in points)
    if not factors or seen != sorted(itertools.product((0, 1), repeat=len(factors))):
        raise ValueError("a full factorial needs every combination of levels exactly once")
    generator = np.random.default_rng(seed)
    draws = np.stack([_log_ratios(point.a, point.b, generator) for point in points])
    centre = np.array([np.log(median(point.a.values) / median(point.b.values)) for point in points])
    fewest = min(min(point.a.values.size, point.b.values.size) for point in points)
    signs = np.array([[2 * point.levels[factor] - 1 for factor in factors] for point in points])
    effects = []
    for count in (1, 2):
        for chosen in itertools.combinations(range(len(factors)), count):
            contrast = np.prod(signs[:, chosen], axis=1) / (len(points) / 2)
            times = exponential(percentile_interval(float(contrast @ centre), contrast @ draws, fewest, _METHOD))
            effects.append(FactorialEffect(tuple(factors[place] for place in chosen), times))
    return effects


def _log_ratios(a: Processes, b: Processes, generator: np.random.Generator) -> NDArray[np.float64]:
    sides = []
    for side in (a.values, b.values):
        if side.min() <= 0:
            raise ValueError("a ratio needs positive values on both sides")
        sides.append(medians_drawn(side, places_drawn(side.size, generator)))
    return np.asarray(np.log(sides[0] / sides[1]), dtype=np.float64)


def mean_ratio(pairs: Sequence[tuple[Processes, Processes]], *, seed: int) -> Interval:
    """Geometric mean of several ratios of medians, a over b, with a bootstrap interval.

    Parameters
    ----------
    pairs
        The two sides under each condition, at least one; all values positive.
    seed
        As in `factorial_effects`.

    Raises
    ------
    ValueError
        If there is no pair, or a value is not positive.

    Examples
    --------
    >>> one, four = Processes.of([1.0] * 6), Processes.of([4.0] * 6)
    >>> round(mean_ratio([(one, one), (four, one)], seed=1).value, 9)
    2.0
    """
    if not pairs:
        raise ValueError("a mean of ratios needs at least one")
    generator = np.random.default_rng(seed)
    draws = np.stack([_log_ratios(a, b, generator) for a, b in pairs])
    centre = float(np.mean([np.log(median(a.values) / median(b.values)) for a, b in pairs]))
    fewest = min(min(a.values.size, b.values.size) for a, b in pairs)
    return exponential(percentile_interval(centre, draws.mean(axis=0), fewest, _METHOD))
