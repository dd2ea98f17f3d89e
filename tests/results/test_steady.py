"""Whether processes of a runtime came to a steady level, of samples whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK, PTHREAD

from clonometer.results.rows.groups import MeasuredQuantity, SampleGroup
from clonometer.results.rows.steady import steady_state
from clonometer.results.summary import summarize
from clonometer.results.types import SteadyState

PROCESSES, SAMPLES = 8, 120
QUANTITY = MeasuredQuantity("reaped_ns", "ns", "reaped", "i64")


def group_of(profile: np.ndarray, spread: float = 0.03) -> SampleGroup:
    """Processes whose samples follow a profile, with scatter."""
    random = np.random.default_rng(7)
    values = 50_000 * profile * np.exp(random.normal(0, spread, (PROCESSES, profile.size)))
    process = np.repeat(np.arange(PROCESSES), profile.size)
    return SampleGroup(QUANTITY, None, process, np.zeros_like(process), values.ravel())


def step_at(place: int, factor: float) -> np.ndarray:
    return np.where(np.arange(SAMPLES) < place, factor, 1.0)


def judged(group: SampleGroup) -> SteadyState:
    state = steady_state(group)
    assert state is not None
    return state


def test_a_level_that_never_changes_is_steady_from_the_start() -> None:
    assert judged(group_of(np.ones(SAMPLES))) == SteadyState(PROCESSES, 0, 0)


@pytest.mark.parametrize("factor", [1.5, 0.7])
def test_an_early_step_is_a_warm_up_whichever_way(factor: float) -> None:
    state = judged(group_of(step_at(30, factor)))
    assert state.never == 0
    assert state.samples is not None
    assert 20 <= state.samples <= 40


def test_a_late_step_means_that_it_was_never_steady() -> None:
    assert judged(group_of(step_at(90, 1.5))) == SteadyState(PROCESSES, PROCESSES, None)


def test_a_small_step_is_no_other_level() -> None:
    assert judged(group_of(step_at(90, 1.02), spread=0.001)).never == 0


def test_few_samples_are_not_judged() -> None:
    assert steady_state(group_of(np.ones(20))) is None


def test_a_row_of_a_language_says_it_and_warns() -> None:
    builder = RunBuilder()
    stages = {"call_returns_ns": 20_000, "reaped_ns": 60_000}
    builder.cell("python.os_thread", stages, samples=60, blocks=2)
    builder.cell("launch.pthread", {"call_returns_ns": 10_000, "task_runs_ns": 20_000, "reaped_ns": 30_000}, samples=60)
    rows = {(row.workload, row.quantity): row for row in summarize(builder.run).cells}
    assert rows["python.os_thread", "reaped_ns"].steady is not None
    assert rows["python.os_thread", "call_returns_ns"].steady is None
    assert rows["launch.pthread", "reaped_ns"].steady is None


def test_a_process_that_changes_late_is_warned_of() -> None:
    builder = RunBuilder()
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000}, samples=60, blocks=2)
    [cell] = builder.run.data.values()
    late = cell["sample"] >= 0
    late &= cell["block"] == cell["block"].max()
    cell["reaped_ns"] = np.where(late & (cell["sample"] >= 20), cell["reaped_ns"] * 3, cell["reaped_ns"])
    [row] = [row for row in summarize(builder.run).cells if row.quantity == "reaped_ns"]
    assert row.steady is not None
    assert row.steady.never == row.steady.processes
    assert "steady.never" in {warning.id for warning in row.warnings}


def test_a_median_that_drifts_has_no_interval_and_a_difference_has_one_error() -> None:
    """Fork rises by two fifths over the run, and is still surely slower."""
    builder = RunBuilder(seed=5)
    text = builder.cell("launch.fork", FORK, spread=0.01, processes=20)
    builder.cell("launch.pthread", PTHREAD, spread=0.01, processes=20)
    columns = builder.run.data[text]
    for name in FORK:
        columns[name] = (columns[name] * (1 + 0.4 * columns["process"] / 19)).astype(np.int64)
    results = summarize(builder.run)
    [row] = [row for row in results.cells if row.cell == "launch.fork[temperature=warm]" and row.stage == "reaped"]
    low, high = row.known_within or (0.0, 0.0)
    assert row.median_ends is None
    assert row.drift is not None
    assert (high - low) / (row.median_ns or 1.0) == row.drift.share
    far = replace(row, median_ns=112_000.0, drift=replace(row.drift, share=1.9)).figures()
    assert far is not None
    assert (far.short, far.low) == ("110 µs", "")
    warm = next(finding for finding in results.findings if finding.id == "process_vs_thread.warm")
    assert (warm.numbers["sureness"], "drift" in warm.sentence) == ("sure", False)
