"""Switching between tasks, for real: what must hold however long a switch takes."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests import probe
from tests.probe import present

pytestmark = pytest.mark.real

CPUS = os.sched_getaffinity(0)
SWITCHES = [entry["id"] for entry in probe.catalogue()["workloads"] if entry["family"] == "switch"]
SLEEPING = [name for name in SWITCHES if name != "switch.yield"]
KINDS = ["thread", "process"]
HANDOVERS = 20
needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


def test_every_way_of_switching_is_there() -> None:
    names = ["eventfd", "futex", "pipe", "signal", "unix_socket", "yield"]
    assert sorted(SWITCHES) == [f"switch.{name}" for name in names]


@pytest.mark.parametrize("workload", SWITCHES)
def test_each_hand_over_on_one_cpu_is_a_switch_that_the_kernel_counted(workload: str) -> None:
    rows = 30
    (block,) = probe.ask(f"workload={workload}", f"samples={rows}", "blocks=1").blocks
    assert block.outcomes == {"ok": rows}
    counted = block.facts["voluntary_switches"] + block.facts["involuntary_switches"]
    # Of threads the kernel counts both sides'. Each sample has a lap more, which is not timed.
    assert counted >= rows * HANDOVERS
    if workload != "switch.yield":
        assert counted >= rows * (HANDOVERS + 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", SWITCHES)
def test_pinned_tasks_run_on_the_cpu_that_was_asked_for(workload: str, kind: str) -> None:
    cpu = min(CPUS)
    (block,) = probe.ask(f"workload={workload}", f"task_kind={kind}", "samples=5", "blocks=1", f"cpu={cpu}").blocks
    for column in ("cpu_before", "cpu_after", "cpu_child"):
        assert set(present(block, column)) == {cpu}


@needs_two_cpus
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", SLEEPING)
def test_the_partner_can_be_on_another_cpu(workload: str, kind: str) -> None:
    words = [f"workload={workload}", f"task_kind={kind}", "partner_cpu=other", "samples=5", "blocks=1"]
    (block,) = probe.ask(*words).blocks
    assert set(present(block, "cpu_before")) == {max(CPUS)}
    assert set(present(block, "cpu_child")) == {sorted(CPUS)[-2]}


@pytest.mark.parametrize("workload", ["switch.futex", "switch.pipe"])
def test_free_tasks_say_where_they_ran(workload: str) -> None:
    words = [f"workload={workload}", "placement=free", "task_kind=process", "samples=50", "blocks=2"]
    answer = probe.ask(*words)
    assert answer.done.status == "ok"
    for block in answer.blocks:
        assert set(present(block, "cpu_child")) <= CPUS
        # Hardly any sample catches a task in the middle of a move.
        assert len(present(block, "cpu_child")) >= block.rows / 2


def test_the_switch_is_what_is_left_of_a_hand_over() -> None:
    (block,) = probe.ask("workload=switch.pipe", "samples=20", "blocks=1").blocks
    left = block.columns["handover_ns"] - block.columns["alone_ns"]
    assert np.allclose(left, block.columns["switch_ns"], atol=0.11)


def test_yielding_takes_a_call_a_hand_over_at_least() -> None:
    (block,) = probe.ask("workload=switch.yield", "samples=20", "blocks=1").blocks
    assert (block.columns["yields"] >= HANDOVERS / 2).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", SLEEPING)
def test_a_ring_hands_its_turn_round(workload: str, kind: str) -> None:
    tasks, rows = 25, 3
    words = [f"workload={workload}", f"task_kind={kind}", f"ring_tasks={tasks}"]
    (block,) = probe.ask(*words, f"samples={rows}", "blocks=1", "warmup=0").blocks
    assert block.outcomes == {"ok": rows}
    if kind == "thread":
        counted = block.facts["voluntary_switches"] + block.facts["involuntary_switches"]
        assert counted >= rows * 2 * tasks


def test_work_is_done_at_each_turn_and_alone() -> None:
    """Each task writes its own memory: it is there, and walking it takes longer than not to."""
    size, tasks = 8 << 20, 3
    words = ["workload=switch.futex", "samples=3", "blocks=1", "warmup=0", f"ring_tasks={tasks}"]
    plain = probe.ask(*words).blocks[0]
    working = probe.ask(*words, f"working_set_bytes={size}").blocks[0]
    # The kernel counts resident pages in batches.
    assert working.facts["rss_bytes"] - plain.facts["rss_bytes"] >= 0.95 * tasks * size
    for column in ("handover_ns", "alone_ns"):
        assert working.columns[column].min() > plain.columns[column].max()


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (["workload=switch.pipe", "ring_tasks=1"], "skipped", "from 2 to"),
        (["workload=switch.pipe", "ring_tasks=0"], "failed", "ring_tasks=0"),
        (["workload=switch.pipe", "ring_tasks=100000"], "skipped", "from 2 to"),
        (["workload=switch.pipe", f"working_set_bytes={1 << 48}"], "skipped", "leaves"),
        (["workload=switch.yield", "partner_cpu=other"], "skipped", "nothing is switched"),
        (["workload=switch.yield", "ring_tasks=100"], "skipped", "at most"),
        (["workload=switch.futex", "placement=free", "partner_cpu=other"], "skipped", "choose one"),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(words: list[str], status: str, complaint: str) -> None:
    answer = probe.ask(*words)
    assert (answer.done.status, answer.blocks) == (status, [])
    assert complaint in answer.done.reason


def test_two_cpus_that_are_not_there_are_a_reason_to_skip() -> None:
    cpu = max(CPUS)
    answer = probe.ask("workload=switch.pipe", "partner_cpu=other", before=lambda: os.sched_setaffinity(0, {cpu}))
    assert answer.done.status == "skipped"
    assert "two CPUs" in answer.done.reason
