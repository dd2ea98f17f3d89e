from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from clonometer.stats.trend import keeps_level, place_of_step, rank_von_neumann

RANDOM = np.random.default_rng(20)


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


def _autoregressive(correlation: float, size: int) -> np.ndarray:
    values = RANDOM.normal(size=size)
    values[1:] *= (1 - correlation**2) ** 0.5
    for place in range(1, size):
        values[place] += correlation * values[place - 1]
    return values


@pytest.mark.parametrize(("size", "seen_drift", "seen_memory"), [(12, 0.55, 0.35), (20, 0.85, 0.7), (40, 0.98, 0.95)])
def test_levels_that_depend_on_time_are_seen_and_others_are_not(
    size: int, seen_drift: float, seen_memory: float
) -> None:
    chance = [keeps_level(RANDOM.normal(size=size)) for _ in range(2000)]
    assert np.mean(chance) >= 0.985
    drift = [keeps_level(np.linspace(0, 5, size) + RANDOM.normal(size=size)) for _ in range(300)]
    memory = [keeps_level(_autoregressive(0.9, size)) for _ in range(300)]
    assert np.mean(drift) <= 1 - seen_drift
    assert np.mean(memory) <= 1 - seen_memory


def test_of_few_values_nothing_is_known_of_their_level() -> None:
    assert keeps_level(range(7))
    assert not keeps_level(range(8))
    assert keeps_level(np.ones(50))


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
    assert rank_von_neumann(values).p_value == 1.0


@pytest.mark.parametrize("test", [keeps_level, rank_von_neumann, place_of_step])
def test_what_is_no_sequence_is_refused(test: object) -> None:
    for values, message in (([], "empty"), ([1.0, float("nan")], "finite")):
        with pytest.raises(ValueError, match=message):
            test(values)  # type: ignore[operator]
    with pytest.raises(ValueError, match="2000 at most"):
        place_of_step(np.zeros(2001))
