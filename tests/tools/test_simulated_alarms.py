"""``make bench BENCH=simulated_alarms`` in small: what `compare` and `check` promise, and that it can fail."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from bench.simulated_alarms import Machine, alarms, detectable_share

from clonometer.results.compare.moments import SAME_MOMENTS

COMPARISONS = 30
#: Of 30 comparisons that are wrong in 5%, so many or more are in 1.6%.
MANY = 5


@pytest.mark.parametrize(
    "machine",
    [
        Machine(between=0.02, processes=12),
        Machine(between=0.02, processes=60),
        Machine(common=0.08, processes=12),
        Machine(between=0.02, common=0.08, processes=12, runs=3),
    ],
    ids=str,
)
def test_moments_that_differ_are_called_no_change(machine: Machine) -> None:
    changed, alarmed, _ = alarms(COMPARISONS, machine, seed=5)
    assert changed < MANY
    assert alarmed < 3


def test_what_counts_no_moments_is_wrong_much_more_often() -> None:
    changed, _, _ = alarms(COMPARISONS, Machine(between=0.02, processes=60), seed=5, moments=SAME_MOMENTS)
    assert changed > COMPARISONS / 2


def test_a_change_is_found_and_several_runs_find_less_of_it() -> None:
    assert alarms(20, Machine(0.01, processes=30), seed=6, slower=np.log(1.25))[2] >= 19
    counts = alarms(20, Machine(0.01, processes=12, runs=5), seed=6, slower=np.log(1.1))
    assert counts[2] >= 19


@pytest.mark.parametrize("shape", ["normal", "t3", "floor", "neighbour"])
def test_measuring_longer_never_sees_less(shape: str) -> None:
    sizes = (12, 30, 49, 50, 120)
    seen = [
        float(np.median([detectable_share(np.random.default_rng(seed), size, shape) for seed in range(3)]))
        for size in sizes
    ]
    # Each is an estimate: two hundredths of it are chance.
    assert all(later <= earlier * 1.02 for earlier, later in pairwise(seen)), seen
    assert seen[-1] < seen[0]
