from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from clonometer.stats.rank_sum import least_p, rank_sum_p, shift_interval


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


def test_so_few_values_that_nothing_is_rejected_have_no_interval() -> None:
    assert shift_interval([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) is None
    assert shift_interval([1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0]) is not None


def test_values_that_are_all_alike_are_not_shifted() -> None:
    interval = shift_interval(np.zeros(50), np.zeros(50))
    assert interval is not None
    assert interval.ends == (0.0, 0.0, 0.0)
