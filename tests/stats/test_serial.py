from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.serial import median_in_time

Floats = np.ndarray


def autoregressive(random: np.random.Generator, phi: float, rows: int, size: int) -> Floats:
    noise = random.normal(size=(rows, size))
    values = np.empty_like(noise)
    values[:, 0] = noise[:, 0]
    for at in range(1, size):
        values[:, at] = phi * values[:, at - 1] + (1 - phi**2) ** 0.5 * noise[:, at]
    return values


@pytest.mark.parametrize(("rho", "least", "most"), [(0.0, 0.92, 0.98), (0.9, 0.65, 1.0)])
def test_a_median_of_what_wanders_is_covered_better(rho: float, least: float, most: float) -> None:
    random = np.random.default_rng(4)
    runs = autoregressive(random, rho, 400, 20)
    covered = np.mean([median_in_time(run).contains(0.0) for run in runs])
    plain = np.mean([quantile_interval(run).contains(0.0) for run in runs])
    assert least <= covered <= most
    if rho:
        assert covered > plain + 0.2


def test_the_median_of_what_is_in_no_order_is_as_ever() -> None:
    values = np.random.default_rng(2).normal(size=30)
    assert median_in_time(values) == quantile_interval(values)
    few = np.arange(7.0)
    assert median_in_time(few) == quantile_interval(few)
    rising = median_in_time(np.arange(12.0))
    assert (rising.low, rising.high) == (0.0, 11.0)
    assert median_in_time(np.ones(12)).high == 1.0
