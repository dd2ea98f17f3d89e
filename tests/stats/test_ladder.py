from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.ladder import ladder_of_differences
from clonometer.stats.processes import Processes

# Threads take 10 more; 6 of it are one thing, 3 another, 1 remains.
THREADS, PROCESSES = (30.0, 24.0, 21.0), (20.0, 20.0, 20.0)


def _side(generator: np.random.Generator, value: float, spread: float, n: int = 16) -> Processes:
    return Processes.of(value + spread * generator.normal(size=n), np.arange(n) + generator.random(n) / 2)


def _rungs(generator: np.random.Generator, spread: float = 0.3) -> list[tuple[Processes, Processes]]:
    return [(_side(generator, a, spread), _side(generator, b, spread)) for a, b in zip(THREADS, PROCESSES, strict=True)]


def test_gaps_steps_and_shares_are_found() -> None:
    ladder = ladder_of_differences(_rungs(np.random.default_rng(1)), seed=1)
    for gap, truth in zip(ladder.gaps, (10.0, 4.0, 1.0), strict=True):
        assert gap.contains(truth)
    for step, truth in zip(ladder.steps, (6.0, 3.0), strict=True):
        assert step.contains(truth)
    for share, truth in zip(ladder.shares, (0.6, 0.3), strict=True):
        assert share is not None
        assert share.contains(truth)
    assert ladder.remainder_share is not None
    assert ladder.remainder_share.contains(0.1)


def test_gaps_are_shares_of_the_second_side_too() -> None:
    ladder = ladder_of_differences(_rungs(np.random.default_rng(1)), seed=1)
    for gap, truth in zip(ladder.relative, (0.5, 0.2, 0.05), strict=True):
        assert gap.contains(truth)
        assert gap.high - gap.low < 0.1


def test_there_is_no_share_of_nothing() -> None:
    nothing = (Processes.of([1.0] * 4), Processes.of([0.0] * 4))
    with pytest.raises(ValueError, match="above zero"):
        ladder_of_differences([nothing, nothing], seed=1)


def test_shares_and_remainder_are_the_whole() -> None:
    ladder = ladder_of_differences(_rungs(np.random.default_rng(2)), seed=1)
    assert ladder.remainder_share is not None
    assert sum(share.value for share in ladder.shares if share) + ladder.remainder_share.value == pytest.approx(1.0)


def test_no_gap_has_no_shares() -> None:
    generator = np.random.default_rng(3)
    same = [(_side(generator, 20.0, 3.0), _side(generator, 20.0, 3.0)) for _ in range(3)]
    ladder = ladder_of_differences(same, seed=1)
    assert ladder.gaps[0].contains(0.0)
    assert ladder.shares == (None, None)
    assert ladder.remainder_share is None


def test_drift_that_all_share_cancels() -> None:
    """Rounds are resampled whole: a machine that slows down for all widens nothing."""
    n = 16
    drift = np.linspace(0, 50, n)
    starts = np.arange(n, dtype=float)

    def side(value: float, when: np.ndarray | None) -> Processes:
        return Processes.of(value + drift, when)

    together = ladder_of_differences([(side(a, starts), side(20.0, starts)) for a in (30.0, 24.0)], seed=1)
    apart = ladder_of_differences([(side(a, None), side(20.0, None)) for a in (30.0, 24.0)], seed=1)
    assert together.steps[0].high - together.steps[0].low == pytest.approx(0.0, abs=1e-9)
    assert apart.steps[0].high - apart.steps[0].low > 10


def test_nominal_95_percent_covers_a_step() -> None:
    generator = np.random.default_rng(4)
    hits = sum(ladder_of_differences(_rungs(generator, 2.0), seed=seed).steps[0].contains(6.0) for seed in range(200))
    assert 0.90 <= hits / 200 <= 0.995


def test_one_rung_is_no_ladder() -> None:
    with pytest.raises(ValueError, match="two rungs"):
        ladder_of_differences(_rungs(np.random.default_rng(5))[:1], seed=1)
