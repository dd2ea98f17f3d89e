"""Processes of known truth: how their levels follow each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clonometer.stats.quantiles import Floats

Generator = np.random.Generator
#: Levels of processes in order of time: shape (data sets, processes), their median 1 in the long run.
Levels = Callable[[Generator, int, int], Floats]


def ar1(random: Generator, shape: tuple[int, ...], strength: float) -> Floats:
    """Stationary AR(1) along the last axis, of variance 1."""
    values = random.normal(size=shape)
    values[..., 1:] *= (1 - strength**2) ** 0.5
    for place in range(1, shape[-1]):
        values[..., place] += strength * values[..., place - 1]
    return np.asarray(values, dtype=np.float64)


def scattering(sigma: float) -> Levels:
    """Make independent log-normal levels."""
    return lambda random, sets, processes: np.exp(sigma * random.normal(size=(sets, processes)))


def wandering(sigma: float, strength: float) -> Levels:
    """Make levels that follow an AR(1) from one process to the next."""
    return lambda random, sets, processes: np.exp(sigma * ar1(random, (sets, processes), strength))


def two_modes(sigma: float, step: float, share: float) -> Levels:
    """Make independent levels, ``share`` of them slower by ``step``; the median of all is then not quite 1."""

    def draw(random: Generator, sets: int, processes: int) -> Floats:
        slow = random.random((sets, processes)) < share
        return np.exp(sigma * random.normal(size=slow.shape) + np.log1p(step) * slow)

    return draw


def two_states(sigma: float, step: float, dwell: float) -> Levels:
    """Make levels about two states that are left after ``dwell`` processes in the mean; 1 lies between them."""

    def draw(random: Generator, sets: int, processes: int) -> Floats:
        first = random.random((sets, 1)) < 0.5
        left = random.random((sets, processes)) < 1 / dwell
        slow = first ^ (np.cumsum(left, axis=1) % 2 == 1)
        return np.exp(sigma * random.normal(size=slow.shape) + np.log1p(step) * (slow - 0.5))

    return draw


def long_run_median(draw: Levels, seed: int) -> float:
    """The median of all processes that there could be."""
    return float(np.median(draw(np.random.default_rng([seed, 0]), 300, 1000)))
