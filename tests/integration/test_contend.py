"""Contention, for real: who the workers are, where they run, what is left, never how long it takes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import cpu_ticks, gone, happens, members, started, threads
from tests.probe import present

pytestmark = pytest.mark.real

OPERATIONS = ["fault", "mmap", "malloc", "open", "counter"]
CONDITIONS = [
    *(f"workload=contend.{name}" for name in OPERATIONS),
    "workload=contend.mmap vma_kind=touched",
    "workload=contend.open opened=same",
    "workload=contend.malloc allocation_bytes=100000",
    "workload=contend.counter counter_layout=packed",
    "workload=contend.counter counter_layout=one",
]
FEW = ("samples=2", "blocks=1", "warmup=0")
SLEEPLESS = ("samples=1000000", "blocks=1", "warmup=0")


@pytest.mark.parametrize("kind", ["thread", "process"])
@pytest.mark.parametrize("words", CONDITIONS)
def test_every_operation_is_counted_by_threads_and_by_processes(words: str, kind: str) -> None:
    workers = 3
    answer = probe.ask(*words.split(), f"task_kind={kind}", f"workers={workers}", *FEW)
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 2}
    op, cpu, rate = (present(block, name) for name in ("op_ns", "cpu_op_ns", "throughput_per_s"))
    assert len(op) == len(cpu) == len(rate) == 2
    # Both are made of the same window and the same count of operations.
    assert np.allclose(op * rate, workers * 1e9, rtol=1e-9)
    assert (cpu > 0).all()


@pytest.mark.parametrize("linkage", ["musl", "dynamic_lazy"])
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_other_allocators_are_shared_too(kind: str, linkage: str) -> None:
    if not probe.executable(linkage).exists():
        pytest.skip(f"no probe is built for {linkage}")
    answer = probe.ask(
        "workload=contend.malloc",
        f"task_kind={kind}",
        "workers=4",
        *FEW,
        linkage=linkage,
        program=probe.executable(linkage),
    )
    assert answer.done.status == "ok"


@pytest.mark.parametrize(("kind", "processes", "in_each"), [("thread", 1, 6), ("process", 6, 1)])
def test_the_kernel_sees_threads_or_processes(kind: str, processes: int, in_each: int) -> None:
    with started("workload=contend.counter", f"task_kind={kind}", "workers=5", *SLEEPLESS) as running:
        assert happens(lambda: (len(members(running.pid)), threads(running.pid)) == (processes, in_each))
    assert gone(running.pid)


def test_pinned_workers_are_spread_over_the_cpus() -> None:
    cpus = os.sched_getaffinity(0)
    words = ("workload=contend.counter", "task_kind=process", f"workers={2 * len(cpus)}", *SLEEPLESS)
    with started(*words) as running:
        assert happens(lambda: len(members(running.pid)) == 2 * len(cpus) + 1)

        def spread() -> bool:
            masks = [os.sched_getaffinity(pid) for pid in members(running.pid) if pid != running.pid]
            return sorted(masks, key=min) == sorted([{cpu} for cpu in cpus for _ in range(2)], key=min)

        assert happens(spread)
    assert gone(running.pid)


def test_faults_are_taken_for_every_operation() -> None:
    """Each operation is one page fault of this very process: the kernel counts as many."""
    (block,) = probe.ask("workload=contend.fault", "workers=1", *FEW).blocks
    seconds = 0.005 * len(present(block, "op_ns"))
    assert block.facts["minor_faults"] >= present(block, "throughput_per_s").min() * seconds


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_nothing_is_left_whatever_ends_the_probe(kind: str, ending: signal.Signals, tmp_path: Path) -> None:
    words = ("workload=contend.open", f"task_kind={kind}", "workers=4", *SLEEPLESS)
    with started(*words, environment={"TMPDIR": str(tmp_path)}) as running:
        assert happens(lambda: len(list(tmp_path.glob("clonometer-*/*"))) == 4)
        running.end(ending)
        assert gone(running.pid)
    # The remover has a session of its own.
    assert happens(lambda: not list(tmp_path.iterdir()))


def test_a_worker_that_is_killed_is_a_counted_outcome(tmp_path: Path) -> None:
    words = ("workload=contend.counter", "task_kind=process", "workers=3", "samples=500", "blocks=1", "warmup=0")
    with started(*words) as running:
        assert happens(lambda: len(members(running.pid)) == 4)
        victim = next(pid for pid in members(running.pid) if pid != running.pid)
        # One that dies before it began is an error of the whole measurement; to begin takes no tick.
        assert happens(lambda: cpu_ticks(victim) > 1)
        os.kill(victim, signal.SIGKILL)
        data = running.answer()
        assert running.process.wait() == 0
        assert b'"ECHILD"' in data
        assert gone(running.pid)


def test_files_are_removed_when_all_went_well(tmp_path: Path) -> None:
    with started("workload=contend.open", "workers=2", *FEW, environment={"TMPDIR": str(tmp_path)}) as running:
        assert b'"ok"' in running.answer()
        assert running.process.wait() == 0
        assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with started("workload=contend.open", *FEW, environment={"TMPDIR": str(tmp_path / "missing")}) as running:
        assert b"the workers' files cannot be created" in running.answer()


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("workers=0", "failed", "not a whole number from 1"),
        ("workers=-2", "failed", "not a whole number from 1"),
        ("workers=1000000", "skipped", "needs"),
        (f"workers={1 << 62}", "skipped", "larger than any machine allows"),
    ],
)
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_workers_that_cannot_be_are_refused_with_the_numbers(
    kind: str, words: str, status: str, complaint: str
) -> None:
    answer = probe.ask("workload=contend.fault", f"task_kind={kind}", words)
    assert (answer.done.status, answer.blocks) == (status, [])
    assert complaint in answer.done.reason


def test_blocks_that_are_no_blocks_are_refused() -> None:
    assert "not a whole number from 1" in probe.ask("workload=contend.malloc", "allocation_bytes=0").done.reason
    assert "at most" in probe.ask("workload=contend.malloc", f"allocation_bytes={1 << 40}").done.reason
