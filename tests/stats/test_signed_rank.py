from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from clonometer.stats.signed_rank import SignedRank, least_p


@pytest.mark.parametrize("n", [6, 11, 30, 90])
def test_p_is_scipys_exact_one(n: int) -> None:
    values = np.random.default_rng(n).normal(0.2, 1.0, n)
    assert SignedRank(values).p_value == pytest.approx(wilcoxon(values, method="exact").pvalue)


@given(st.lists(st.integers(-4, 6), min_size=1, max_size=25), st.sampled_from([0.05, 0.01, 0.05 / 27]))
def test_the_interval_says_what_the_test_says_also_where_values_are_tied(values: list[int], error_rate: float) -> None:
    test = SignedRank(values)
    low, high = test.interval(error_rate)
    assert (test.p_value <= error_rate) == (not low <= 0 <= high)
    assert low <= test.value <= high


def test_it_turns_around_with_the_sides_and_moves_with_the_values() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, 20)
    low, high = SignedRank(values).interval(0.05)
    assert SignedRank(-values).interval(0.05) == pytest.approx((-high, -low))
    assert SignedRank(values + 2).interval(0.05) == pytest.approx((low + 2, high + 2))
    assert SignedRank(-values).p_value == SignedRank(values).p_value


def test_too_few_pairs_have_no_interval() -> None:
    assert SignedRank([1.0] * 5).interval(0.05) == (-math.inf, math.inf)
    assert SignedRank([1.0] * 6).interval(0.05) == (1.0, 1.0)
    assert (least_p(5), least_p(6)) == (0.0625, 0.03125)


@pytest.mark.parametrize("wrong", [[], [math.nan]])
def test_what_is_no_difference_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="differences"):
        SignedRank(wrong)


def test_intervals_of_coin_flips_cover() -> None:
    random = np.random.default_rng(5)
    covered = sum(
        low <= 0.5 <= high
        for low, high in (SignedRank(0.5 + random.standard_t(2, 15)).interval(0.05) for _ in range(400))
    )
    assert covered >= 370
