from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.catalogue import defaults

from clonometer.errors import RunFileError
from clonometer.results.rows.observed import observe
from clonometer.results.rows.source import null_mask
from clonometer.results.summary import summarize
from clonometer.results.types import Estimate

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def _row(run: Any, **wanted: Any) -> Estimate:
    rows = [
        cell for cell in summarize(run).cells if all(getattr(cell, name) == value for name, value in wanted.items())
    ]
    assert len(rows) == 1, wanted
    return rows[0]


def test_the_estimate_is_the_median_of_process_medians(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.2)
    columns = builder.run.data[text]
    medians = [np.median(columns["reaped_ns"][columns["process"] == process]) for process in range(12)]
    row = _row(builder.run, stage="reaped")
    assert row.median_ns == np.median(medians)
    assert sorted(medians)[2] <= row.median_low_ns < row.median_ns < row.median_high_ns <= sorted(medians)[9]  # type: ignore[operator]
    assert (row.n_samples, row.n_processes) == (1080, 12)
    assert row.min_ns == columns["reaped_ns"].min()
    assert row.p99_ns == pytest.approx(np.quantile(columns["reaped_ns"], 0.99))
    assert row.p99_reason is None


def test_one_process_has_a_median_and_no_interval(builder: Any) -> None:
    builder.cell("launch.fork", FORK, processes=1)
    row = _row(builder.run, stage="reaped")
    assert row.n_processes == 1
    assert row.median_ns == pytest.approx(90_000, rel=0.2)
    assert (row.median_low_ns, row.median_high_ns) == (None, None)
    few = next(warning for warning in row.warnings if warning.id == "processes.few")
    assert "1 process, fewer than 12" in few.sentence


def test_names_and_groups_come_from_plan_and_catalogue(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, parent_bytes=1 << 20)
    row = _row(builder.run, stage="reaped")
    assert (row.cell, row.workload, row.temperature, row.family) == (
        text,
        "launch.fork",
        "warm",
        "same_image",
    )
    assert row.condition == {**defaults("launch.fork"), "parent_bytes": 1 << 20}
    assert (row.quantity, row.unit, row.placement) == ("reaped_ns", "ns", "same_cpu")


def test_a_cold_process_gives_one_sample(builder: Any) -> None:
    builder.cell("launch.fork", FORK, "cold", processes=20)
    row = _row(builder.run, stage="reaped")
    assert (row.n_samples, row.n_processes) == (20, 20)
    assert row.p99_ns is None
    assert row.p99_reason == "20 samples; 300 are needed"


@pytest.mark.parametrize(("processes", "has_p99"), [(299, False), (300, True)])
def test_p99_needs_300_samples(builder: Any, processes: int, has_p99: bool) -> None:
    builder.cell("launch.fork", FORK, "cold", processes=processes)
    row = _row(builder.run, stage="reaped")
    assert (row.p99_ns is not None) == has_p99
    assert (row.p99_reason is None) == has_p99


def test_free_results_are_never_averaged_over_the_placement(builder: Any) -> None:
    builder.cell("launch.fork", FORK, placement="free", other_cpu=0.5, spread=0.001)
    same = _row(builder.run, stage="task_runs", placement="same_cpu")
    other = _row(builder.run, stage="task_runs", placement="other_cpu")
    assert same.median_ns == pytest.approx(60_000, rel=0.01)
    assert other.median_ns == pytest.approx(90_000, rel=0.01)


def test_the_call_of_vfork_and_its_kin_is_not_ranked(builder: Any) -> None:
    builder.cell("launch.vfork", FORK)
    call, reaped = (_row(builder.run, stage=stage) for stage in ("call_returns", "reaped"))
    assert not call.rankable
    assert "child's whole life" in (call.not_rankable_reason or "")
    assert reaped.rankable
    assert reaped.not_rankable_reason is None


