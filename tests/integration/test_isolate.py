"""A worker that fails, for real: who lives on and what the kernel says, never how long it takes."""

from __future__ import annotations

import os
import signal

import pytest
from tests import probe
from tests.integration.started import at_work, gone, started
from tests.probe import present

pytestmark = pytest.mark.real

SETUPS = [
    "workload=isolate.worker task_kind=thread",
    "workload=isolate.worker task_kind=process",
    "workload=isolate.pool",
]
SIGNALS = {
    "segfault": signal.SIGSEGV,
    "abort": signal.SIGABRT,
    "overrun_guard": signal.SIGSEGV,
    "kill": signal.SIGKILL,
}
ENOMEM = 12
FEW = ("samples=3", "blocks=1", "warmup=1")


def only(values: object) -> int:
    [value] = set(values)  # type: ignore[call-overload]
    return int(value)


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("fault", [*SIGNALS, "leak"])
def test_threads_die_together_and_processes_alone(fault: str, setup: str) -> None:
    answer = probe.ask(*setup.split(), f"fault={fault}", "siblings=4", *FEW)
    # No message of the C library or the shell is spilled.
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    threads = setup.endswith("thread")
    assert block.outcomes == {"ok": 3}
    assert only(block.columns["survivors"]) == (0 if threads else 4)
    assert only(block.columns["parent_alive"]) == (0 if threads else 1)
    assert only(block.columns["damaged"]) == 0
    assert only(block.columns["ended_by_signal"]) == SIGNALS.get(fault, 0)
    assert list(present(block, "exit_status")) == ([ENOMEM] * 3 if fault == "leak" else [])
    known, replaced, restored = (block.columns[f"{name}_ns"] for name in ("known", "replaced", "restored"))
    assert (known > 0).all()
    assert (known < replaced).all()
    assert (replaced <= restored).all()


@pytest.mark.parametrize("setup", SETUPS)
def test_what_is_written_into_a_neighbours_data_reaches_threads_alone(setup: str) -> None:
    words = (*setup.split(), "fault=overrun_neighbour", *FEW)
    (block,) = probe.ask(*words).blocks
    threads = setup.endswith("thread")
    # Nobody ends: the kernel sees no fault at all.
    assert only(block.columns["survivors"]) == 3
    assert only(block.columns["parent_alive"]) == 1
    assert len(present(block, "ended_by_signal")) == 0
    assert only(block.columns["damaged"]) == (1 if threads else 0)
    assert len(present(block, "known_ns")) == len(present(block, "replaced_ns")) == (3 if threads else 0)


def test_a_leak_ends_at_its_limit_with_musl_too() -> None:
    if not probe.executable("musl").exists():
        pytest.skip("no musl probe is built")
    words = ("workload=isolate.worker", "fault=leak", *FEW)
    (block,) = probe.ask(*words, linkage="musl", program=probe.executable("musl")).blocks
    assert only(block.columns["exit_status"]) == ENOMEM


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("siblings=0 fault=overrun_neighbour", "skipped", "needs a neighbour"),
        (f"siblings={1 << 60}", "skipped", "at most"),
        ("siblings=-1", "failed", "not a whole number"),
        ("fault=hiccup", "failed", "no value 'hiccup'"),
    ],
)
def test_what_makes_no_sense_is_refused(words: str, status: str, complaint: str) -> None:
    answer = probe.ask("workload=isolate.worker", *words.split())
    assert (answer.done.status, answer.blocks) == (status, [])
    assert complaint in answer.done.reason


def test_a_worker_without_siblings_may_fail_too() -> None:
    (block,) = probe.ask("workload=isolate.pool", "siblings=0", *FEW).blocks
    assert only(block.columns["survivors"]) == 0
    assert block.outcomes == {"ok": 3}


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("setup", SETUPS)
def test_nothing_is_left_whatever_ends_the_probe(setup: str, ending: signal.Signals) -> None:
    with started(*setup.split(), "samples=1000000", "blocks=1") as running:
        assert at_work(running.pid)
        running.end(ending)
        assert gone(running.pid)


def test_no_core_is_left() -> None:
    before = set(os.listdir())
    probe.ask("workload=isolate.worker", "task_kind=process", "fault=segfault", *FEW)
    assert not {name for name in set(os.listdir()) - before if name.startswith("core")}
