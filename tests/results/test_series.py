from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonometer.results.summary import summarize
from clonometer.results.types import Results
from clonometer.views.plots import ecdf_index

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


@pytest.fixture(scope="module")
def results(default_run: Any) -> Results:
    return summarize(default_run)


def test_distributions_are_rising_and_small(results: Results) -> None:
    assert results.ecdfs
    for series in results.ecdfs:
        assert len(series.x_ns) == len(series.fraction) <= 400
        assert list(series.x_ns) == sorted(set(series.x_ns))
        assert series.fraction[-1] == 1.0


def test_distributions_leave_out_memory_and_the_floor(results: Results) -> None:
    assert {series.family for series in results.ecdfs} == {"same_image", "new_program"}
    assert not [series for series in results.ecdfs if "parent_bytes" in series.cell]


def test_labels_tell_placements_and_linkages_apart(results: Results) -> None:
    keys = [
        (entry["label"], entry["placement"], entry["stage"], entry["temperature"])
        for entry in ecdf_index(results, results.ecdfs)
    ]
    assert {
        ("fork", "pinned"),
        ("fork, lazily bound", "pinned"),
        ("fork", "free, same CPU"),
        ("fork", "free, other CPU"),
        ("fork+exec", "pinned"),
    } <= {key[:2] for key in keys}
    assert len(keys) == len(set(keys))


def test_memory_series_are_warm_sorted_and_rewritten(results: Results) -> None:
    keys = {(series.workload, series.stage) for series in results.scans}
    assert keys == {
        (f"launch.{name}", stage) for name in ("fork", "pthread") for stage in ("call_returns", "task_runs", "reaped")
    }
    for series in results.scans:
        assert series.condition == {"page_kind": "4k", "pages": "rewritten"}
        assert list(series.x) == [0, 2 << 20, 64 << 20, 1 << 30]
        for low, median, high in zip(series.lows, series.medians, series.highs, strict=True):
            assert 0 < low <= median <= high
    fork = next(scan for scan in results.scans if (scan.workload, scan.stage) == ("launch.fork", "reaped"))
    assert fork.medians[0] == pytest.approx(90_000, rel=0.05)


def test_cold_stands_in_for_warm(builder: Any) -> None:
    for size in (0, 1 << 20):
        builder.cell("launch.fork", FORK, "cold", parent_bytes=size)
    assert len(summarize(builder.run).scans) == 3


def test_one_size_is_no_series(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    assert summarize(builder.run).scans == ()


GIB = 1 << 30
STORY = dict.fromkeys(
    ("fork_call", "quiet_stall", "call_stall", "aftermath_stall", "quiet_pass", "aftermath_pass"), 9e5
)

STORY = {f"{name}_ns": value for name, value in STORY.items()}
GAPS = {"call_gap_p50_ns": 50, "call_gap_p99_ns": 3_000, "call_gap_p9999_ns": 600_000}


def test_a_ladder_has_its_steps_in_order_and_the_longest_last(builder: Any) -> None:
    for size in (0, GIB):
        builder.cell("cow.stall", {**STORY, **GAPS, "call_gaps": 40_000}, None, spread=0.0, parent_bytes=size)
    first, second = summarize(builder.run).series["ladders"]
    assert [(step.one_in, step.median_ns) for step in first.steps] == [
        (2, 50), (100, 3_000), (10_000, 600_000), (0, 900_000),
    ]  # fmt: skip
    assert (first.name, first.count) == ("during the call", 40_000)
    # What other cells vary is said, also at its default.
    assert (first.condition, second.condition) == ({"parent_bytes": 0}, {"parent_bytes": GIB})
    assert all(step.low_ns <= step.median_ns <= step.high_ns for step in (*first.steps, *second.steps))


def test_steps_for_which_there_are_too_few_values_are_left_out(builder: Any) -> None:
    builder.cell("cow.stall", {**STORY, **GAPS, "call_gaps": 900}, None, spread=0.0, other_process="gone")
    (ladder,) = summarize(builder.run).series["ladders"]
    assert [step.one_in for step in ladder.steps] == [2, 100, 0]
    assert ladder.condition == {"other_process": "gone"}


def test_a_step_that_many_samples_lack_is_left_out_since_the_others_are_no_fair_choice(builder: Any) -> None:
    builder.cell("cow.stall", {**STORY, **GAPS, "call_gaps": 40_000}, None, spread=0.0)
    (columns,) = builder.run.data.values()
    columns["call_gap_p99_ns"][::4] = np.nan
    columns["call_gap_p9999_ns"][::20] = np.nan
    (ladder,) = summarize(builder.run).series["ladders"]
    assert [step.one_in for step in ladder.steps] == [2, 10_000, 0]


def test_who_has_no_ladder_has_no_distribution(builder: Any) -> None:
    builder.cell("cow.parent", {"write_each_ns": 900.0, "again_each_ns": 8.0}, None)
    builder.cell("cow.stall", STORY, None)
    assert summarize(builder.run).series["ladders"] == ()


def test_details_are_no_phases_of_the_story(builder: Any) -> None:
    for size in (0, GIB):
        builder.cell("cow.stall", {**STORY, **GAPS, "call_gaps": 900}, None, parent_bytes=size)
    assert {scan.quantity for scan in summarize(builder.run).scans if scan.phase} == set(STORY)


@pytest.mark.parametrize("arrangement", ["thread", "process", "pool"])
def test_a_failure_is_a_row_with_its_fate_and_times(builder: Any, arrangement: str) -> None:
    counts = {"survivors": 2, "damaged": 0, "parent_alive": 1, "ended_by_signal": 11}
    times = {"known_ns": 60_000, "replaced_ns": 130_000, "restored_ns": 140_000}
    axes = {} if arrangement == "pool" else {"task_kind": arrangement}
    builder.cell(
        "isolate.pool" if arrangement == "pool" else "isolate.worker", {**counts, **times}, None, spread=0.0, **axes
    )
    (row,) = summarize(builder.run).series["isolation"]
    assert (row.fault, row.arrangement, row.siblings, row.survivors) == ("segfault", arrangement, 3, 2)
    assert (row.parent_alive, row.signal) == (True, 11)
    assert row.times_ns["known"] == (60_000, 60_000, 60_000)
    assert list(row.times_ns) == ["known", "replaced", "restored"]


def test_failures_stand_by_fault_and_arrangement_and_other_sibling_counts_are_left_out(builder: Any) -> None:
    counts = {"survivors": 3, "damaged": 0, "parent_alive": 1, "ended_by_signal": 11}
    builder.cell("isolate.pool", counts, None)
    builder.cell("isolate.worker", counts, None, fault="overrun_neighbour")
    builder.cell("isolate.worker", counts, None, siblings=15)
    builder.cell("isolate.worker", counts, None, task_kind="process")
    rows = summarize(builder.run).series["isolation"]
    assert [(row.fault, row.arrangement) for row in rows] == [
        ("segfault", "process"), ("segfault", "pool"), ("overrun_neighbour", "thread"),
    ]  # fmt: skip
    assert all(row.times_ns == {} for row in rows)
