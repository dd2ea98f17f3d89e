"""Checks on a machine that is not as fast in one run as in the other: real enough to alarm without care."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clonometer.results.check.check import check_runs
from clonometer.results.compare.comparison import read_side
from clonometer.results.rows.evidence import Book

Build = Callable[..., Any]
TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def make(make_builder: Build, seed: int, machine: float = 1.0, *, pthread: float = 1.0, kinds: int = 7) -> Book:
    builder = make_builder(seed)
    cells: list[tuple[str, dict[str, Any]]] = [("launch.pthread", {}), ("launch.vfork", {})]
    cells += [("launch.fork", {"vmas": count}) for count in range(kinds - 2)]
    for workload, condition in cells:
        factor = machine * (pthread if workload == "launch.pthread" else 1.0)
        values = {**{name: value * machine for name, value in TIMES.items()}, "reaped_ns": TIMES["reaped_ns"] * factor}
        builder.cell(workload, values, spread=0.01, processes=14, **condition)
    return read_side(builder.run, str(seed))


def test_a_slower_machine_is_no_regression_and_no_all_clear(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, 1.3))
    assert (checked.verdict, checked.count("regressed"), checked.count("suspect")) == ("cannot tell", 0, 0)
    assert checked.machine_shift == pytest.approx(0.3, abs=0.03)
    assert checked.machine_kinds == 7
    assert "all that was measured is slower by" in checked.reasons[0]
    row = checked.rows[0]
    assert row.compared.ratio == pytest.approx(1.0, abs=0.03)
    assert row.ratio_measured == pytest.approx(1.3, abs=0.04)


def test_without_other_kinds_the_same_runs_alarm(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1, kinds=3), make(make_builder, 2, 1.3, kinds=3))
    assert (checked.verdict, checked.machine_kinds) == ("confirmed", 0)


@pytest.mark.parametrize("machine", [1.0, 1.03])
def test_a_row_that_is_slower_than_its_machine_alarms(make_builder: Build, machine: float) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, machine, pthread=1.12))
    assert checked.verdict == "confirmed"
    [row] = [row for row in checked.rows if row.verdict == "regressed"]
    assert (row.compared.other.workload, row.compared.other.stage) == ("launch.pthread", "reaped")
    assert row.compared.ratio == pytest.approx(1.12, abs=0.03)


def test_where_all_is_slower_by_what_is_allowed_a_row_is_suspected_at_most(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, 1.3, pthread=1.12))
    assert (checked.verdict, checked.count("regressed")) == ("cannot tell", 0)
    [row] = [row for row in checked.rows if row.verdict == "suspect"]
    assert (row.compared.other.workload, row.compared.other.stage) == ("launch.pthread", "reaped")
    assert all(row.detectable is None for row in checked.rows)
    assert len(checked.reasons) == 2
    assert checked.reasons[0].startswith("all that was measured is slower by ")


def test_what_did_not_become_faster_with_the_rest_is_no_regression(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, 0.8, pthread=1.25))
    assert (checked.verdict, checked.count("regressed")) == ("cannot tell", 0)
    # What could not be seen on the faster machine is said.
    assert min(row.detectable or 0 for row in checked.rows) > 0.25
