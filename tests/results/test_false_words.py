"""Runs between which nothing changed, simulated: what stored runs say of the noise keeps verdicts true."""

from __future__ import annotations

import pytest
from bench.simulated_alarms import Machine, alarms, alarms_beside_stored

from clonometer.results.compare.variance import UNKNOWN_VARIANCE

TIMES = 10


@pytest.mark.parametrize("processes", [12, 30])
@pytest.mark.parametrize("between", [0.0, 0.1])
def test_hardly_anything_is_called_changed_where_these_runs_bound_the_noise(processes: int, between: float) -> None:
    # With the scatter of the processes alone, nine of ten are at a noise of 10%.
    assert max(alarms(TIMES, Machine(between, 0.0, processes), variance=UNKNOWN_VARIANCE)[:2]) <= 2


def test_a_row_that_takes_twice_as_long_is_found_though_nobody_knows_the_noise() -> None:
    assert min(alarms(TIMES, Machine(0.03, 0.0, 12), slower=0.69, variance=UNKNOWN_VARIANCE)) >= TIMES - 1


@pytest.mark.parametrize("processes", [12, 30])
@pytest.mark.parametrize("between", [0.0, 0.1])
def test_stored_runs_say_how_far_runs_are_apart(processes: int, between: float) -> None:
    false = max(alarms_beside_stored(TIMES, Machine(between, 0.0, processes), 3))
    # At 5% two or more of ten have a chance of 9%; what was assumed before, 2%, gives nine of ten at 10%.
    assert false <= 2
