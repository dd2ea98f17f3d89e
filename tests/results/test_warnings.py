from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK

from clonometer.results.summary import summarize
from clonometer.results.types import Results, RunWarning


def _ids(results: Results) -> set[str]:
    return {warning.id for warning in results.warnings}


def _the(results: Results, id_: str) -> RunWarning:
    return next(warning for warning in results.warnings if warning.id == id_)


def _numbers(warning: RunWarning) -> list[int]:
    """Give the numbers that it says; its words are in the golden file of sentences."""
    return [int(number) for number in re.findall(r"\b\d+\b", warning.sentence)]


def test_a_sound_run_has_no_warning(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.cell("launch.fork", FORK, "cold")
    builder.cell("launch.none", {"call_returns_ns": 10, "reaped_ns": 20}, None)
    results = summarize(builder.run)
    assert results.warnings == ()
    assert all(row.warnings == () for row in results.cells)


@pytest.mark.parametrize(("processes", "numbers"), [(11, [11, 12]), (5, [5, 12, 94]), (1, [1, 12])])
def test_few_processes(builder: Any, processes: int, numbers: list[int]) -> None:
    builder.cell("launch.fork", FORK, processes=processes)
    warning = _the(summarize(builder.run), "processes.few")
    assert _numbers(warning) == numbers
    assert "--budget" in warning.next_step


def test_twelve_processes_are_not_few(builder: Any) -> None:
    builder.cell("launch.fork", FORK, processes=12)
    assert "processes.few" not in _ids(summarize(builder.run))


def test_dependent_samples_are_few(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, samples=90, blocks=1, processes=4)
    trend = np.tile(np.linspace(0.5, 1.5, 90), 4)
    builder.run.data[text]["call_returns_ns"] = (50_000 * trend).astype(np.int64)
    warning = _the(summarize(builder.run), "samples.few")
    assert ", call returns: " in warning.sentence
    assert _numbers(warning) == [360, 12]


@pytest.mark.parametrize("samples", [1, 3])
def test_few_independent_samples_are_just_few(builder: Any, samples: int) -> None:
    builder.cell("launch.fork", FORK, samples=samples, blocks=1, processes=1)
    assert _numbers(_the(summarize(builder.run), "samples.few")) == [samples]


def test_cold_samples_are_not_called_few(builder: Any) -> None:
    builder.cell("launch.fork", FORK, "cold", processes=12)
    assert "samples.few" not in _ids(summarize(builder.run))


def test_a_wide_interval(builder: Any) -> None:
    builder.cell("launch.fork", FORK, spread=0.5)
    assert "interval.wide" in _ids(summarize(builder.run))


def test_an_interval_narrower_than_a_clock_reading_is_not_wide(builder: Any) -> None:
    builder.cell("launch.none", {"call_returns_ns": 12, "reaped_ns": 20}, None, spread=0.5)
    assert "interval.wide" not in _ids(summarize(builder.run))


@pytest.mark.parametrize("ended", [0, 1])
def test_counts_of_a_program_that_was_ended_at_a_limit(builder: Any, ended: int) -> None:
    builder.cell("program.steps", {"instructions": 167_000, "cpuid": 0, "ended": ended}, None, samples=1, spread=0.0)
    assert ("counts.cut_short" in _ids(summarize(builder.run))) is not bool(ended)


def test_clock_skew(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["task_runs_ns"][:3] = 10**9
    assert _numbers(_the(summarize(builder.run), "clock.skew")) == [3, 1080]


def test_failed_launches_are_said_once_with_their_names(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["errno"][:3] = 11
    warning = _the(summarize(builder.run), "launches.failed")
    assert _numbers(warning) == [3, 1080, 3]
    assert "EAGAIN" in warning.sentence


def test_what_fails_of_a_server_are_requests_and_no_limit_of_tasks_helps(builder: Any) -> None:
    text = builder.cell("serve.fork", {"latency_ns": 5_000_000}, None, rate_hz=500)
    builder.run.data[text]["errno"][:3] = 110
    results = summarize(builder.run)
    warning = _the(results, "launches.failed")
    assert "3 of 1080 requests failed: 3 ETIMEDOUT" in warning.sentence
    assert "rate_hz" in warning.next_step
    assert "failed requests in all rows" in [doubt.sentence for doubt in results.first.doubts]


def _set_mhz(builder: Any, values: list[float]) -> None:
    for block, mhz in zip(builder.run.metadata["blocks"], values, strict=True):
        block["facts"]["effective_mhz"] = {"0": mhz}


def test_frequency_drift(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    _set_mhz(builder, [3000.0] * 18 + [2700.0] * 18)
    assert _numbers(_the(summarize(builder.run), "frequency.drift")) == [2700, 3000]


@pytest.mark.parametrize("values", [[3000.0] * 18 + [2900.0] * 18, [3000.0] * 35 + [1000.0]])
def test_small_moves_and_a_single_accident_are_no_drift(builder: Any, values: list[float]) -> None:
    builder.cell("launch.fork", FORK)
    _set_mhz(builder, values)
    assert "frequency.drift" not in _ids(summarize(builder.run))


def test_a_neighbour_in_an_empty_loop(builder: Any) -> None:
    builder.cell("launch.none", {"call_returns_ns": 10, "reaped_ns": 20}, None, facts={"involuntary_switches": 2})
    assert _numbers(_the(summarize(builder.run), "switches.involuntary")) == [36, 36]


def test_children_that_push_their_parent_aside_are_no_neighbours(builder: Any) -> None:
    builder.cell("launch.fork", FORK, facts={"involuntary_switches": 60}, samples=30)
    assert "switches.involuntary" not in _ids(summarize(builder.run))
    builder.cell("launch.stamp", {"stamp_ns": 1000}, facts={"involuntary_switches": 60}, samples=30)
    assert "switches.involuntary" not in _ids(summarize(builder.run))


def test_more_switches_than_launches_explain(builder: Any) -> None:
    builder.cell("launch.fork", FORK, facts={"involuntary_switches": 61}, samples=30)
    assert "switches.involuntary" in _ids(summarize(builder.run))


@pytest.mark.parametrize(
    ("workload", "cpu_ns", "fires"),
    [("clock.used", 500, True), ("clock.used", 900, False), ("launch.fork", 500, False)],
)
def test_wall_above_cpu_counts_only_where_nobody_waits(builder: Any, workload: str, cpu_ns: int, fires: bool) -> None:
    values = {"cost_ns": 9.8} if workload == "clock.used" else FORK
    builder.cell(workload, values, None if workload == "clock.used" else "warm", facts={"cpu_ns": cpu_ns})
    assert ("wall.far_above_cpu" in _ids(summarize(builder.run))) == fires


def test_a_loop_whose_program_computes_waits_for_it(builder: Any) -> None:
    """A pair of readings in a fresh program: the parent waits for that."""
    builder.cell("clock.first_pair", {"pair_ns": 80}, None, facts={"cpu_ns": 500, "children_cpu_ns": 400})
    assert "wall.far_above_cpu" not in _ids(summarize(builder.run))


def test_a_rare_placement_is_listed_with_one_warning(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, placement="free")
    builder.run.data[text]["cpu_child"][:3] = 1
    results = summarize(builder.run)
    rare = [row for row in results.cells if row.placement == "other_cpu"]
    assert [[warning.id for warning in row.warnings] for row in rare] == [["placement.rare"]] * 3
    assert _numbers(_the(results, "placement.rare")) == [3, 1080]


def test_a_common_placement_is_not_rare(builder: Any) -> None:
    builder.cell("launch.fork", FORK, placement="free", other_cpu=0.04)
    assert "placement.rare" not in _ids(summarize(builder.run))


def test_the_same_warning_of_many_rows_is_said_once(builder: Any) -> None:
    for name in ("fork", "vfork", "pthread"):
        builder.cell(f"launch.{name}", FORK, processes=4)
    warnings = [warning for warning in summarize(builder.run).warnings if warning.id == "processes.few"]
    assert len(warnings) == 1
    assert "launch.fork" in warnings[0].sentence
    assert warnings[0].alike == 2


@pytest.mark.parametrize(("wanted", "warned"), [(6, False), (12, True), (24, True), (1, False)])
def test_what_a_plan_gives_six_processes_on_purpose_is_not_called_few(wanted: int, *, warned: bool) -> None:
    builder = RunBuilder()
    cell = builder.cell("launch.fork", FORK, processes=6)
    target = {"workload": "launch.fork", "cells": [cell], "limits": {"processes": wanted}, "options": {}}
    builder.run.metadata["plan"]["targets"] = [target]
    assert ("processes.few" in _ids(summarize(builder.run))) == warned
