from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap, IndependentSamplesBootstrap
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from clonometer.stats.bootstrap import Processes, difference_of_medians, pair_neighbours, ratio_of_medians
from clonometer.stats.interval import Interval

DATA_SETS = 400


def _sides(seed: int = 1, n: int = 16) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return 300 * generator.lognormal(0, 0.1, n), 100 * generator.lognormal(0, 0.1, n)


def _narrowed(interval: Interval, log: bool) -> tuple[float, float]:
    """Undo the widening for small samples, which the oracle does not have."""
    shrink = ((interval.n - 1) / interval.n) ** 0.5
    value, low, high = (np.log(number) if log else number for number in (interval.value, interval.low, interval.high))
    ends = value + (low - value) * shrink, value + (high - value) * shrink
    return (np.exp(ends[0]), np.exp(ends[1])) if log else ends


def test_ratio_of_independent_sides_is_archs_percentile_interval() -> None:
    a, b = _sides()
    oracle = IndependentSamplesBootstrap(a, b, seed=np.random.default_rng(3))
    expected = oracle.conf_int(lambda x, y: np.median(x) / np.median(y), 4000, method="percentile").ravel()
    ours = ratio_of_medians(Processes.of(a), Processes.of(b), seed=2)
    np.testing.assert_allclose(_narrowed(ours, log=True), expected, rtol=0.01)
    assert ours.value == pytest.approx(np.median(a) / np.median(b))


def test_paired_difference_is_archs_percentile_interval() -> None:
    a, b = _sides()
    when = np.arange(a.size)
    oracle = IIDBootstrap(a, b, seed=np.random.default_rng(3))
    expected = oracle.conf_int(lambda x, y: np.median(x) - np.median(y), 4000, method="percentile").ravel()
    ours = difference_of_medians(Processes.of(a, when), Processes.of(b, when + 0.1), seed=2)
    np.testing.assert_allclose(_narrowed(ours, log=False), expected, rtol=0.01)


def test_the_interval_is_widened_for_small_samples() -> None:
    # Of three values the ends of the percentile interval are the smallest and the largest.
    wider = student.ppf(0.975, 2) / norm.ppf(0.975)
    ratio = ratio_of_medians(Processes.of([1.0, 2.0, 8.0]), Processes.of([1.0] * 3), seed=2)
    assert np.log(ratio.low / 2) == pytest.approx(np.log(1 / 2) * wider)
    assert np.log(ratio.high / 2) == pytest.approx(np.log(8 / 2) * wider)
    difference = difference_of_medians(Processes.of([1.0, 2.0, 8.0]), Processes.of([1.0] * 3), seed=2)
    assert (difference.low, difference.high) == pytest.approx((1 - wider, 1 + 6 * wider))


@pytest.mark.parametrize("compare", [ratio_of_medians, difference_of_medians])
def test_fewer_than_six_processes_do_not_claim_95_percent(compare: Callable[..., Interval]) -> None:
    many = Processes.of(np.linspace(2.0, 3.0, 12))
    claims = []
    for n in (5, 6):
        interval = compare(Processes.of(np.linspace(1.0, 1.1, n)), many, seed=1)
        claims.append((interval.n, interval.confidence, interval.reaches_nominal))
    assert claims == [(5, 0.9375, False), (6, 0.95, True)]


def test_three_pairs_cover_what_they_claim() -> None:
    """Widened by sqrt(3 / 2) alone they covered 82%."""

    def simulate(generator: np.random.Generator) -> tuple[Processes, Processes]:
        when = np.arange(3.0)
        a, b = 3 * generator.lognormal(0, 0.1, 3), generator.lognormal(0, 0.1, 3)
        return Processes.of(a, when), Processes.of(b, when)

    assert _coverage(simulate, 3.0) >= 0.88


def _coverage(simulate: Callable[[np.random.Generator], tuple[Processes, Processes]], truth: float) -> float:
    generator = np.random.default_rng(9)
    hits = 0
    for seed in range(DATA_SETS):
        a, b = simulate(generator)
        hits += ratio_of_medians(a, b, seed=seed).contains(truth)
    return hits / DATA_SETS


def test_nominal_95_percent_covers_the_ratio_of_twelve_processes() -> None:
    def simulate(generator: np.random.Generator) -> tuple[Processes, Processes]:
        when = np.arange(12.0)
        a, b = 3 * generator.lognormal(0, 0.2, 12), generator.lognormal(0, 0.2, 12)
        return Processes.of(a, when), Processes.of(b, when)

    assert 0.92 <= _coverage(simulate, 3.0) <= 0.98


def test_nominal_95_percent_covers_with_few_processes_of_several_blocks() -> None:
    def simulate(generator: np.random.Generator) -> tuple[Processes, Processes]:
        sides = []
        for level in (3.0, 1.0):
            processes = level * generator.lognormal(0, 0.1, 5)
            blocks = processes[:, None] * generator.lognormal(0, 0.1, (5, 3))
            sides.append(Processes.of(np.median(blocks, axis=1), None, list(blocks)))
        return sides[0], sides[1]

    assert _coverage(simulate, 3.0) >= 0.92


