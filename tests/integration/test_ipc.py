"""Messages between tasks, for real: they arrive, and a partner that dies stops nobody for ever."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import gone, happens, members, started
from tests.probe import present

from clonometer.protocol import AnswerReader

pytestmark = pytest.mark.real

CPUS = os.sched_getaffinity(0)
WAYS = [entry["id"] for entry in probe.catalogue()["workloads"] if entry["family"] == "ipc" and entry["available"]]
KINDS = ["thread", "process"]
OF_PROCESSES = [f"{name} task_kind=process" for name in ("switch.pipe", "switch.futex", "switch.yield", *WAYS)]


def test_every_way_is_there() -> None:
    names = ["pipe", "posix_queue", "process_vm_readv", "shared_memory", "unix_socket", "vmsplice"]
    ways = [entry["id"] for entry in probe.catalogue()["workloads"] if entry["family"] == "ipc"]
    assert sorted(ways) == [f"ipc.{name}" for name in names]


# Odd sizes too: the receiver compares every byte with what was sent, and a wrong one is counted as EBADMSG.
@pytest.mark.parametrize("size", [1, 7, 4097, 65536, 1_000_003])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", WAYS)
def test_messages_of_every_size_arrive_whole(workload: str, kind: str, size: int) -> None:
    words = [f"workload={workload}", f"task_kind={kind}", f"message_bytes={size}"]
    answer = probe.ask(*words, "samples=3", "blocks=1", "warmup=1")
    assert (answer.done.status, answer.done.reason) == ("ok", None)
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 3}
    for column in ("latency_ns", "stream_ns", "bandwidth"):
        assert (present(block, column) > 0).all()


@pytest.mark.parametrize("workload", WAYS)
def test_the_bandwidth_is_the_bytes_of_the_stream_for_its_time(workload: str) -> None:
    size = 100_000
    (block,) = probe.ask(f"workload={workload}", f"message_bytes={size}", "samples=5", "blocks=1").blocks
    computed = size / block.columns["stream_ns"] * 1e9
    assert block.columns["bandwidth"] == pytest.approx(computed, rel=1e-3)


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
@pytest.mark.parametrize("workload", WAYS)
def test_the_partner_can_be_on_another_cpu(workload: str) -> None:
    words = [f"workload={workload}", "task_kind=process", "partner_cpu=other", "samples=3", "blocks=1"]
    (block,) = probe.ask(*words).blocks
    assert set(present(block, "cpu_before")) == {max(CPUS)}
    assert set(present(block, "cpu_child")) == {sorted(CPUS)[-2]}


@pytest.mark.parametrize(("size", "status"), [(0, "failed"), (1 << 40, "skipped")])
def test_sizes_that_cannot_be_are_refused(size: int, status: str) -> None:
    answer = probe.ask("workload=ipc.pipe", f"message_bytes={size}")
    assert (answer.done.status, answer.blocks) == (status, [])
    assert "message_bytes" in answer.done.reason


def test_more_memory_than_there_is_is_refused_with_the_numbers() -> None:
    import resource

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    answer = probe.ask("workload=ipc.shared_memory", f"message_bytes={256 << 20}", before=little)
    assert answer.done.status == "skipped"
    assert "RLIMIT_AS" in answer.done.reason


def awaited(session: int, count: int) -> list[int]:
    """The session's processes, once there are so many."""
    assert happens(lambda: len(members(session)) == count)
    return members(session)


@pytest.mark.parametrize("condition", OF_PROCESSES)
def test_a_partner_that_is_killed_stops_nobody(condition: str) -> None:
    """The probe notices, counts what is left as ECHILD, answers and leaves nothing."""
    name, kind = condition.split()
    words = (f"workload={name}", kind, *probe.clock_words(), "samples=200000", "blocks=1", "warmup=0")
    with started(*words) as running:
        partners = awaited(running.pid, 2)
        time.sleep(0.1)
        (partner,) = set(partners) - {running.pid}
        os.kill(partner, signal.SIGKILL)
        data = running.answer()
        assert running.process.wait(timeout=30) == 0
        assert gone(running.pid)
    reader = AnswerReader()
    (block,) = reader.feed(data)
    assert reader.finish().status == "ok"
    assert block.outcomes["ECHILD"] > 0
    assert block.outcomes["ok"] + block.outcomes["ECHILD"] == 200_000


@pytest.mark.parametrize("words", ["ring_tasks=40 task_kind=process", "ring_tasks=40 task_kind=thread"])
def test_a_ring_ends_with_its_probe(words: str) -> None:
    with started("workload=switch.pipe", *words.split(), "samples=1000000", "blocks=1") as running:
        awaited(running.pid, 40 if "process" in words else 1)
        running.end()
        assert gone(running.pid)


def test_one_of_many_that_is_killed_stops_nobody() -> None:
    words = ("workload=switch.futex", "task_kind=process", "ring_tasks=20", "samples=20000", "blocks=1")
    with started(*words) as running:
        partners = awaited(running.pid, 20)
        time.sleep(0.1)
        os.kill(max(set(partners) - {running.pid}), signal.SIGKILL)
        running.answer()
        assert running.process.wait(timeout=30) == 0
        assert gone(running.pid)


def test_no_queue_is_left_behind() -> None:
    if "ipc.posix_queue" not in WAYS:
        pytest.skip("no POSIX queues here")
    assert probe.ask("workload=ipc.posix_queue", "samples=3", "blocks=1").done.status == "ok"
    mounted = Path("/dev/mqueue")
    assert not mounted.is_dir() or not list(mounted.glob("clonometer-*"))
