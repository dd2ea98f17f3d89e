from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy import stats

from clonometer.errors import InputError
from clonometer.records import from_json, to_json
from clonometer.results.check.types import count_detectable
from clonometer.results.compare.sides import read_side
from clonometer.results.compare.variance import MeasuredNoise, variance_from_noise
from clonometer.results.noise.noise import measure_noise, rate_interval, split_side
from clonometer.results.rows.run_estimates import RunEstimates

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/noise.schema.json").read_text(encoding="utf-8"))
Build = Callable[..., Any]
TIMES = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def make(
    make_builder: Build, seed: int, factor: float = 1.0, *, processes: int = 24, spread: float = 0.02, size: int = 2
) -> RunEstimates:
    builder = make_builder(seed)
    for workload in ("launch.fork", "launch.pthread")[:size]:
        values = {name: value * factor for name, value in TIMES.items()}
        builder.cell(workload, values, processes=processes, spread=spread)
    return read_side(builder.run, f"round {seed}")


def test_a_run_is_divided_process_by_process_so_that_drift_falls_on_both(make_builder: Build) -> None:
    side = make(make_builder, 1)
    halves = split_side(side)
    for cell, rows in side.cells.items():
        for key, whole in rows.items():
            first, second = (half.cells[cell][key] for half in halves)
            assert first.n_processes == second.n_processes == 12
            assert first.median_ns == pytest.approx(np.median(first.processes.values))
            assert whole.processes.starts is not None
            starts = [half.processes.starts for half in (first, second)]
            assert sorted(np.concatenate(starts)) == sorted(whole.processes.starts)  # type: ignore[arg-type]
            # A line through time has the same mean in both.
            assert np.mean(starts[0]) == pytest.approx(np.mean(starts[1]))  # type: ignore[arg-type]


def test_a_quiet_machine_does_not_alarm_and_detects_little_changes(make_builder: Build) -> None:
    noise = measure_noise([make(make_builder, seed) for seed in (1, 2, 3, 4)], "quick")
    assert noise.common is not None
    assert noise.common < 0.02
    assert (noise.rounds, noise.n_tests) == (4, 6)
    assert (noise.interleaved.checks, noise.interleaved.alarms) == (4, 0)
    assert noise.in_a_row is not None
    assert (noise.in_a_row.checks, noise.in_a_row.alarms) == (3, 0)
    assert len(noise.rows) == 6
    for row in noise.rows:
        assert row.spread == pytest.approx(0.02, rel=0.4)
        assert row.detectable is not None
        assert 0.05 <= row.detectable < 0.1
        assert row.between is not None
        assert row.between < 0.01
    assert count_detectable(noise.rows, 0.1) == 6


def test_a_machine_that_changes_between_rounds_is_told_from_rows_that_do(make_builder: Build) -> None:
    changing = [(1, 1.0), (2, 1.3), (3, 1.0), (4, 1.3)]
    machine = measure_noise([make(make_builder, seed, factor) for seed, factor in changing], "quick")
    assert machine.common == pytest.approx(np.log(1.3) / 3**0.5, rel=0.1)
    assert all(row.between is not None and row.between < 0.02 for row in machine.rows)
    assert machine.in_a_row is not None
    # A slower machine makes all rows slower: none is the slower row.
    assert (machine.interleaved.alarms, machine.in_a_row.checks, machine.in_a_row.alarms) == (0, 3, 0)
    alone = measure_noise([make(make_builder, seed, factor, size=1) for seed, factor in changing], "quick")
    assert alone.common is None
    for row in alone.rows:
        assert row.between == pytest.approx(np.log(1.3) / 3**0.5, rel=0.1)
        assert row.detectable is not None
        assert row.detectable > 0.5


def test_one_round_is_compared_with_no_other(make_builder: Build) -> None:
    noise = measure_noise([make(make_builder, 1)], "quick")
    assert noise.in_a_row is None
    assert all(row.between is None for row in noise.rows)


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_few_processes_detect_nothing_and_say_so(make_builder: Build, processes: int) -> None:
    noise = measure_noise([make(make_builder, 1, processes=processes)], "quick")
    assert {row.detectable for row in noise.rows} == {None}
    assert noise.n_tests == 0


def test_too_little_is_refused(make_builder: Build) -> None:
    with pytest.raises(InputError, match="too little was measured"):
        measure_noise([make(make_builder, 1, processes=1)], "quick")


def test_constant_samples_detect_the_limit_itself(make_builder: Build) -> None:
    noise = measure_noise([make(make_builder, seed, spread=0.0) for seed in (1, 2, 3)], "quick")
    assert {(row.spread, row.between) for row in noise.rows} == {(0.0, 0.0)}
    assert all(row.detectable == pytest.approx(0.05, rel=0.1) for row in noise.rows)


def test_the_rate_of_false_alarms_has_its_exact_interval() -> None:
    for events, trials in ((0, 20), (1, 20), (7, 20), (20, 20)):
        wanted = stats.binomtest(events, trials).proportion_ci(method="exact")
        assert rate_interval(events, trials) == pytest.approx((wanted.low, wanted.high), abs=1e-6)


def test_json_is_valid(make_builder: Build) -> None:
    for rounds in (1, 3):
        noise = measure_noise([make(make_builder, seed) for seed in range(1, rounds + 1)], "quick")
        document = json.loads(json.dumps(to_json(noise), allow_nan=False))
        Draft202012Validator(SCHEMA).validate(document)
        assert len(document["rows"]) == 6
        if rounds < 3:
            with pytest.raises(InputError, match="does not give the noise between rounds"):
                variance_from_noise(from_json(MeasuredNoise, document), "noise.json")
            continue
        variance = variance_from_noise(from_json(MeasuredNoise, document), "noise.json")
        for row in noise.rows:
            assert row.between is not None
            assert variance.of(row.estimate) == max(row.between, variance.share)
