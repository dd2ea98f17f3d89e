from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from statsmodels.tsa.stattools import acf

from clonometer.stats.ess import autocorrelations, effective_sample_size_of_medians, effective_sample_sizes
from clonometer.stats.segments import segment_medians


def _autoregressive(rho: float, n: int, seed: int = 2) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=n)
    values = np.empty(n)
    values[0] = noise[0] / np.sqrt(1 - rho**2)
    for step in range(1, n):
        values[step] = rho * values[step - 1] + noise[step]
    return values


def effective_sample_size(values: ArrayLike) -> float:
    return float(effective_sample_sizes(np.asarray(values, dtype=float)[None, :])[0])


def test_autocorrelation_is_statsmodels() -> None:
    values = _autoregressive(0.6, 200)
    np.testing.assert_allclose(autocorrelations(values[None, :])[0], acf(values, nlags=199, fft=False), atol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autoregressive_sequences_are_worth_what_theory_says(rho: float) -> None:
    n = 20_000
    expected = n * (1 - rho) / (1 + rho)
    assert effective_sample_size(_autoregressive(rho, n)) == pytest.approx(expected, rel=0.15)


def test_alternating_values_are_not_worth_more_than_independent_ones() -> None:
    assert effective_sample_size([1.0, -1.0] * 50) == 100.0


def test_a_trend_is_worth_little() -> None:
    assert effective_sample_size(np.arange(200.0)) < 10


@pytest.mark.parametrize("values", [[0.1] * 50, [3.0], [1.0, 2.0, 3.0]])
def test_constant_and_short_sequences_count_in_full(values: list[float]) -> None:
    assert effective_sample_size(values) == len(values)


def test_one_outlier_hides_dependence_from_the_mean_but_not_from_the_median() -> None:
    values = _autoregressive(0.9, 2000)
    values[1000] = 1e6
    assert effective_sample_size(values) > 1500
    assert effective_sample_size_of_medians(values, [0]) < 500


def test_differences_whose_squares_underflow_have_a_correlation() -> None:
    tiny = _autoregressive(0.9, 200)
    assert effective_sample_size(tiny * 1e-200) == pytest.approx(effective_sample_size(tiny))
    assert effective_sample_size([0.0, 0.0, 0.0, 5e-324]) <= 4


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_between_one_and_n(values: list[float]) -> None:
    assert 1.0 <= effective_sample_size(values) <= len(values)
    assert 1.0 <= effective_sample_size_of_medians(values, [0]) <= len(values)


def test_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        effective_sample_size_of_medians([], [0])


def test_segments_of_any_lengths_are_worth_the_sum_of_what_each_is_worth_alone() -> None:
    parts = [_autoregressive(0.7, n, seed=n) for n in (1, 3, 40, 7, 40, 120, 40)]
    first = np.cumsum([0] + [part.size for part in parts[:-1]])
    alone = sum(effective_sample_size_of_medians(part, [0]) for part in parts)
    assert effective_sample_size_of_medians(np.concatenate(parts), first) == pytest.approx(alone)
    np.testing.assert_array_equal(segment_medians(np.concatenate(parts), first), [np.median(part) for part in parts])
