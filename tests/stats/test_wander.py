from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from clonometer.stats.wander import added_by_wandering, freedom_of_differences

RANDOM = np.random.default_rng(30)


@pytest.mark.parametrize("size", [12, 30])
def test_of_a_random_walk_it_is_no_less_than_what_it_moves_its_mean_by(size: int) -> None:
    walks = np.cumsum(RANDOM.normal(size=(4000, size)), axis=1)
    moved = float(np.var(walks.mean(axis=1)))
    assert moved <= added_by_wandering(walks + RANDOM.normal(size=walks.shape)) <= 2.5 * moved


def test_of_what_does_not_wander_it_is_next_to_nothing_beside_its_scatter() -> None:
    assert added_by_wandering(RANDOM.normal(size=(4000, 12))) < 0.05 * 2 / 4
    assert added_by_wandering([]) == added_by_wandering([range(7), np.ones(12)]) == 0.0


def test_what_scatters_much_does_not_hide_what_scatters_little() -> None:
    walks = np.cumsum(RANDOM.normal(size=(40, 12)), axis=1)
    wild = 1000 * RANDOM.normal(size=(40, 12))
    assert added_by_wandering([*walks, *wild]) == pytest.approx(added_by_wandering(walks), rel=0.2)


@pytest.mark.parametrize(
    "pairs", [[(0, 1), (2, 3), (4, 5)], list(combinations(range(6), 2)), [(0, k) for k in range(1, 9)]]
)
def test_freedom_is_that_of_the_mean_square(pairs: list[tuple[int, int]]) -> None:
    sides = RANDOM.normal(size=(40_000, 9))
    squares = np.mean([(sides[:, a] - sides[:, b]) ** 2 for a, b in pairs], axis=0)
    # Of a mean square with f degrees of freedom the variance is 2 / f of its square.
    assert freedom_of_differences(pairs) == pytest.approx(2 * squares.mean() ** 2 / squares.var(), rel=0.1)
