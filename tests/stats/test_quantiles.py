from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from clonometer.stats.quantiles import (
    binomial_cdf,
    quantile_interval,
    quantile_of_ordered,
    row_medians,
)

DATA_SETS = 400


@pytest.mark.parametrize("length", [1, 2, 11, 12, 512, 513, 1000])
def test_medians_and_quantiles_are_numpys_to_the_last_digit(length: int) -> None:
    rows = np.random.default_rng(length).lognormal(9, 1, (7, length))
    assert row_medians(rows).tolist() == np.median(rows, axis=1).tolist()
    ordered = np.sort(rows[0])
    for probability in np.linspace(0, 1, 101).tolist():
        assert quantile_of_ordered(ordered, probability) == np.quantile(ordered, probability)


@pytest.mark.parametrize(("n", "probability"), [(1, 0.5), (12, 0.5), (300, 0.99), (5000, 0.01), (20_000, 0.5)])
def test_binomial_distribution_is_scipys(n: int, probability: float) -> None:
    expected = stats.binom.cdf(np.arange(n + 1), n, probability)
    np.testing.assert_allclose(binomial_cdf(n, probability), expected, atol=1e-10)


@pytest.mark.parametrize(("n", "probability"), [(0, 0.5), (3, 0.0), (3, 1.0)])
def test_binomial_distribution_refuses_what_is_none(n: int, probability: float) -> None:
    with pytest.raises(ValueError, match="no binomial distribution"):
        binomial_cdf(n, probability)


def test_median_interval_is_the_published_formula_of_hettmansperger_and_sheather() -> None:
    # n = 10, 95%: between the 2nd and 3rd value from each end, which cover 0.9785 and 0.8906.
    values = np.arange(1.0, 11.0) ** 2
    coverage = {d: 1 - 2 * stats.binom.cdf(d - 1, 10, 0.5) for d in (2, 3)}
    share = (coverage[2] - 0.95) / (coverage[2] - coverage[3])
    weight = (10 - 2) * share / (2 + (10 - 4) * share)
    interval = quantile_interval(values)
    assert interval.low == pytest.approx((1 - weight) * values[1] + weight * values[2])
    assert interval.high == pytest.approx((1 - weight) * values[8] + weight * values[7])
    assert interval.value == 30.5
    assert (interval.confidence, interval.n, interval.reaches_nominal) == (0.95, 10, True)


def test_tail_interval_is_the_published_formula_of_nyblom() -> None:
    values = np.arange(1.0, 61.0) ** 2
    errs = stats.binom.cdf(np.arange(-1, 60), 60, 0.8)
    r = int(np.flatnonzero(errs <= 0.025)[-1])
    weight = 1 / (1 + r * 0.2 * (errs[r + 1] - 0.025) / ((60 - r) * 0.8 * (0.025 - errs[r])))
    expected = (1 - weight) * values[r - 1] + weight * values[r]
    assert quantile_interval(values, 0.8).low == pytest.approx(expected)
    assert quantile_interval(-values, 0.2).high == pytest.approx(-expected)


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_interval_lies_within_scipys_conservative_one(probability: float) -> None:
    values = np.random.default_rng(3).lognormal(size=60)
    ours = quantile_interval(values, probability)
    theirs = stats.quantile_test(values, q=ours.value, p=probability).confidence_interval(0.95)
    assert theirs.low <= ours.low < ours.value < ours.high <= theirs.high


@pytest.mark.parametrize("n", range(1, 6))
def test_too_few_values_give_their_range_and_say_what_it_covers(n: int) -> None:
    interval = quantile_interval(np.arange(n) + 10.0)
    assert (interval.low, interval.high) == (10.0, 9.0 + n)
    assert interval.confidence == pytest.approx(1 - 0.5 ** (n - 1))
    assert not interval.reaches_nominal


def test_six_values_are_enough_for_the_median() -> None:
    assert quantile_interval(np.arange(6.0)).reaches_nominal


def _covers(probability: float, n: int, draw: object, seed: int = 11) -> float:
    generator = np.random.default_rng(seed)
    truth = float(draw(probability))  # type: ignore[operator]
    hits = sum(
        quantile_interval(draw(generator.random(n)), probability).contains(truth)  # type: ignore[operator]
        for _ in range(DATA_SETS)
    )
    return hits / DATA_SETS


@pytest.mark.parametrize("n", [6, 12, 40])
def test_nominal_95_percent_covers_the_median_of_lognormal_values(n: int) -> None:
    assert 0.92 <= _covers(0.5, n, lambda u: stats.lognorm.ppf(u, 0.5)) <= 0.98


def test_nominal_95_percent_covers_a_tail_quantile() -> None:
    assert 0.92 <= _covers(0.9, 120, lambda u: stats.lognorm.ppf(u, 0.5)) <= 0.98


def test_nominal_95_percent_of_twelve_processes_covers_their_median() -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(DATA_SETS):
        levels = generator.lognormal(0.0, 0.2, 12)
        samples = levels[:, None] * generator.lognormal(0.0, 0.3, (12, 31))
        hits += quantile_interval(np.median(samples, axis=1)).contains(1.0)
    assert 0.92 <= hits / DATA_SETS <= 0.98


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40),
    st.sampled_from([0.05, 0.25, 0.5, 0.9, 0.99]),
)
@example([0.0] * 4 + [999999997.9999999] * 2, 0.5)
def test_interval_is_ordered_inside_the_data_and_finite(values: list[float], probability: float) -> None:
    interval = quantile_interval(values, probability)
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=30))
def test_interval_mirrors_with_its_data(values: list[float]) -> None:
    interval = quantile_interval(values, 0.5)
    mirrored = quantile_interval([-value for value in values], 0.5)
    assert mirrored.low == pytest.approx(-interval.high, abs=1e-6)
    assert mirrored.high == pytest.approx(-interval.low, abs=1e-6)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")], [[1.0]]])
def test_what_is_no_sample_is_refused(values: object) -> None:
    with pytest.raises(ValueError, match="values must"):
        quantile_interval(values)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_confidence_is_a_fraction(confidence: float) -> None:
    with pytest.raises(ValueError, match="a confidence lies between"):
        quantile_interval([1.0, 2.0], 0.5, confidence)
