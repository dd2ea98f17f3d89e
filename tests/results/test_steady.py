"""Whether processes of a runtime came to a steady level, of samples whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK, PTHREAD

from clonometer.results.rows.groups import MeasuredQuantity, SampleGroup
from clonometer.results.rows.steady import steady_state
from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results, SteadyState

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


RISE = 0.4
MARK = "(drifts)."


def run_of(*rising: str) -> Results:
    """Fork, pthread and fork with memory; the named stages of fork rise by two fifths over the run."""
    builder = RunBuilder(seed=5)
    text = builder.cell("launch.fork", FORK, spread=0.01, processes=20)
    builder.cell("launch.pthread", PTHREAD, spread=0.01, processes=20)
    builder.cell("launch.fork", {name: 20 * value for name, value in FORK.items()}, spread=0.01, processes=20,
                 parent_bytes=1 << 30)  # fmt: skip
    columns = builder.run.data[text]
    for name in rising:
        columns[name] = (columns[name] * (1 + RISE * columns["process"] / 19)).astype(np.int64)
    return summarize(builder.run)


def all_sentences(results: Results) -> list[Finding]:
    first = results.first
    return [*results.findings, *first.answer, *first.reasons, *first.advice]


def marked(finding: Finding) -> bool:
    assert finding.sentence.endswith(MARK) == (finding.headline or finding.sentence).endswith(MARK)
    return finding.sentence.endswith(MARK)


def names(value: Any) -> set[str]:
    return {finding.id for finding in value}


@pytest.fixture(scope="module")
def drifting() -> Results:
    return run_of(*FORK)


def test_where_every_row_keeps_its_level_no_sentence_speaks_of_drift() -> None:
    assert "drifts" not in " ".join(finding.sentence for finding in all_sentences(run_of()))


def test_what_rests_on_a_row_that_drifts_says_so(drifting: Results) -> None:
    of_fork = [finding for finding in drifting.findings if "launch.fork[temperature=warm]" in finding.numbers["cells"]]
    assert "process_vs_thread.warm" in names(of_fork)
    assert [finding.id for finding in of_fork if finding.states_difference and not marked(finding)] == []
    others = [finding for finding in all_sentences(drifting) if finding not in of_fork]
    assert [finding.id for finding in others if marked(finding)] == []


def test_a_difference_that_could_not_be_told_is_not_marked(drifting: Results) -> None:
    unsure = [finding for finding in all_sentences(drifting) if not finding.states_difference]
    assert [finding.id for finding in unsure if marked(finding)] == []


def test_only_the_stages_that_a_sentence_speaks_of_count() -> None:
    results = run_of("call_returns_ns")
    rows = {row.stage: row.drift for row in results.cells if row.cell == "launch.fork[temperature=warm]"}
    assert rows["call_returns"] is not None
    assert rows["reaped"] is None
    by_id = {finding.id: finding for finding in all_sentences(results)}
    assert not marked(by_id["answer.contest"])
    assert marked(by_id["process_vs_thread.warm"])


def test_a_median_that_drifts_has_no_more_digits_in_a_sentence_than_in_the_table(drifting: Results) -> None:
    [row] = [row for row in drifting.cells if row.cell == "launch.fork[temperature=warm]" and row.stage == "reaped"]
    low, high = row.known_within or (0.0, 0.0)
    assert row.median_ends is None
    assert (high - low) / (row.median_ns or 1.0) == pytest.approx(row.drift.share if row.drift else 0.0)
    [answer] = [finding for finding in drifting.first.answer if finding.id == "answer.contest"]
    figure = answer.sentence.partition(" takes ")[2].partition(" µs")[0]
    assert len(figure.replace(".", "").rstrip("0")) <= 2
