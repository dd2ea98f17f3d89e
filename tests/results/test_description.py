from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from clonometer.results.rows.description import level_change, warm_up
from clonometer.results.summary import summarize
from clonometer.results.types import Estimate, Outliers, WarmUp
from clonometer.stats.segments import segment_medians

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
RANDOM = np.random.default_rng(40)
SHAPES = {"level.drift", "warm_up.long", "outliers.explained"}


def _reaped(run: Any) -> Estimate:
    return next(cell for cell in summarize(run).cells if cell.stage == "reaped")


def _sentences(row: Estimate) -> dict[str, str]:
    return {warning.id: warning.sentence for warning in row.warnings if warning.id in SHAPES}


def test_mean_and_mad_are_those_of_the_samples(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.2)
    values = builder.run.data[text]["reaped_ns"]
    row = _reaped(builder.run)
    assert row.mean_ns == pytest.approx(values.mean())  # processes of the same length
    assert row.mad_ns == np.median(np.abs(values - np.median(values)))
    assert (row.drift, row.warm_up) == (None, None)


def test_quiet_runs_get_none_of_these_warnings(make_builder: Any) -> None:
    warned = []
    for seed in range(40):
        builder = make_builder(seed)
        builder.cell("launch.fork", FORK, spread=0.05, processes=20)
        warned += [_sentences(row) for row in summarize(builder.run).cells]
    assert [sentences for sentences in warned if sentences] == []


@pytest.mark.parametrize("rise", [0.3, -0.2])
def test_a_level_that_changed_over_the_run_is_told_in_place_of_an_interval(builder: Any, rise: float) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.01, processes=20)
    steady = _reaped(builder.run)
    assert steady.median_ends is not None
    columns = builder.run.data[text]
    for name in FORK:
        columns[name] = (columns[name] * (1 + rise * columns["process"] / 19)).astype(np.int64)
    row = _reaped(builder.run)
    assert row.drift is not None
    assert row.drift.share == pytest.approx(0.8 * abs(rise) / (1 + rise / 2), rel=0.15)
    assert "has no 95% interval" in _sentences(row)["level.drift"]
    assert row.median_ends is None
    assert row.median_ns == pytest.approx(steady.median_ns * (1 + rise / 2), rel=0.02)


def test_wandering_is_told_and_order_is_that_of_time() -> None:
    starts = np.arange(24.0)
    hill = 100 + 20 * np.sin(starts / 24 * 2 * np.pi)
    assert level_change(hill, starts) is not None
    shuffled = RANDOM.permutation(24)
    change = level_change(hill[shuffled], starts[shuffled])
    assert change == level_change(hill, starts)
    small = 100 + 0.9 * np.sin(starts / 24 * 2 * np.pi)
    assert level_change(small, starts) is None
    assert level_change(hill[:7], starts[:7]) is None
    assert level_change(hill, np.zeros(24)) is None


def _processes(profile: np.ndarray, count: int = 8, noise: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    values = profile * np.exp(RANDOM.normal(0, noise, (count, profile.size)))
    return values.ravel(), np.arange(count) * profile.size


def _warm_up(values: np.ndarray, starts: np.ndarray) -> WarmUp | None:
    return warm_up(values, starts, segment_medians(values, starts))


@pytest.mark.parametrize("length", [10, 20, 40])
def test_warm_up_is_found_with_its_length(length: int) -> None:
    profile = np.where(np.arange(100) < length, 130.0, 100.0)
    for _ in range(50):
        finding = _warm_up(*_processes(profile))
        assert finding is not None
        assert finding.samples == pytest.approx(length, abs=3)
        assert finding.share == pytest.approx(0.3, abs=0.03)


def test_what_is_no_warm_up() -> None:
    late = np.where(np.arange(100) < 80, 100.0, 130.0)
    tiny = np.where(np.arange(100) < 20, 102.0, 100.0)
    for profile in (late, tiny, np.full(100, 100.0)):
        assert _warm_up(*_processes(profile)) is None
    values, starts = _processes(np.full(100, 100.0))
    values[:50] *= 3  # one process only
    assert _warm_up(values, starts) is None
    assert _warm_up(values[:5], starts[:1]) is None
    assert sum(_warm_up(*_processes(np.full(90, 100.0), noise=0.3)) is not None for _ in range(100)) == 0


def test_a_long_warm_up_is_warned_of(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.01, blocks=1, samples=60)
    columns = builder.run.data[text]
    columns["reaped_ns"][columns["sample"] < 12] *= 2
    row = _reaped(builder.run)
    assert re.findall(r"\b\d+\b", _sentences(row)["warm_up.long"]) == ["12", "100"]


def _with_outliers(builder: Any, chosen: Any) -> str:
    text: str = builder.cell("launch.fork", FORK, spread=0.02)
    columns = builder.run.data[text]
    columns["cpu_after"] = np.zeros(columns["process"].size, np.int32)
    columns["reaped_ns"][chosen(columns)] *= 5
    return text


def test_outliers_that_migrated_are_told(builder: Any) -> None:
    text = _with_outliers(builder, lambda columns: columns["sample"] == 3)
    columns = builder.run.data[text]
    columns["cpu_after"][(columns["sample"] == 3) & (columns["process"] < 11)] = 1
    row = _reaped(builder.run)
    assert row.outliers == Outliers(count=36, causes={"migration": 33}, unexplained=3)
    assert "moved to another CPU" in _sentences(row)["outliers.explained"]


def test_a_fact_that_holds_everywhere_explains_nothing(builder: Any) -> None:
    text = _with_outliers(builder, lambda columns: columns["sample"] == 3)
    builder.run.data[text]["cpu_after"][:] = 1
    row = _reaped(builder.run)
    assert row.outliers == Outliers(count=36, causes={}, unexplained=36)
    assert "outliers.explained" not in _sentences(row)


@pytest.mark.parametrize(
    ("facts", "cause"),
    [({"involuntary_switches": 500}, "involuntary_switch"), ({"effective_mhz": {"1": 1500.0}}, "frequency_change")],
)
def test_facts_of_the_block_explain_its_outliers(builder: Any, facts: dict[str, Any], cause: str) -> None:
    _with_outliers(builder, lambda columns: (columns["block"] == 2) & (columns["process"] == 4))
    for block in builder.run.metadata["blocks"]:
        if (block["process"], block["block"]) == (4, 2):
            block["facts"] |= facts
    row = _reaped(builder.run)
    assert row.outliers == Outliers(count=30, causes={cause: 30}, unexplained=0)


def test_constant_samples_have_no_outliers_and_one_mode(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    for name, value in FORK.items():
        builder.run.data[text][name][:] = value
    row = _reaped(builder.run)
    assert (row.median_low_ns, row.median_high_ns, row.mad_ns) == (90_000, 90_000, 0)
    assert row.outliers == Outliers(count=0, causes={}, unexplained=0)
    assert _sentences(row) == {}
