from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.serial import deflated_p, inflated_p, median_in_time, serial_inflations

Floats = np.ndarray


def serial_inflation(series: Iterable[ArrayLike]) -> float:
    """Of one group by itself."""
    return serial_inflations([list(series)])[0]


def autoregressive(random: np.random.Generator, phi: float, rows: int, size: int) -> Floats:
    noise = random.normal(size=(rows, size))
    values = np.empty_like(noise)
    values[:, 0] = noise[:, 0]
    for at in range(1, size):
        values[:, at] = phi * values[:, at - 1] + (1 - phi**2) ** 0.5 * noise[:, at]
    return values


@pytest.mark.parametrize("size", [8, 12, 24])
def test_independent_values_cost_next_to_nothing(size: int) -> None:
    random = np.random.default_rng(1)
    inflations = [serial_inflation(random.lognormal(size=(30, size))) for _ in range(50)]
    assert 1.0 <= np.mean(inflations) <= 1.12


@pytest.mark.parametrize("phi", [0.3, 0.5, 0.7])
def test_long_series_have_the_inflation_of_their_autocorrelation(phi: float) -> None:
    random = np.random.default_rng(2)
    share = np.mean([serial_inflation(autoregressive(random, phi, 40, 200)) for _ in range(5)])
    assert share == pytest.approx((1 + phi) / (1 - phi), rel=0.2)


def test_short_series_show_a_good_part_of_it() -> None:
    random = np.random.default_rng(3)
    share = np.mean([serial_inflation(autoregressive(random, 0.6, 40, 12)) for _ in range(20)])
    assert 1.5 <= share <= 4


def test_alternation_and_constants_are_no_inflation() -> None:
    assert serial_inflation([[1.0, 2.0] * 10] * 5) == 1.0
    assert serial_inflation([[5.0] * 12] * 5) == 1.0
    assert serial_inflation([[1.0, 2.0, 3.0]] * 5) == 1.0
    assert serial_inflation([]) == 1.0


def test_a_group_that_wanders_among_others_that_do_not_is_seen_and_seen_alone() -> None:
    random = np.random.default_rng(5)
    inflations = []
    for _ in range(30):
        steady = [list(random.normal(size=(2, 64))) for _ in range(9)]
        inflations.append(serial_inflations([*steady, list(autoregressive(random, 0.8, 2, 64))]))
    means = np.mean(inflations, axis=0)
    assert (means[:-1] < 1.3).all()
    assert means[-1] > 3
    assert serial_inflation([series for group in steady for series in group]) < 1.3


def test_a_group_of_few_values_rests_on_the_others() -> None:
    random = np.random.default_rng(6)
    drifting = [list(autoregressive(random, 0.8, 2, 64)) for _ in range(9)]
    few, many = [list(autoregressive(random, 0.0, 2, size)) for size in (12, 200)]
    *rest, seen_few, seen_many = serial_inflations([*drifting, few, many], typical=range(9))
    pooled = serial_inflation([series for group in drifting for series in group])
    assert seen_few > 0.5 * pooled > 2
    assert seen_many < 0.5 * pooled
    assert np.median(rest) > 3


def test_a_group_without_values_is_as_all_are() -> None:
    drifting = list(autoregressive(np.random.default_rng(7), 0.8, 20, 64))
    inflations = serial_inflations([drifting, []])
    assert inflations[1] == pytest.approx(serial_inflation(drifting), rel=0.1)
    assert serial_inflations([[], [[1.0, 2.0]]]) == [1.0, 1.0]
    assert serial_inflations([]) == []


def test_p_values_move_towards_one_half_and_back() -> None:
    for p in (1e-9, 1e-3, 0.2, 0.5):
        assert inflated_p(p, 1.0) == pytest.approx(p)
        assert deflated_p(inflated_p(p, 2.5), 2.5) == pytest.approx(p)
        assert p <= inflated_p(p, 2.5) <= 0.5
    assert inflated_p(1.0, 3.0) == deflated_p(1.0, 3.0) == 1.0


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


@pytest.mark.parametrize("inflation", [1.0, 2.5, 7.0, 40.0])
def test_corrected_p_values_keep_their_digits_far_out(inflation: float) -> None:
    for p in (0.4, 1e-3, 1e-20):
        wanted = stats.norm.cdf(stats.norm.ppf(p) * inflation**0.5)
        assert deflated_p(p, inflation) == pytest.approx(wanted, rel=1e-6)
        if wanted > 1e-300:
            assert inflated_p(deflated_p(p, inflation), inflation) == pytest.approx(p, rel=1e-6)