@pytest.mark.parametrize(
    ("contains", "why"), [("answer", "the worker's whole answer"), ("another life", "the call contains another life")]
)
def test_a_call_that_contains_more_than_itself_is_not_ranked_and_says_why(
    builder: Any, contains: str, why: str
) -> None:
    builder.cell("launch.fork", FORK)
    run = builder.run
    catalogue = copy.deepcopy(run.metadata["catalogue"])
    for entry in catalogue["workloads"]:
        entry["call_returns_contains"] = contains if entry["id"] == "launch.fork" else None
    run.metadata["catalogue"] = catalogue
    call, runs = (_row(run, stage=stage) for stage in ("call_returns", "task_runs"))
    assert not call.rankable
    assert why in (call.not_rankable_reason or "")
    assert runs.rankable


def test_a_stage_without_samples_says_so(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {"call_returns_ns": 10, "reaped_ns": 20})
    row = _row(builder.run, stage="image_runs")
    assert (row.n_samples, row.n_processes, row.median_ns, row.min_ns) == (0, 0, None, None)
    assert row.p99_reason == "no sample"


def test_a_cell_whose_launches_all_failed_stays_in_the_table(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["errno"][:] = 11
    row = _row(builder.run, stage="reaped")
    assert row.outcomes == {"ok": 0, "EAGAIN": 1080}
    assert row.median_ns is None
    assert [warning.id for warning in row.warnings] == ["launches.failed"]


def test_what_is_no_time_has_counts_and_no_nanoseconds(builder: Any) -> None:
    builder.cell("queue.wait", {"wait_us": 2.5, "queue_bytes": 4096}, None)
    row = _row(builder.run, quantity="queue_bytes")
    assert (row.n_samples, row.median_ns, row.p99_ns, row.stage) == (1080, None, None, None)
    assert row.p99_reason == "its unit is bytes, not a time"
    assert _row(builder.run, quantity="wait_us").median_ns == pytest.approx(2500, rel=0.1)


def test_frequency_is_the_median_of_the_cells_own_blocks(builder: Any) -> None:
    builder.cell("launch.fork", FORK, mhz=3000.0)
    builder.cell("launch.pthread", FORK, mhz=2000.0)
    assert _row(builder.run, workload="launch.fork", stage="reaped").effective_mhz == 3000.0
    assert _row(builder.run, workload="launch.pthread", stage="reaped").effective_mhz == 2000.0


def test_frequency_that_was_not_measured_is_none(builder: Any) -> None:
    builder.cell("launch.fork", FORK, facts={"effective_mhz": {}})
    assert _row(builder.run, stage="reaped").effective_mhz is None


def test_resolution_is_a_tick_of_the_clock(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.cell("clock.used", {"cost_ns": 9.8}, None)
    builder.run.metadata["clock"]["clock_hz"] = 25_000_000
    assert _row(builder.run, stage="reaped").resolution_ns == 40.0
    assert _row(builder.run, quantity="cost_ns").resolution_ns == 0.1
    builder.run.metadata["clock"] = {"clock": "monotonic", "clock_hz": None}
    assert _row(builder.run, stage="reaped").resolution_ns == 1.0


NULL_I32, NULL_I64 = np.iinfo(np.int32).min, np.iinfo(np.int64).min


def _groups(cell: Any) -> dict[tuple[str, str | None], Any]:
    return {(group.quantity.name, group.placement): group for group in cell.groups}


def test_null_is_the_smallest_integer_and_nan() -> None:
    assert null_mask(np.array([0, NULL_I32], np.int32)).tolist() == [False, True]
    assert null_mask(np.array([0, NULL_I64], np.int64)).tolist() == [False, True]
    assert null_mask(np.array([0.0, np.nan])).tolist() == [False, True]


def test_groups_follow_the_catalogue_and_the_observed_placement(builder: Any) -> None:
    builder.cell("launch.fork", FORK, other_cpu=0.5, placement="free")
    (cell,) = observe(builder.run)
    assert [(group.quantity.stage, group.placement) for group in cell.groups] == [
        (stage, placement)
        for stage in ("call_returns", "task_runs", "reaped")
        for placement in ("same_cpu", "other_cpu")
    ]
    sizes = {placement: group.values.size for (_, placement), group in _groups(cell).items()}
    assert sum(sizes.values()) == 12 * 3 * 30


def test_failed_launches_are_counted_and_not_timed(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    columns = builder.run.data[text]
    columns["errno"][:5] = 11
    columns["errno"][5] = 12
    columns["errno"][6] = 9999
    for name in FORK:
        columns[name][:7] = NULL_I64
    (cell,) = observe(builder.run)
    assert cell.outcomes == {"ok": 1073, "EAGAIN": 5, "ENOMEM": 1, "errno 9999": 1}
    assert {group.values.size for group in cell.groups} == {1073}
    assert cell.clock_skew == 0


def test_a_failed_launch_with_stages_is_not_timed_either(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["errno"][0] = 11
    (cell,) = observe(builder.run)
    assert {group.values.size for group in cell.groups} == {1079}


def test_rows_out_of_order_are_skew_and_left_out_of_every_stage(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    columns = builder.run.data[text]
    columns["task_runs_ns"][0] = columns["reaped_ns"][0] + 1
    columns["call_returns_ns"][1] = -1
    columns["task_runs_ns"][2] = columns["reaped_ns"][2]
    columns["call_returns_ns"][3] = columns["task_runs_ns"][3] + 1
    (cell,) = observe(builder.run)
    assert cell.clock_skew == 2
    assert {group.values.size for group in cell.groups} == {1078}


def test_a_signed_quantity_may_be_below_zero(builder: Any) -> None:
    text = builder.cell("clock.used", {"cost_ns": 25})
    builder.run.data[text]["cost_ns"][:3] = -1.5
    (cell,) = observe(builder.run)
    assert cell.clock_skew == 3
    builder.run.metadata["catalogue"]["quantities"]["cost_ns"]["signed"] = True
    (cell,) = observe(builder.run)
    assert (cell.clock_skew, (cell.groups[0].values < 0).sum()) == (0, 3)


def test_a_null_stage_is_left_out_alone(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["task_runs_ns"][:100] = NULL_I64
    (cell,) = observe(builder.run)
    sizes = {group.quantity.stage: group.values.size for group in cell.groups}
    assert sizes == {"call_returns": 1080, "task_runs": 980, "reaped": 1080}
    assert cell.clock_skew == 0


def test_a_placement_that_was_not_observed_is_none(builder: Any) -> None:
    builder.cell("launch.none", {"call_returns_ns": 10, "reaped_ns": 20}, None)
    (cell,) = observe(builder.run)
    assert {group.placement for group in cell.groups} == {None}


def test_a_quantity_without_a_sample_keeps_an_empty_group(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {"call_returns_ns": 10, "reaped_ns": 20})
    groups = _groups(observe(builder.run)[0])
    assert groups["image_runs_ns", None].values.size == 0


def test_microseconds_become_nanoseconds_and_bytes_stay(builder: Any) -> None:
    builder.cell("queue.wait", {"wait_us": 2.5, "queue_bytes": 4096}, None, spread=0.0)
    groups = _groups(observe(builder.run)[0])
    assert np.unique(groups["wait_us", None].values).tolist() == [2500.0]
    assert np.unique(groups["queue_bytes", None].values).tolist() == [4096.0]


def test_order_of_rows_does_not_matter(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    expected = _groups(observe(builder.run)[0])["reaped_ns", "same_cpu"]
    shuffled = np.random.default_rng(1).permutation(1080)
    builder.run.data[text] = {name: column[shuffled] for name, column in builder.run.data[text].items()}
    got = _groups(observe(builder.run)[0])["reaped_ns", "same_cpu"]
    np.testing.assert_array_equal(got.values, expected.values)
    np.testing.assert_array_equal(got.process, expected.process)


def test_cells_come_in_the_order_of_the_plan(builder: Any) -> None:
    texts = [builder.cell(f"launch.{name}", FORK) for name in ("vfork", "fork", "pthread")]
    assert [cell.cell for cell in observe(builder.run)] == texts


def test_samples_outside_the_plan_are_refused(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.run.metadata["plan"]["cells"].clear()
    with pytest.raises(RunFileError, match="not in its plan"):
        observe(builder.run)


def test_a_workload_outside_the_catalogue_is_refused(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.run.metadata["catalogue"] = {**builder.run.metadata["catalogue"], "workloads": []}
    with pytest.raises(RunFileError, match=r"catalogue does not have its workload 'launch.fork'"):
        observe(builder.run)
