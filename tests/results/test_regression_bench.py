"""Which rows ``make bench BENCH=regression`` holds a check to: those that it says it can see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.regression import judged, whole_rows

from clonometer.results.check.check import check_runs
from clonometer.results.compare.sides import read_side
from clonometer.results.compare.variance import variance_from_share

TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def test_only_what_is_detectable_of_what_was_put_in_is_judged(make_builder: Callable[..., Any]) -> None:
    sides = []
    for seed, spin in ((1, 0), (2, 9_000)):
        builder = make_builder(seed)
        builder.cell("launch.fork", {**TIMES, "reaped_ns": 90_000 + spin}, spread=0.01)
        builder.cell("launch.pthread", TIMES, spread=0.01)
        sides.append(read_side(builder.run, str(seed)))
    checked = check_runs(*sides, variance=variance_from_share(0.002))
    cell = "launch.fork[temperature=warm]"
    [row] = judged(checked.rows, {cell: 9_000})
    assert (row.compared.other.cell, row.compared.other.stage, row.verdict) == (cell, "reaped", "fail")
    assert judged(checked.rows, {}) == []
    # A delay that is less than what is detectable need not be found.
    assert judged(checked.rows, {cell: 3_000}) == []
    blind = [replace(row, detectable=0.3) for row in checked.rows]
    assert judged(blind, {cell: 9_000}) == []
    assert [whole_row.compared.other.stage for whole_row in whole_rows(checked.rows)] == ["reaped", "reaped"]
