from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from clonometer.stats.rank_sum import least_p, rank_sum_p, ratio_interval, shift_interval


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (5, 3), (12, 12), (12, 24), (40, 40)])
def test_it_is_mann_and_whitneys_exact_test(n: int, m: int) -> None:
    random = np.random.default_rng(n * 100 + m)
    a, b = random.normal(0.5, 1, (20, n)), random.normal(0, 1, (20, m))
    for row in range(20):
        larger, smaller = rank_sum_p(a[row], b[row])
        for p, side in ((larger, "greater"), (smaller, "less")):
            wanted = stats.mannwhitneyu(a[row], b[row], alternative=side, method="exact").pvalue
            assert p == pytest.approx(wanted, rel=1e-9)


def test_the_approximation_for_large_sides_is_near() -> None:
    random = np.random.default_rng(1)
    for shift in (0.0, 0.5, 1.0):
        a, b = random.normal(shift, 1, 41), random.normal(0, 1, 30)
        exact = stats.mannwhitneyu(a, b, alternative="greater", method="exact").pvalue
        p = rank_sum_p(a, b)[0]
        assert p >= 0.99 * exact
        assert np.log(p) == pytest.approx(np.log(exact), rel=0.1)


def test_with_ties_it_is_the_exact_permutation_test() -> None:
    random = np.random.default_rng(2)
    for _ in range(30):
        values = random.integers(0, random.integers(2, 6), 10).astype(float)
        p_values = rank_sum_p(values[:4], values[4:])
        wins = np.array([_wins(np.array(combination), values) for combination in combinations(range(10), 4)])
        observed = _wins(np.arange(4), values)
        assert p_values[0] == pytest.approx(np.mean(wins >= observed))
        assert p_values[1] == pytest.approx(np.mean(wins <= observed))


def test_many_ties_of_large_sides_are_corrected_for() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(0, 3, 60) + random.integers(0, 2, 60), random.integers(0, 3, 50)
    wanted = stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic").pvalue
    assert rank_sum_p(a, b)[0] == pytest.approx(wanted, rel=1e-6)


def _wins(chosen: np.ndarray, values: np.ndarray) -> float:
    rest = np.delete(values, chosen)
    values_chosen = values[chosen]
    return float((values_chosen[:, None] > rest).sum() + (values_chosen[:, None] == rest).sum() / 2)


def test_constant_sides_are_no_evidence() -> None:
    for size in (1, 12, 60):
        assert rank_sum_p([7.0] * size, [7.0] * size) == (1.0, 1.0)


def test_the_least_p_is_reached_and_never_undercut() -> None:
    for n, m in ((1, 1), (3, 3), (12, 7)):
        assert rank_sum_p(np.arange(n) + 100.0, np.arange(m))[0] == pytest.approx(least_p(n, m))


@pytest.mark.parametrize(("a", "b"), [([[1.0], [2.0]], [1.0]), ([], [1.0]), ([np.nan], [1.0])])
def test_what_is_no_pair_of_sides_is_refused(a: object, b: object) -> None:
    with pytest.raises(ValueError, match=r"shape|empty|finite"):
        rank_sum_p(a, b)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "m"), [(4, 4), (7, 12), (40, 40), (60, 45)])
def test_the_interval_of_a_shift_is_the_test_turned_around(n: int, m: int) -> None:
    random = np.random.default_rng(n)
    a, b = random.normal(0.5, 1, n), random.normal(0, 1, m)
    interval = shift_interval(a, b)
    assert interval is not None
    assert interval.value == pytest.approx(np.median(a[:, None] - b))
    for end, outwards in ((interval.low, -1e-9), (interval.high, 1e-9)):
        # Just beyond an end it rejects; just within it does not.
        assert min(rank_sum_p(a - end - outwards, b)) <= 0.025
        assert min(rank_sum_p(a - end + outwards, b)) > 0.025


def test_so_few_values_that_nothing_is_rejected_claim_no_more_than_they_cover() -> None:
    few = shift_interval([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert (few.ends, few.n, few.reaches_nominal) == ((-3.0, -5.0, -1.0), 3, False)
    assert few.confidence == pytest.approx(1 - 2 / 20)
    assert shift_interval([1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0]).reaches_nominal
    alone = ratio_interval([3.0], [1.0])
    assert (alone.confidence, alone.n, alone.reaches_nominal) == (0.0, 1, False)


@pytest.mark.parametrize(("n", "least"), [(3, 0.87), (5, 0.93), (6, 0.93), (12, 0.92), (24, 0.92), (60, 0.92)])
def test_the_interval_of_a_ratio_covers_what_it_says(n: int, least: float) -> None:
    random = np.random.default_rng(n)
    sides = random.lognormal(0, 0.2, (800, 2, n))
    assert np.mean([ratio_interval(3 * a, b).contains(3.0) for a, b in sides]) >= least


def test_two_levels_of_processes_hardly_move_the_ratio() -> None:
    """Of such sides the ratio of medians scatters by 10%: it jumps between the levels."""
    random = np.random.default_rng(5)
    logs = 0.3 * random.integers(0, 2, (300, 2, 24)) + random.normal(0, 0.03, (300, 2, 24))
    values = [math.log(ratio_interval(np.exp(a), np.exp(b)).value) for a, b in logs]
    assert np.std(values) < 0.05
    assert np.std(np.subtract(*np.median(logs, axis=2).T)) > 0.1


@pytest.mark.parametrize(("a", "b"), [([1.0, 2.0], [0.0, 1.0]), ([0.0], [1.0]), ([-1.0], [1.0])])
def test_there_is_no_ratio_to_nothing(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="positive values on both sides"):
        ratio_interval(a, b)


def test_a_difference_has_a_sign() -> None:
    assert shift_interval([1.0, 1.1] * 5, [3.0, 3.1] * 5).high < 0


def test_values_that_are_all_alike_are_not_shifted() -> None:
    interval = shift_interval(np.zeros(50), np.zeros(50))
    assert interval is not None
    assert interval.ends == (0.0, 0.0, 0.0)
