from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clonometer.stats.processes import Processes, pair_neighbours


@pytest.mark.parametrize(
    "build",
    [
        lambda: Processes.of([1.0, 2.0], [0.0]),
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
