"""Scatter: what single runs would say of it, against what is known."""

from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.scatter import chance_of_lower_fit

PLACES = list(range(9, 31))


def runs(slope: float, spread: float, *, seed: int, count: int = 200) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [slope * x + generator.normal(0.0, spread, count) for x in PLACES]


def test_single_runs_of_two_that_are_alike_decide_nothing():
    alike = chance_of_lower_fit(PLACES, runs(1.0, 3.0, seed=1), runs(1.0, 3.0, seed=2), seed=3)
    assert alike == pytest.approx(0.5, abs=0.06)


def test_where_neither_scatters_half_counts():
    exact = runs(1.0, 0.0, seed=1)
    assert chance_of_lower_fit(PLACES, exact, exact, seed=1) == pytest.approx(0.5, abs=0.01)


def test_the_chance_is_that_of_r_squared_by_another_way():
    """Each draw's R2 as the square of numpy's coefficient of correlation."""
    wide, narrow = runs(1.0, 4.0, seed=4), runs(1.0, 3.0, seed=5)
    generator = np.random.default_rng(6)
    lower = 0
    for _ in range(2000):
        first, second = ([float(generator.choice(at)) for at in side] for side in (wide, narrow))
        lower += np.corrcoef(PLACES, first)[0, 1] ** 2 < np.corrcoef(PLACES, second)[0, 1] ** 2
    assert chance_of_lower_fit(PLACES, wide, narrow, seed=7) == pytest.approx(lower / 2000, abs=0.04)
    assert lower / 2000 > 0.6
