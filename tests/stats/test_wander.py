from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonometer.stats.wander import MOST_SQUARE, expected_square, most_added_variance, typical_wandering

RANDOM = np.random.default_rng(30)


def wandering(groups: list[Any]) -> float:
    return typical_wandering(groups)[0]


@pytest.mark.parametrize("size", [12, 30])
def test_of_a_random_walk_it_is_what_a_ratio_is_off_by(size: int) -> None:
    walks = np.cumsum(RANDOM.normal(size=(4000, size)), axis=1)
    off = float(np.var(walks.mean(axis=1) - walks[:, 0]))
    assert wandering([walks + RANDOM.normal(size=walks.shape)]) == pytest.approx(2 * off, rel=0.3)


@pytest.mark.parametrize("size", [8, 12, 13, 24, 40])
def test_of_what_does_not_wander_it_is_next_to_nothing_beside_its_scatter(size: int) -> None:
    """For any number of processes: what is expected of a winsorised square follows from it."""
    still = RANDOM.normal(size=(6000, size))
    assert wandering([still]) < 0.5 / size
    assert wandering([]) == wandering([[range(7), np.ones(12), range(12)]]) == 0.0


def test_a_winsorised_square_is_as_large_as_it_is_expected_to_be() -> None:
    for size, freedom in ((12, 9), (24, 21)):
        variances = RANDOM.chisquare(freedom, 400_000) / (freedom - 2)
        squares = RANDOM.normal(size=400_000) ** 2 / variances
        seen = np.average(np.minimum(squares, MOST_SQUARE), weights=1 / variances)
        assert seen == pytest.approx(expected_square(size), abs=0.02)


def test_what_all_of_a_group_move_by_together_does_not_count() -> None:
    groups = [np.cumsum(RANDOM.normal(size=12)) + 0.1 * RANDOM.normal(size=(40, 12)) for _ in range(40)]
    assert wandering(groups) < 0.05 * 0.1**2 * 2 / 4 < wandering([np.concatenate(groups)])


def test_what_scatters_much_does_not_hide_what_scatters_little() -> None:
    walks = np.cumsum(RANDOM.normal(size=(40, 12)), axis=1)
    wild = 1000 * RANDOM.normal(size=(40, 12))
    assert wandering([[*walks, *wild]]) == pytest.approx(wandering([walks]), rel=0.2)


def test_one_row_with_a_step_of_six_does_not_decide_all_others() -> None:
    """In a mean of squares it did: every ratio below 14 was untold."""
    rows = 0.1 * RANDOM.normal(size=(40, 12))
    rows[0, -4:] += np.log(6)
    rest = wandering([rows[1:]])
    assert wandering([rows]) < rest + 0.05**2
    assert wandering([rows[:10]]) < 0.2**2
    # Two waves of each row but one, whose place the median takes.
    assert [typical_wandering([rows[:size]])[1] for size in (3, 8, 40)] == [4, 14, 78]


def test_the_variance_beyond_their_errors_is_that_of_most() -> None:
    values = 0.3 * RANDOM.normal(size=2000)
    assert most_added_variance(values**2, np.zeros(2000)) == pytest.approx(0.09, rel=0.2)
    values[:500] += 5
    assert most_added_variance(values**2, np.zeros(2000)) < 0.09 * 2.3
    assert most_added_variance(np.full(9, 0.01), np.full(9, 0.1)) == 0.0


@pytest.mark.parametrize("size", [9, 30])
def test_it_is_exceeded_in_a_fifth_of_cases(size: int) -> None:
    values = 0.3 * RANDOM.normal(size=(2000, size))
    squares = (values - np.median(values, axis=1, keepdims=True)) ** 2
    most = [most_added_variance(each, np.full(size, 0.01)) for each in squares]
    assert 0.12 < np.mean(np.array(most) < 0.08) < 0.3
