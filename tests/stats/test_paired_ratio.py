from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from clonometer.stats.paired_ratio import paired_ratio
from clonometer.stats.percentile import small_sample_widening


def simulated(
    generator: np.random.Generator, truth: float, *, groups: int, pairs: int = 20, between: float = 0.01
) -> list[NDArray[np.float64]]:
    """Processes that differ in the ratio itself; pairs with a heavy tail, as on a machine with neighbours."""
    means = truth + between * generator.standard_normal(groups)
    return [mean + 0.02 * generator.standard_t(3, pairs) for mean in means]


def test_the_value_is_the_median_of_all_pairs() -> None:
    groups = [[math.log(1.1), math.log(1.2)], [math.log(1.3)]]
    assert paired_ratio(groups, seed=1).value == pytest.approx(1.2)


def test_the_reciprocal_has_the_reciprocal_interval() -> None:
    groups = simulated(np.random.default_rng(5), 0.14, groups=6)
    ratio, other = paired_ratio(groups, seed=1), paired_ratio([-group for group in groups], seed=1)
    assert other.value == pytest.approx(1 / ratio.value)
    assert (other.low, other.high) == pytest.approx((1 / ratio.high, 1 / ratio.low), rel=1e-3)


def test_medians_of_draws_are_medians() -> None:
    # Equal processes of two pairs: whichever are drawn, their median is the mean of the two middle ones.
    ratio = paired_ratio([[0.0, 0.2]] * 6, seed=1)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((math.exp(0.1),) * 3)
    # Of two processes without spread half of the draws have both, whose median lies between.
    two = paired_ratio([[0.0] * 3, [0.2] * 3], seed=1)
    stretched = 0.1 + 0.1 * small_sample_widening(2)
    assert (two.value, two.high) == pytest.approx((math.exp(0.1), math.exp(stretched)))


@pytest.mark.parametrize(("groups", "least"), [(1, 0.89), (3, 0.86), (6, 0.81), (12, 0.88)])
def test_the_interval_covers_the_truth(groups: int, least: float) -> None:
    generator = np.random.default_rng(11)
    truth = math.log(1.15)
    between = 0.0 if groups == 1 else 0.01
    covered = [
        paired_ratio(simulated(generator, truth, groups=groups, between=between), seed=k).contains(1.15)
        for k in range(150)
    ]
    # The least leaves room for three standard errors of as many trials below what it is known to cover.
    assert np.mean(covered) >= least


def test_more_pairs_make_it_narrower() -> None:
    generator = np.random.default_rng(3)
    few = paired_ratio(simulated(generator, 0.1, groups=1, pairs=10), seed=1)
    many = paired_ratio(simulated(generator, 0.1, groups=1, pairs=1000), seed=1)
    assert many.high - many.low < (few.high - few.low) / 3


def test_one_pair_has_no_width_and_says_so() -> None:
    ratio = paired_ratio([[0.1]], seed=1)
    assert ratio.low == ratio.value == ratio.high
    assert not ratio.reaches_nominal


def test_empty_processes_are_left_out() -> None:
    assert paired_ratio([[], [0.0, 0.0], []], seed=1).n == 2


@pytest.mark.parametrize("groups", [[], [[]], [[math.nan]]])
def test_no_pair_is_no_ratio(groups: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"pair|finite"):
        paired_ratio(groups, seed=1)