def test_drift_that_both_sides_share_cancels_in_pairs() -> None:
    generator = np.random.default_rng(4)
    when = np.arange(16.0)
    drift = np.linspace(1, 2, 16)
    a, b = 3 * drift * generator.lognormal(0, 0.01, 16), drift * generator.lognormal(0, 0.01, 16)
    shuffled = generator.permutation(16)
    paired = ratio_of_medians(Processes.of(a[shuffled], when[shuffled]), Processes.of(b, when + 0.5), seed=1)
    apart = ratio_of_medians(Processes.of(a), Processes.of(b), seed=1)
    assert (paired.high - paired.low) < 0.3 * (apart.high - apart.low)
    assert paired.contains(3.0)
    assert "pairs" in paired.method
    assert "pairs" not in apart.method


def test_sides_of_very_different_number_are_not_paired() -> None:
    a, b = Processes.of(np.arange(1.0, 13), np.arange(12)), Processes.of(np.arange(1.0, 31), np.arange(30))
    assert "pairs" not in ratio_of_medians(a, b, seed=1).method


def test_blocks_widen_the_interval_only_where_processes_are_few() -> None:
    generator = np.random.default_rng(8)

    def width(n: int, with_blocks: bool) -> float:
        blocks = [generator_.lognormal(0, 0.3, 3) for generator_ in [np.random.default_rng(k) for k in range(n)]]
        values = [float(np.median(block)) for block in blocks]
        side = Processes.of(values, None, blocks if with_blocks else None)
        other = Processes.of(generator.lognormal(0, 1e-6, n))
        interval = ratio_of_medians(side, other, seed=1)
        return interval.high - interval.low

    assert width(4, True) > 1.05 * width(4, False)
    assert width(12, True) == pytest.approx(width(12, False), rel=1e-3)


def test_a_process_with_fewer_blocks_than_others_has_the_median_of_its_own_number() -> None:
    # Two blocks, 1 and 3, drawn twice give 1, 2 or 3; drawn as often as the other's nine, they would give 1.
    side = Processes.of([2.0, 2.0], None, [[1.0, 3.0], [2.0] * 9])
    ratio = ratio_of_medians(side, Processes.of([1.0, 1.0]), seed=1)
    # All four draws 1 is rarer than 2.5%; the mean of 1 and 2 is not. Then the widening for two processes.
    wider = student.ppf(0.975, 1) / norm.ppf(0.975)
    assert ratio.low == pytest.approx(2 * 0.75**wider)
    assert ratio.high == pytest.approx(2 * 1.25**wider)


def test_the_same_seed_gives_the_same_interval_and_another_does_not() -> None:
    a, b = (Processes.of(side) for side in _sides())
    assert ratio_of_medians(a, b, seed=1) == ratio_of_medians(a, b, seed=1)
    assert ratio_of_medians(a, b, seed=1) != ratio_of_medians(a, b, seed=2)


def test_one_process_reaches_no_confidence() -> None:
    ratio = ratio_of_medians(Processes.of([3.0]), Processes.of([1.0]), seed=1)
    assert not ratio.reaches_nominal
    assert ratio.n == 1


@pytest.mark.parametrize(("a", "b"), [([1.0, 2.0], [0.0, 1.0]), ([0.0], [1.0]), ([-1.0], [1.0])])
def test_there_is_no_ratio_to_nothing(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="positive values on both sides"):
        ratio_of_medians(Processes.of(a), Processes.of(b), seed=1)


def test_a_block_of_zero_has_no_ratio_either() -> None:
    with pytest.raises(ValueError, match="positive values"):
        ratio_of_medians(Processes.of([1.0], None, [[0.0, 1.0, 2.0]]), Processes.of([1.0]), seed=1)


def test_differences_have_a_sign() -> None:
    difference = difference_of_medians(Processes.of([1.0, 1.1] * 5), Processes.of([3.0, 3.1] * 5), seed=1)
    assert difference.high < 0


@pytest.mark.parametrize(
    "build",
    [
        lambda: Processes.of([1.0, 2.0], [0.0]),
        lambda: Processes.of([1.0], None, [[1.0], [2.0]]),
        lambda: Processes.of([]),
        lambda: Processes.of([float("nan")]),
    ],
)
def test_sides_that_do_not_fit_are_refused(build: Callable[[], Processes]) -> None:
    with pytest.raises(ValueError, match=r"processes, but|must"):
        build()


def test_neighbours_are_paired_across_a_gap() -> None:
    first, second = pair_neighbours([0, 1, 100], [99, 0.4, 1.2, 50])
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 0)]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=6),
    st.lists(st.integers(0, 100), min_size=1, max_size=6),
)
def test_pairing_has_the_least_total_distance(a: list[int], b: list[int]) -> None:
    from scipy.optimize import linear_sum_assignment

    first, second = pair_neighbours(a, b)
    assert len(first) == len(set(first.tolist())) == len(set(second.tolist())) == min(len(a), len(b))
    distance = np.abs(np.subtract.outer(np.array(a, float), np.array(b, float)))
    assert distance[first, second].sum() == pytest.approx(distance[linear_sum_assignment(distance)].sum())
