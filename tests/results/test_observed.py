from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clonometer.errors import RunFileError
from clonometer.results.rows.observed import observe
from clonometer.results.rows.source import null_mask

NULL_I32, NULL_I64 = np.iinfo(np.int32).min, np.iinfo(np.int64).min
FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


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
