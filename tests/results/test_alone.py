"""Launches that had their core to themselves: the estimate is of these where enough processes have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.fakes.sensed import COLUMNS, SHARED_NS, sense
from tests.results.runs import FORK

from clonometer.results.compare.sides import match_groups, read_side
from clonometer.results.summary import summarize
from clonometer.results.types import Estimate, MachineWord


def of_fork(run: MemoryRun, stage: str = "reaped") -> Estimate:
    """The row of the only cell at a stage."""
    return next(row for row in summarize(run).cells if row.stage == stage)


def fork(**options: Any) -> tuple[MemoryRun, str]:
    """A run of fork whose processes scatter by a thousandth."""
    builder = RunBuilder()
    cell = builder.cell("launch.fork", FORK, **{"spread": 0.001, **options})
    return builder.run, cell


def beside(run: MemoryRun, cell: str, share: float) -> Any:
    """Launches that met a neighbour, at random."""
    return np.random.default_rng(5).random(run.data[cell]["process"].size) < share


def test_launches_beside_a_neighbour_are_left_out() -> None:
    run, cell = fork()
    shared = beside(run, cell, 0.7)
    row = of_fork(sense(run, {cell: shared}, slower=1.4))
    assert row.median_ns == pytest.approx(FORK["reaped_ns"], rel=0.002)
    assert row.alone is not None
    assert row.alone.counted
    assert (row.alone.launches, row.alone.of) == (row.n_samples, shared.size)
    assert row.n_samples == int((~shared).sum())
    assert row.alone.others_take == pytest.approx(1.4, rel=0.01)
    # Of each stage the same launches, so that its parts add up.
    assert of_fork(run, "call_returns").n_samples == row.n_samples


def test_the_time_of_a_launch_decides_nothing() -> None:
    run, cell = fork()
    slow = beside(run, cell, 0.7)
    nobody = np.zeros(slow.size, np.bool_)
    sense(run, {cell: nobody})
    run.data[cell]["reaped_ns"] = np.where(slow, 2, 1) * run.data[cell]["reaped_ns"]
    row = of_fork(run)
    assert row.n_samples == slow.size
    assert row.median_ns == pytest.approx(2 * FORK["reaped_ns"], rel=0.01)


def test_a_neighbour_before_or_after_is_enough() -> None:
    run, cell = fork()
    sense(run, {cell: np.zeros(run.data[cell]["process"].size, np.bool_)})
    run.data[cell][COLUMNS[0]][0::3] = SHARED_NS
    run.data[cell][COLUMNS[1]][1::3] = SHARED_NS
    row = of_fork(run)
    assert 3 * row.n_samples == row.alone.of if row.alone else False


@pytest.mark.parametrize(("processes", "counted"), [(6, True), (5, False)])
def test_all_launches_count_where_too_few_processes_have_enough(processes: int, counted: bool) -> None:
    run, cell = fork()
    numbers = np.unique(run.data[cell]["process"])[:processes]
    shared = ~np.isin(run.data[cell]["process"], numbers)
    # Four alone are too few for a process to count.
    shared[np.flatnonzero(shared)[:4]] = False
    row = of_fork(sense(run, {cell: shared}, slower=1.4))
    assert row.alone is not None
    assert row.alone.counted is counted
    assert row.n_processes == (6 if counted else 12)
    assert row.alone.launches == int((~shared).sum())


def test_a_first_launch_is_all_that_its_process_has() -> None:
    run, cell = fork(temperature="cold")
    shared = np.arange(12) % 2 == 0
    row = of_fork(sense(run, {cell: shared}, slower=1.4))
    assert (row.n_processes, row.n_samples) == (6, 6)
    assert row.median_ns == pytest.approx(FORK["reaped_ns"], rel=0.005)


@pytest.mark.parametrize(("alone", "counted"), [(2, False), (3, True)])
def test_of_few_launches_a_third_is_enough(alone: int, counted: bool) -> None:
    run, cell = fork(samples=7, blocks=1)
    shared = run.data[cell]["sample"] >= alone
    row = of_fork(sense(run, {cell: shared}, slower=1.4))
    assert row.alone is not None
    assert row.alone.counted is counted
    assert row.n_samples == 12 * (alone if counted else 7)


def test_long_launches_are_not_chosen_by_their_ends() -> None:
    run, cell = fork()
    sense(run, {cell: beside(run, cell, 0.5)}, slower=1.4)
    for name in ("call_returns_ns", "task_runs_ns", "reaped_ns"):
        run.data[cell][name] *= 200
    row = of_fork(run)
    assert row.alone is not None
    assert not row.alone.counted
    assert row.n_samples == row.alone.of


def test_a_throttled_core_is_not_shared() -> None:
    builder = RunBuilder()
    fast = builder.cell("launch.fork", FORK, mhz=3000.0)
    slow = builder.cell("launch.pthread", FORK, mhz=2000.0)
    size = builder.run.data[fast]["process"].size
    nobody = np.zeros(size, np.bool_)
    run = sense(builder.run, {fast: nobody, slow: nobody})
    for name in COLUMNS:
        run.data[slow][name] = run.data[slow][name] * 3 // 2
    results = summarize(run)
    assert {row.n_samples for row in results.cells} == {size}
    assert results.machine is not None
    assert results.machine.word is MachineWord.QUIET


@pytest.mark.parametrize(("floor_ns", "word"), [(640, MachineWord.QUIET), (800, MachineWord.NOISY)])
def test_a_neighbour_that_never_rests_leaves_no_floor(floor_ns: int, word: MachineWord) -> None:
    """At 3 GHz 7,680 additions take 640 ns, four in a cycle; one that never makes as many was never alone."""
    run, cell = fork()
    run.metadata["host"]["cpu.arch"] = "x86_64"
    results = summarize(sense(run, {cell: np.zeros(run.data[cell]["process"].size, np.bool_)}, floor_ns=floor_ns))
    assert results.machine is not None
    assert results.machine.word is word
    assert results.machine.share_shared == (0.0 if word is MachineWord.QUIET else 1.0)


def test_an_accident_of_the_clock_is_no_floor() -> None:
    run, cell = fork()
    sense(run, {cell: np.zeros(run.data[cell]["process"].size, np.bool_)})
    run.data[cell][COLUMNS[0]][:3] = 400
    row = of_fork(run)
    assert row.alone is not None
    assert row.alone.launches == row.alone.of


@pytest.mark.parametrize(
    ("share", "word"), [(0.05, MachineWord.QUIET), (0.7, MachineWord.BUSY), (0.97, MachineWord.NOISY)]
)
def test_the_machine_has_one_word(share: float, word: MachineWord) -> None:
    run, cell = fork()
    results = summarize(sense(run, {cell: beside(run, cell, share)}, slower=1.4))
    machine = results.machine
    assert machine is not None
    assert machine.word is word
    assert machine.sentence.startswith(word)
    assert (machine.rows_alone, machine.rows) == (0 if word is MachineWord.NOISY else 3, 3)
    assert [doubt.id for doubt in results.first.doubts if doubt.id == "doubt.machine"] == (
        [] if word is MachineWord.QUIET else ["doubt.machine"]
    )
    assert machine.others_take == pytest.approx(1.4, rel=0.05)


@pytest.mark.parametrize(
    ("load", "word"), [(1.9, MachineWord.QUIET), (2.0, MachineWord.BUSY), (4.0, MachineWord.NOISY)]
)
def test_the_load_counts_beside_a_core_that_is_not_shared(load: float, word: MachineWord) -> None:
    run, cell = fork()
    run.metadata["host"] |= {"load.one_minute": load, "cpu.online": 2}
    machine = summarize(sense(run, {cell: beside(run, cell, 0.05)}, slower=1.4)).machine
    assert machine is not None
    assert machine.word is word
    # One reason: a neighbour who is there as seldom as on any machine is none.
    reasons = [reason for reason in ("load", "the core was shared") if reason in machine.sentence]
    assert reasons == (["the core was shared"] if word is MachineWord.QUIET else ["load"])


def test_a_neighbour_beside_whom_launches_take_no_longer_is_no_news() -> None:
    run, cell = fork()
    machine = summarize(sense(run, {cell: beside(run, cell, 0.7)}, slower=1.01)).machine
    assert machine is not None
    assert machine.word is MachineWord.QUIET


def test_a_run_without_additions_is_judged_by_its_load_alone() -> None:
    run, _ = fork()
    assert summarize(run).machine is None
    assert of_fork(run).alone is None
    run.metadata["host"] |= {"load.one_minute": 5.2, "cpu.online": 2}
    machine = summarize(run).machine
    assert machine is not None
    assert (machine.word, machine.share_shared) == (MachineWord.BUSY, None)
    assert "load 5.2 on 2 CPUs" in machine.sentence


@pytest.mark.parametrize("share", [0.95, None])
def test_runs_are_compared_by_launches_of_one_kind(share: float | None) -> None:
    """In one run a third of the launches was alone; in the other hardly any, or it has no additions at all."""
    first, cell = fork()
    sense(first, {cell: beside(first, cell, 0.7)}, slower=1.4)
    second, _ = fork()
    if share is not None:
        sense(second, {cell: np.ones(second.data[cell]["process"].size, np.bool_)})
    second.data[cell]["reaped_ns"] = first.data[cell]["reaped_ns"].copy()
    sides = [read_side(first, "first"), read_side(second, "second")]
    assert sides[0].cells[cell]["reaped_ns", "same_cpu"].median_ns == pytest.approx(FORK["reaped_ns"], rel=0.01)
    pairs, _ = match_groups(sides[:1], sides[1:])
    reaped = next(pair for pair in pairs if pair.base.stage == "reaped")
    assert reaped.base.median_ns == reaped.other.median_ns
    assert reaped.base.n_samples == reaped.other.n_samples
