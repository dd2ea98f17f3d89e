"""The rule of the alarm, on thousands of simulated checks in which nothing changed, and on some in which much did."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from clonometer.results.check.gate import ERROR_RATE, MAX_REGRESSION, SURELY, alarms, p_slower
from clonometer.results.check.power import detectable_change
from clonometer.stats.rank_sum import rank_sum_p

CHECKS, CELLS, STAGES, PROCESSES = 2000, 20, 3, 12
Floats = np.ndarray
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def log_normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.asarray(np.exp(0.15 * random.normal(size=shape)))


def two_modes(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.where(random.random(shape) < 0.8, 1.0, 1.6) * np.exp(0.02 * random.normal(size=shape))


def wild(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Some processes met a neighbour and took many times as long."""
    return np.asarray(np.exp(0.1 * random.standard_t(1.5, size=shape).clip(-5, 60)))


def side(random: np.random.Generator, draw: Draw, checks: int = CHECKS) -> Floats:
    """Process medians, shape (checks, rows, processes): the stages of a cell rise and fall together."""
    shared = draw(random, (checks, CELLS, 1, PROCESSES))
    levels = np.exp(0.03 * random.normal(size=(checks, CELLS, STAGES, PROCESSES)))
    return (shared * levels).reshape(checks, CELLS * STAGES, PROCESSES)


def judge(base: Floats, other: Floats, max_regression: float, tests: int | None = None) -> Floats:
    larger, _ = rank_sum_p(other.reshape(-1, PROCESSES), base.reshape(-1, PROCESSES))
    ratios = np.median(other, axis=2) / np.median(base, axis=2)
    p = larger.reshape(ratios.shape)
    if tests == 1:
        return np.asarray((p <= ERROR_RATE) & (ratios >= 1 + max_regression))
    return alarms(p, ratios, max_regression=max_regression, error_rate=ERROR_RATE)


@pytest.mark.parametrize("draw", [log_normal, two_modes, wild])
def test_a_thousand_checks_of_nothing_alarm_at_most_twice_in_a_hundred(draw: Draw) -> None:
    random = np.random.default_rng(20)
    base, other = side(random, draw), side(random, draw)
    false_alarms = judge(base, other, MAX_REGRESSION).any(axis=1)
    assert false_alarms.size >= 1000
    assert false_alarms.mean() <= 0.02
    # The design holds by the correction alone, without the help of the least regression that counts.
    assert judge(base, other, 1e-9).any(axis=1).mean() <= 0.02
    # And it is the correction that does it: uncorrected, the same checks alarm all the time.
    assert judge(base, other, 1e-9, tests=1).any(axis=1).mean() > 0.2


def test_a_slow_down_is_found_where_it_is_said_to_be_detectable() -> None:
    """What a baseline says it can detect is found: over many baselines, in about 95 of 100."""
    random = np.random.default_rng(21)
    sizes, tests = (PROCESSES, PROCESSES), CELLS * STAGES
    for spread in (0.01, 0.05):
        large = np.exp(spread * random.normal(size=4000))
        change = detectable_change(np.log(large), sizes, tests=tests, seed=1)
        assert change is not None
        base = np.exp(spread * random.normal(size=(2000, 1, PROCESSES)))
        other = np.exp(spread * random.normal(size=(2000, 1, PROCESSES))) * (1 + change)
        larger, _ = rank_sum_p(other[:, 0] / (1 + SURELY * MAX_REGRESSION), base[:, 0])
        ratios = np.median(other, axis=2) / np.median(base, axis=2)
        alarmed = alarms(
            larger[:, None], ratios, max_regression=MAX_REGRESSION, error_rate=ERROR_RATE, tests=tests
        ).mean()
        assert 0.92 <= alarmed <= 0.99


def test_a_p_value_is_that_of_being_slower_by_half_of_what_is_allowed() -> None:
    random = np.random.default_rng(23)
    base = np.exp(0.001 * random.normal(size=40))
    by_a_little, by_more = (p_slower(base, base[::-1] * (1 + change), 0.05) for change in (0.02, 0.03))
    assert by_a_little > 0.5
    assert by_more < 1e-6
    # Of the same size: a hypothesis at its border is rejected as often as it should be.
    rejected = [
        p_slower(*np.exp(0.05 * random.normal(size=(2, 30))) * [[1], [1.025]], 0.05) <= 0.05 for _ in range(2000)
    ]
    assert 0.03 <= np.mean(rejected) <= 0.07
    assert p_slower(base, base * 1.03, 0.05, inflation=4.0) > p_slower(base, base * 1.03, 0.05)


def test_what_is_detectable_grows_with_the_spread_and_with_the_drift_between_runs() -> None:
    random = np.random.default_rng(22)
    unit = random.normal(size=24)
    changes = [detectable_change(spread * unit, (12, 12), tests=60, seed=1) or np.inf for spread in (0.01, 0.05, 0.2)]
    assert changes == sorted(changes)
    assert changes[0] < 0.07
    calm, restless = (
        detectable_change(0.01 * unit, (12, 12), tests=60, seed=1, shifts=shifts)
        for shifts in ([0.0], [-0.05, 0.0, 0.05])
    )
    assert calm is not None
    assert restless is not None
    assert restless > 1.5 * calm


def test_too_few_processes_detect_nothing() -> None:
    logs = 0.01 * np.random.default_rng(3).normal(size=12)
    assert detectable_change(logs, (3, 3), tests=60, seed=1) is None
    assert detectable_change([1.6], (12, 12), tests=1, seed=1) is None
    assert detectable_change([1.6] * 12, (12, 12), tests=60, seed=1) == pytest.approx(MAX_REGRESSION, rel=0.05)
