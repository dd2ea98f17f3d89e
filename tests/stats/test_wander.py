from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.wander import added_by_wandering

RANDOM = np.random.default_rng(30)


@pytest.mark.parametrize("size", [12, 30])
def test_of_a_random_walk_it_is_no_less_than_what_it_moves_its_mean_by(size: int) -> None:
    walks = np.cumsum(RANDOM.normal(size=(4000, size)), axis=1)
    moved = float(np.var(walks.mean(axis=1)))
    assert moved <= added_by_wandering([walks + RANDOM.normal(size=walks.shape)]) <= 2.5 * moved


def test_of_what_does_not_wander_it_is_next_to_nothing_beside_its_scatter() -> None:
    assert added_by_wandering([RANDOM.normal(size=(4000, 12))]) < 0.05 * 2 / 4
    assert added_by_wandering([]) == added_by_wandering([[range(7), np.ones(12), range(12)]]) == 0.0


def test_what_all_of_a_group_move_by_together_does_not_count() -> None:
    groups = [np.cumsum(RANDOM.normal(size=12)) + 0.1 * RANDOM.normal(size=(40, 12)) for _ in range(40)]
    assert added_by_wandering(groups) < 0.05 * 0.1**2 * 2 / 4 < added_by_wandering([np.concatenate(groups)])


def test_what_scatters_much_does_not_hide_what_scatters_little() -> None:
    walks = np.cumsum(RANDOM.normal(size=(40, 12)), axis=1)
    wild = 1000 * RANDOM.normal(size=(40, 12))
    assert added_by_wandering([[*walks, *wild]]) == pytest.approx(added_by_wandering([walks]), rel=0.2)
