"""The rule of the alarm for rows of many processes, on simulated checks and on runs in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from clonometer.results.check.check import check_again, check_runs
from clonometer.results.check.gate import ERROR_RATE, MAX_REGRESSION, alarms, p_slower
from clonometer.results.check.lower_decile import (
    SHARE,
    decile_error,
    fast_part,
    lower_decile,
    p_slower_decile,
)
from clonometer.results.check.machine import common_levels
from clonometer.results.check.power import detectable_change
from clonometer.results.check.types import DECILE, LEAST_PROCESSES, MEDIAN
from clonometer.results.compare.comparison import read_side
from clonometer.results.noise.noise import measure_noise
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.stats.bootstrap import Processes

Floats = np.ndarray
Build = Callable[..., Any]
TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
ROWS, SIZE = 12, 80


def neighbours(random: np.random.Generator, share: float, checks: int) -> Floats:
    """Logarithms of process medians, shape (checks, rows, processes), of which a share met a neighbour."""
    shape = (checks, ROWS, SIZE)
    slow = random.random((checks, 1, SIZE)) < share
    return np.asarray(0.02 * random.normal(size=shape) + np.where(slow, random.uniform(0.2, 0.5, shape), 0.0))


def alarmed(base: Floats, other: Floats, *, decile: bool) -> bool:
    if decile:
        p = [p_slower_decile(*pair, MAX_REGRESSION) for pair in zip(base, other, strict=True)]
        ratios = [np.exp(lower_decile(b) - lower_decile(a)) for a, b in zip(base, other, strict=True)]
    else:
        p = [p_slower(*np.exp(pair), MAX_REGRESSION) for pair in zip(base, other, strict=True)]
        ratios = [np.exp(np.median(b) - np.median(a)) for a, b in zip(base, other, strict=True)]
    return bool(alarms(p, ratios, max_regression=MAX_REGRESSION, error_rate=ERROR_RATE).any())


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.0), (0.5, 0.5), (0.2, 0.75), (0.75, 0.2)])
def test_a_neighbour_who_comes_between_the_runs_is_no_regression(before: float, after: float) -> None:
    random = np.random.default_rng(5)
    base, other = neighbours(random, before, 300), neighbours(random, after, 300)
    share = np.mean([alarmed(*pair, decile=True) for pair in zip(base, other, strict=True)])
    assert share <= 0.02
    if after > before:
        # By the medians nearly every such check is one.
        by_median = np.mean([alarmed(*pair, decile=False) for pair in zip(base[:50], other[:50], strict=True)])
        assert by_median > 0.9


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_what_is_called_detectable_is_found(share: float) -> None:
    random = np.random.default_rng(6)
    large = neighbours(random, share, 40)[:, 0].ravel()
    change = detectable_change(large, (SIZE, SIZE), tests=ROWS, seed=1, decile=True)
    assert change is not None
    assert change < 0.15
    base, other = neighbours(random, share, 600)[:, 0], neighbours(random, share, 600)[:, 0] + np.log1p(change)
    p = np.array([[p_slower_decile(*pair, MAX_REGRESSION)] for pair in zip(base, other, strict=True)])
    ratios = np.exp(np.quantile(other, SHARE, axis=1) - np.quantile(base, SHARE, axis=1))[:, None]
    alarm_share = alarms(p, ratios, max_regression=MAX_REGRESSION, error_rate=ERROR_RATE, tests=ROWS).mean()
    assert 0.91 <= alarm_share <= 0.99


def test_what_is_detectable_grows_with_all_that_hides_it() -> None:
    values = 0.02 * np.random.default_rng(7).normal(size=100)

    def change(logs: Floats, **options: Any) -> float:
        return detectable_change(logs, (100, 100), **{"tests": 20, "seed": 1, "decile": True, **options}) or np.inf

    plain = change(values)
    assert change(values - values) == MAX_REGRESSION
    assert plain < change(3 * values)
    assert plain < change(values, inflation=4.0)
    assert plain < change(values, shifts=[-0.05, 0.0, 0.05])
    assert plain < change(values, tests=500)
    assert change(values, inflation=400.0) == np.inf
    assert detectable_change(values[:4], (4, 4), tests=20, seed=1, decile=True) is None


def test_the_error_of_the_decile_is_that_of_simulated_ones() -> None:
    random = np.random.default_rng(8)
    samples = random.normal(size=(2000, 100))
    wanted = np.std(np.quantile(samples, SHARE, axis=1))
    assert np.median([decile_error(sample) for sample in samples]) == pytest.approx(wanted, rel=0.15)


def test_the_fast_part_keeps_the_fast_ones_and_their_order() -> None:
    values = np.random.default_rng(9).normal(size=100)
    part = fast_part(values)
    assert np.sum(part == part.max()) >= 80
    assert (part[values < part.max()] == values[values < part.max()]).all()


def make(make_builder: Build, seed: int, *, pthread: float = 1.0, machine: float = 1.0, **options: Any) -> Book:
    """Seven cells of 60 processes; in that of pthread all takes ``pthread`` times as long."""
    builder = make_builder(seed)
    kinds: list[tuple[str, dict[str, Any]]] = [("launch.pthread", {}), ("launch.vfork", {})]
    kinds += [("launch.fork", {"vmas": count}) for count in range(5)]
    settings = {"processes": 60, "samples": 9, "blocks": 1, "spread": 0.02, **options}
    for workload, condition in kinds:
        factor = machine * (pthread if workload == "launch.pthread" else 1.0)
        builder.cell(workload, {name: value * factor for name, value in TIMES.items()}, **settings, **condition)
    return read_side(builder.run, str(seed))


def disturbed(side: Book, seed: int, share: float, cells: str = "") -> Book:
    """The same run with a neighbour who slows a share of the processes by 20 to 50%."""
    random = np.random.default_rng(seed)
    return side.with_rows(_disturbed(row, random, share) if cells in row.cell else row for row in side.all_rows)


def _disturbed(row: Evidence, random: np.random.Generator, share: float) -> Evidence:
    size = row.processes.values.size
    factors = np.where(random.random(size) < share, random.uniform(1.2, 1.5, size), 1.0)
    values = row.processes.values * factors
    assert row.fast is not None
    estimate = replace(row.estimate, median_ns=float(np.median(values)))
    return Evidence(estimate, Processes(values, row.processes.starts, None), fast=row.fast * factors)


def test_a_slow_down_is_found_although_a_neighbour_came(make_builder: Build) -> None:
    base = make(make_builder, 1)
    slower = disturbed(make(make_builder, 2, pthread=1.12), 3, 0.6)
    checked = check_runs(base, slower)
    assert checked.verdict == "confirmed"
    assert {row.compared.other.workload for row in checked.rows if row.verdict == "regressed"} == {"launch.pthread"}
    for row in checked.rows:
        assert row.level == DECILE
        factor = 1.12 if row.compared.other.workload == "launch.pthread" else 1.0
        assert row.compared.low < factor < row.compared.high  # type: ignore[operator]
        assert row.compared.ratio == pytest.approx(factor, abs=0.03)
        assert row.detectable is not None
        assert row.detectable < 0.12
    assert abs(checked.machine_shift) < 0.02
    assert checked.machine_kinds == 7
    again = check_again(checked, base, disturbed(make(make_builder, 4, pthread=1.12), 5, 0.6))
    assert again.verdict == "confirmed"


def test_a_neighbour_who_came_is_no_regression(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), disturbed(make(make_builder, 2), 3, 0.6))
    assert checked.count("regressed") == 0


def test_a_slower_machine_is_no_regression_and_no_all_clear(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, machine=1.2))
    assert (checked.verdict, checked.count("regressed"), checked.count("suspect")) == ("cannot tell", 0, 0)
    assert checked.machine_shift == pytest.approx(0.2, abs=0.02)
    assert all(row.detectable is None for row in checked.rows)
    # One that is a little slower is taken off, one that is faster is no accusation: both hide something.
    for machine in (1.02, 0.9):
        moved = check_runs(make(make_builder, 1), make(make_builder, 2, machine=machine))
        assert moved.verdict == "none" if machine > 1 else moved.count("regressed") == 0
        assert max(row.compared.ratio or 0 for row in moved.rows) < 1.03
        assert min(row.detectable or 0 for row in moved.rows) >= 1.05 * max(machine, 1 / machine) - 1 - 0.02


def test_what_did_not_become_faster_with_the_rest_is_no_regression(make_builder: Build) -> None:
    checked = check_runs(make(make_builder, 1), make(make_builder, 2, machine=0.85, pthread=1 / 0.85))
    assert checked.machine_shift == pytest.approx(-0.15, abs=0.02)
    assert (checked.count("regressed"), checked.count("suspect")) == (0, 0)


def test_what_is_slower_in_most_processes_only_is_a_suspect_and_says_so(make_builder: Build) -> None:
    base, run = make(make_builder, 1), disturbed(make(make_builder, 2), 3, 0.8, "pthread")
    checked = check_runs(base, run)
    assert checked.verdict == "cannot tell"
    suspects = [row for row in checked.rows if row.verdict == "suspect"]
    assert suspects
    assert {row.compared.other.workload for row in suspects} == {"launch.pthread"}
    assert all("its fastest tenth is not: part of its processes" in (row.compared.reason or "") for row in suspects)


def test_few_processes_on_either_side_are_compared_by_their_medians(make_builder: Build) -> None:
    many, few = make(make_builder, 1), make(make_builder, 2, processes=LEAST_PROCESSES - 1)
    for pair in ((many, few), (few, many), (few, few)):
        assert {row.level for row in check_runs(*pair).rows} == {MEDIAN}


def test_rows_without_all_samples_are_compared_by_their_medians(make_builder: Build) -> None:
    side = make(make_builder, 1)
    bare = side.with_rows(replace(row, fast=None) for row in side.all_rows)
    assert {row.level for row in check_runs(bare, make(make_builder, 2)).rows} == {MEDIAN}


@pytest.mark.parametrize(
    ("workload", "column", "share"), [("launch.fork", "reaped_ns", 0.1), ("queue.wait", "wait_us", 0.25)]
)
def test_what_is_compared_is_the_fast_part_of_each_process(
    make_builder: Build, workload: str, column: str, share: float
) -> None:
    builder = make_builder(1)
    builder.cell(workload, {column: 5000.0}, None if workload == "queue.wait" else "warm", processes=5, blocks=1)
    [(cell, rows)] = read_side(builder.run, "run").cells.items()
    columns = builder.run.columns(cell, ["process", column])
    [chosen] = [row for row in rows.values() if row.estimate.quantity == column]
    in_ns = 1000 if column.endswith("_us") else 1
    wanted = [
        np.quantile(columns[column][columns["process"] == process].astype(float), share) * in_ns
        for process in np.unique(columns["process"])
    ]
    assert chosen.fast == pytest.approx(wanted)


def test_levels_of_runs_need_kinds_enough(make_builder: Build) -> None:
    sides = [make(make_builder, 1), make(make_builder, 2, machine=1.1)]
    rows = [list(side.all_rows) for side in sides]
    (before, after), kinds = common_levels(rows)
    assert (after - before, kinds) == (pytest.approx(np.log(1.1), abs=0.02), 7)
    assert common_levels([row[:3] for row in rows]) == ([0.0, 0.0], 0)
    # Rows of few processes say so by their medians, beside the others.
    few = [make(make_builder, 1, processes=20), make(make_builder, 2, processes=20, machine=1.1)]
    (before, after), kinds = common_levels([list(side.all_rows) for side in few])
    assert (after - before, kinds) == (pytest.approx(np.log(1.1), abs=0.02), 7)
    assert common_levels([]) == ([], 0)


def test_noise_tells_what_a_check_of_many_processes_would_see(make_builder: Build) -> None:
    rounds = [disturbed(make(make_builder, seed, processes=120), seed, 0.4) for seed in (1, 2, 3)]
    noise = measure_noise(rounds, "quick")
    assert noise.interleaved.alarms == 0
    for row in noise.rows:
        # Processes scatter widely, and what is compared does not.
        assert row.spread > 0.03
        assert row.between is not None
        assert row.between < 0.02
        assert row.detectable is not None
        assert row.detectable < 0.12
    moved = measure_noise(
        [make(make_builder, seed, processes=120, pthread=1 + 0.1 * (seed == 2)) for seed in (1, 2, 3)], "q"
    )
    [worst] = {row.estimate.workload for row in moved.rows if (row.between or 0) > 0.03}
    assert worst == "launch.pthread"
