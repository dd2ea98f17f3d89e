from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from clonometer.stats.trend import mann_kendall, place_of_step, rank_von_neumann, theil_sen

RANDOM = np.random.default_rng(20)


@pytest.mark.parametrize("n", [8, 20, 200])
def test_mann_kendall_is_kendalls_score_with_the_normal_p(n: int) -> None:
    for values in (RANDOM.normal(size=n), np.round(RANDOM.normal(size=n), 1), np.arange(n) + RANDOM.normal(size=n)):
        ours = mann_kendall(values)
        pairs = [np.sign(values[j] - values[i]) for i in range(n) for j in range(i + 1, n)]
        assert ours.statistic == sum(pairs)
        exact = scipy_stats.kendalltau(np.arange(n), values).pvalue
        assert ours.p_value == pytest.approx(exact, rel=0.15, abs=0.03)


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=40))
def test_mann_kendall_does_not_mind_direction_or_scale(values: list[float]) -> None:
    forward, backward = mann_kendall(values), mann_kendall(values[::-1])
    assert forward.statistic == -backward.statistic
    assert forward.p_value == backward.p_value
    assert 0 <= forward.p_value <= 1


def test_theil_sen_is_scipys() -> None:
    x, y = RANDOM.normal(size=30), RANDOM.normal(size=30)
    assert theil_sen(x, y) == pytest.approx(scipy_stats.theilslopes(y, x).slope)
    with pytest.raises(ValueError, match="two different x"):
        theil_sen([1, 1], [2, 3])
    with pytest.raises(ValueError, match="2 x, but 3 y"):
        theil_sen([1, 2], [2, 3, 4])


def test_rank_von_neumann_is_its_definition_with_mean_ranks() -> None:
    values = np.round(RANDOM.normal(size=25), 1)
    ranks = scipy_stats.rankdata(values)
    steps = sum((ranks[i] - ranks[i + 1]) ** 2 for i in range(24))
    assert rank_von_neumann(values).statistic == pytest.approx(steps / (25 * ranks.var()))


def test_rank_von_neumann_has_the_p_of_a_permutation_test() -> None:
    values = np.array([1, 3, 2, 4, 6, 5, 8, 7, 12, 9, 11, 10.0])
    ours = rank_von_neumann(values)
    orders = [rank_von_neumann(RANDOM.permutation(values)).statistic for _ in range(20_000)]
    assert ours.p_value == pytest.approx(np.mean(np.array(orders) <= ours.statistic + 1e-9), abs=0.003)


def test_rank_von_neumann_keeps_its_level_and_sees_memory() -> None:
    chance = [rank_von_neumann(RANDOM.normal(size=20)).p_value < 0.01 for _ in range(2000)]
    assert np.mean(chance) < 0.015
    seen = []
    for _ in range(200):
        noise, walk = RANDOM.normal(size=20), np.zeros(20)
        for place in range(1, 20):
            walk[place] = 0.9 * walk[place - 1] + noise[place]
        seen.append(rank_von_neumann(walk).p_value < 0.01)
    assert np.mean(seen) > 0.6


def test_a_step_near_an_end_is_found_where_it_is() -> None:
    for size in (3, 6, 12, 30, 54, 57):
        for sign in (-1, 1):
            values = RANDOM.normal(size=60) + sign * 10.0 * (np.arange(60) >= size)
            values[RANDOM.integers(60)] += 8
            assert abs(place_of_step(values) - size) <= 1


def test_the_place_of_a_step_is_its_definition() -> None:
    for size in (2, 3, 15, 16):
        values = np.round(RANDOM.normal(size=size), 1)
        left = [
            sum(np.abs(side - np.median(side)).sum() for side in (values[:place], values[place:]))
            for place in range(1, size)
        ]
        assert left[place_of_step(values) - 1] == pytest.approx(min(left))


@pytest.mark.parametrize("values", [[1.0], [1, 2, 3], [7.0] * 50])
def test_what_is_too_short_or_constant_shows_nothing(values: list[float]) -> None:
    assert mann_kendall(values).p_value == 1.0
    assert rank_von_neumann(values).p_value == 1.0


@pytest.mark.parametrize("test", [mann_kendall, rank_von_neumann, place_of_step])
def test_what_is_no_sequence_is_refused(test: object) -> None:
    for values, message in (([], "empty"), ([1.0, float("nan")], "finite"), (np.zeros(2001), "2000 at most")):
        with pytest.raises(ValueError, match=message):
            test(values)  # type: ignore[operator]
