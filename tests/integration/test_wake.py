"""Waking idle workers, for real: what must hold however long a wake-up takes."""

from __future__ import annotations

import os

import pytest
from tests import probe
from tests.integration.started import gone, happens, members, started, threads
from tests.probe import present

pytestmark = pytest.mark.real

WAKES = [entry["id"] for entry in probe.catalogue()["workloads"] if entry["family"] == "wake"]
OF_PROCESSES = ["wake.pipe", "wake.futex"]
CPUS = os.sched_getaffinity(0)
SPIN_NS = 300_000


def test_every_way_of_waking_is_there() -> None:
    assert sorted(WAKES) == ["wake.futex", "wake.pipe", "wake.thread_condvar", "wake.thread_futex"]


@pytest.mark.parametrize("placement", ["pinned", "free"])
@pytest.mark.parametrize("workload", WAKES)
def test_nothing_happens_after_the_answer(workload: str, placement: str) -> None:
    answer = probe.ask(
        f"workload={workload}", f"placement={placement}", "temperatures=cold,warm", "samples=30", "blocks=2"
    )
    assert answer.done.status == "ok"
    for block in answer.blocks:
        for stage in ("call_returns_ns", "task_runs_ns"):
            assert (block.columns[stage] <= block.columns["answered_ns"]).all()
        starts = block.columns["start_ns"]
        assert (starts[1:] >= starts[:-1] + block.columns["answered_ns"][:-1]).all()
        used = {max(CPUS)} if placement == "pinned" else CPUS
        for column in ("cpu_before", "cpu_after", "cpu_child"):
            assert set(present(block, column)) <= used


@pytest.mark.parametrize("workload", WAKES)
def test_known_delays_come_where_they_were_put(workload: str) -> None:
    def fastest(*words: str) -> dict[str, int]:
        (block,) = probe.ask(f"workload={workload}", "samples=15", "blocks=1", *words).blocks
        return {name: int(block.columns[name].min()) for name in ("task_runs_ns", "answered_ns")}

    plain = fastest()
    before_stamp = fastest(f"stamp_spin_ns={SPIN_NS}")
    before_answer = fastest(f"child_spin_ns={SPIN_NS}")
    assert before_stamp["task_runs_ns"] >= SPIN_NS
    assert before_answer["answered_ns"] >= SPIN_NS
    # The delay before the answer is not part of the way to the worker's first instruction.
    assert before_answer["task_runs_ns"] < plain["task_runs_ns"] + SPIN_NS


@pytest.mark.parametrize("workload", WAKES)
def test_a_worker_that_stamps_nothing(workload: str) -> None:
    (block,) = probe.ask(f"workload={workload}", "stages=parent", "samples=5", "blocks=1").blocks
    assert len(present(block, "task_runs_ns")) == len(present(block, "cpu_child")) == 0
    assert len(present(block, "answered_ns")) == 5


@pytest.mark.parametrize("workload", WAKES)
def test_the_worker_sleeps_between_calls(workload: str) -> None:
    """Each wake-up costs the caller a sleep at least: it never finds an answer without waiting for the pause."""
    (block,) = probe.ask(f"workload={workload}", "samples=20", "blocks=1", "warmup=0").blocks
    assert block.facts["voluntary_switches"] >= 20


@pytest.mark.parametrize("workload", WAKES)
def test_worker_and_probe_end_together(workload: str) -> None:
    awaited = (2, 1) if workload in OF_PROCESSES else (1, 2)
    with started(f"workload={workload}", "samples=1000000", "blocks=1") as running:
        assert happens(lambda: (len(members(running.pid)), threads(running.pid)) == awaited)
        running.end()
        assert gone(running.pid)


def test_no_worker_is_left_after_a_good_end() -> None:
    with started("workload=wake.futex", "samples=5", "blocks=1") as running:
        running.answer()
        # It was reaped by the probe itself, before it answered.
        assert set(members(running.pid)) <= {running.pid}
        assert running.process.wait() == 0
