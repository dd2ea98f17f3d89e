"""``make coverage`` in small: the same simulation with a fixed seed, and that it can fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from clonometer.stats.interval import Interval


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "coverage.py"
    spec = importlib.util.spec_from_file_location("tools_coverage", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    module._TRUTH_PROCESSES = 20_000
    return module


@pytest.mark.parametrize("case", range(5))
def test_twenty_processes_cover(coverage: ModuleType, case: int) -> None:
    name, draw = coverage.CLAIMED[case]
    row = coverage.simulate(name, draw, 20, 150, 3, claimed=True, warns=False)
    # 150 runs: two standard errors are 3.6%.
    assert 0.90 <= row.median <= 0.99
    assert 0.90 <= row.ratio <= 0.99
    assert row.warned <= 0.03


def test_few_processes_and_drift_carry_a_warning(coverage: ModuleType) -> None:
    few = coverage.simulate("few", coverage.lognormal, 3, 100, 3, claimed=False, warns=True)
    assert few.median < 0.9
    assert (few.warned, few.unsaid) == (1.0, 0.0)
    drift = coverage.simulate("drift", coverage.drifting(0.2), 20, 60, 3, claimed=False, warns=True)
    assert drift.warned >= 0.95


def test_misses_that_nothing_was_said_of_are_counted(coverage: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    wandering = coverage.simulate("AR(1)", coverage.wandering(0.9), 20, 100, 3, claimed=False, warns=True)
    assert 0 < wandering.unsaid < 1 - wandering.median
    monkeypatch.setattr(coverage, "level_change", lambda values, starts: None)
    mute = coverage.simulate("AR(1)", coverage.wandering(0.9), 20, 100, 3, claimed=False, warns=True)
    assert mute.unsaid == pytest.approx(1 - mute.median)
    assert len(mute.text()) <= 80


def test_intervals_that_are_too_narrow_miss(coverage: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    real = coverage.median_in_time

    def halved(values: object) -> Interval:
        interval = real(values)
        middle = (interval.low + interval.high) / 2
        low, high = sorted((middle, interval.value))
        return Interval(interval.value, low, high, interval.confidence, interval.method, interval.n)

    monkeypatch.setattr(coverage, "median_in_time", halved)
    row = coverage.simulate("narrow", coverage.lognormal, 20, 60, 3, claimed=True, warns=False)
    assert not row.holds()
    assert row.text().endswith("MISS")
