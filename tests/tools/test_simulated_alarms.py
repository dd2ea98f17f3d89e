"""``make bench BENCH=simulated_alarms`` in small: what `compare` and `check` promise, and that it can fail."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from bench.simulated_alarms import LITTLE_SCATTER, Machine, alarms, detectable_shares, endings

from clonometer.results.compare.variance import NO_VARIANCE, variance_from_share
from clonometer.verdicts import Gate

COMPARISONS = 20
#: Of 20 comparisons that are wrong in 5%, so many or more are in 1.6%.
MANY = 4


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
    changed, _, _ = alarms(COMPARISONS, Machine(between=0.02, processes=60), seed=5, variance=NO_VARIANCE)
    assert changed > COMPARISONS / 2


def test_a_change_is_found_and_several_runs_find_less_of_it() -> None:
    slower = alarms(20, Machine(0.01, processes=30), seed=6, slower=np.log(1.25), variance=variance_from_share(0.01))
    assert slower[2] >= 19
    counts = alarms(20, Machine(0.01, processes=12, runs=5), seed=6, slower=np.log(1.1))
    assert counts[2] >= 19


@pytest.mark.parametrize(("shape", "seeds"), [("normal", 4), ("t3", 4), ("floor", 4), ("neighbour", 8)])
def test_measuring_longer_never_sees_less(shape: str, seeds: int) -> None:
    sizes = (12, 30, 49, 50, 80, 120)
    shares = np.array([detectable_shares(seed, sizes, shape) for seed in range(seeds)])
    # Their mean: beside a neighbour the median jumps from slow to fast. The 50th process adds as little as chance does.
    seen = shares.mean(axis=(0, 2))
    assert all(later <= earlier * 1.01 for earlier, later in pairwise(seen)), seen
    assert seen[-1] < seen[2] < seen[0]


def test_a_check_of_a_measured_machine_ends_with_an_answer() -> None:
    machine = Machine(0.01, processes=30, scatter=LITTLE_SCATTER)
    assert endings(10, machine)[Gate.PASS] >= 9
    slow = endings(10, machine, slower=np.log(1.1))
    assert slow[Gate.FAIL] >= 9
    assert slow[Gate.PASS] == 0
    assert endings(5, Machine(0.01, processes=30)) == {Gate.UNKNOWN: 5}


def test_first_launches_that_move_by_a_fifth_are_called_no_change() -> None:
    changed, _, _ = alarms(COMPARISONS, Machine(0.2, processes=30, temperature="cold"), seed=5)
    assert changed < MANY
    warm, _, _ = alarms(5, Machine(0.2, processes=30), seed=5, variance=variance_from_share(0.02))
    assert warm == 5
