"""Servers under load, for real: every request is answered once, and what is counted holds; never how long it takes."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, happens, members, started
from tests.probe import present

pytestmark = pytest.mark.real

FORKING = ("fork", "spawn")
POOLS = ("prefork", "pass_fd")
THREADS = ("thread", "thread_pool", "event_pool")
DESIGNS = ("inline", "event", *FORKING, *POOLS, *THREADS)
# 100 requests, of which the host may make any late.
LIGHT = ("rate_hz=400", "load_ns=250000000", "work_ns=20000")
FEW = ("samples=1", "blocks=1", "warmup=0")
REQUESTS = 100
OURS = ("clonometer-load", "probe-static")


def only(values: object) -> float:
    [value] = set(values)  # type: ignore[call-overload]
    return float(value)


def left_over() -> list[str]:
    """Sockets of servers that have gone, and tasks of ours that nobody waits for: others may measure meanwhile."""
    unix = Path("/proc/net/unix").read_text().splitlines()
    names = [line.rpartition("-")[2] for line in unix if "@clonometer-serve-" in line]
    gone = [f"socket of {pid}" for pid in names if not Path(f"/proc/{pid}").exists()]
    return gone + [f"task {pid}" for pid in processes() if name_of(pid) in OURS and parent_of(pid) == 1]


def processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.parametrize("transport", ["unix", "tcp"])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_request_is_answered_and_counted_once(design: str, transport: str) -> None:
    answer = probe.ask(f"workload=serve.{design}", f"transport={transport}", *LIGHT, *FEW)
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": REQUESTS}
    # The work of a request is a part of what its server took, and that of what its client waited for.
    latency, served = block.columns["latency_ns"], block.columns["served_ns"]
    assert (served > 0).all()
    assert (latency > served).all()
    assert (block.columns["sent_late_ns"] >= 0).all()
    assert (np.diff(block.columns["start_ns"]) >= 0).all()
    assert only(present(block, "failed")) == 0
    # CPU time is calibrated, and no server answers for nothing.
    assert only(present(block, "server_cpu_each_ns")) > 10_000
    assert only(present(block, "pss_bytes")) > 100_000
    assert len(present(block, "lost")) == 0
    # Only new processes fault in pages for each request.
    assert (only(present(block, "faults_each")) > 3) == (design in FORKING)
    assert happens(lambda: not left_over())


@pytest.mark.parametrize("design", DESIGNS)
def test_a_crash_takes_along_what_shares_its_memory(design: str) -> None:
    words = ("crash=one", "server_workers=3") if design in (*POOLS, *THREADS[1:]) else ("crash=one",)
    answer = probe.ask(f"workload=serve.{design}", *words, *LIGHT, *FEW)
    # No message of the C library or the shell is spilled.
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    failed = sum(count for error, count in block.outcomes.items() if error != "ok")
    assert 1 <= failed < REQUESTS / 2
    assert only(present(block, "lost")) == only(present(block, "failed")) == failed
    dead = only(present(block, "dead_tasks"))
    if design in ("thread_pool", "event_pool"):
        assert dead == 1 + 3
    elif design == "thread":
        assert dead >= 2
    else:
        assert dead == 1
    whole_ns = only(present(block, "whole_again_ns"))
    assert (whole_ns == 0) == (design in FORKING)
    # Whoever comes later is answered.
    assert block.columns["latency_ns"][-1] > 0


@pytest.mark.parametrize("design", ["fork", "spawn", "prefork", "thread_pool", "event", "event_pool"])
def test_kept_connections_are_answered_again_and_again(design: str) -> None:
    (block,) = probe.ask(f"workload=serve.{design}", "connections=kept", "clients=4", *LIGHT, *FEW).blocks
    assert block.outcomes == {"ok": REQUESTS}
    # One process for each connection, not for each request.
    assert only(present(block, "faults_each")) < (12 if design == "spawn" else 3)


@pytest.mark.parametrize("design", ["inline", "pass_fd"])
def test_a_server_sleeps_between_rare_requests(design: str) -> None:
    words = ("rate_hz=4", "load_ns=1000000000", "work_ns=0")
    (block,) = probe.ask(f"workload=serve.{design}", *words, *FEW).blocks
    # Looking every 20 ms whether the load is over made it 12 and more.
    assert only(present(block, "switches_each")) < 8


def test_requests_and_answers_of_a_size_arrive_whole() -> None:
    sizes = ("request_bytes=300000", "response_bytes=700000")
    for design in ("inline", "event", "event_pool", "spawn"):
        answer = probe.ask(f"workload=serve.{design}", *sizes, "rate_hz=100", "load_ns=200000000", *FEW)
        assert answer.blocks[0].outcomes == {"ok": 20}, design


def test_memory_that_requests_write_is_copied_in_forked_processes_alone() -> None:
    def faults(design: str, dirtied_bytes: int) -> float:
        words = ("parent_bytes=8388608", f"dirtied_bytes={dirtied_bytes}")
        (block,) = probe.ask(f"workload=serve.{design}", *words, *LIGHT, *FEW).blocks
        return only(present(block, "faults_each"))

    # 256 pages; the kernel may map several by one fault where a new program touches them, never where it copies.
    assert faults("fork", 1 << 20) - faults("fork", 0) == pytest.approx(256, abs=3)
    assert faults("inline", 1 << 20) < 3


def test_the_same_seed_sends_at_the_same_times_and_equal_steps_are_equal() -> None:
    def times(*words: str) -> np.ndarray:
        (block,) = probe.ask("workload=serve.inline", *words, *LIGHT, *FEW).blocks
        starts = block.columns["start_ns"]
        return starts - starts[0]

    first, second = times("arrival_seed=7"), times("arrival_seed=7")
    # Both clocks' conversions round.
    assert np.abs(first - second).max() <= 2
    assert np.abs(times("arrival_seed=8") - first).max() > 1_000
    steps = np.diff(times("arrivals=constant"))
    assert np.abs(steps - 2_500_000).max() <= 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            "workload=serve.prefork connections=kept clients=9 server_workers=3",
            "choose connections=per_request, clients=3",
        ),
        ("workload=serve.inline connections=kept", "clients=1"),
        ("workload=serve.fork dirtied_bytes=4096", "which is parent_bytes"),
        ("workload=serve.fork response_bytes=10", "response_bytes=10: from 96"),
        ("workload=serve.fork rate_hz=900000 load_ns=60000000000", "at most 1000000 in a period"),
        ("workload=serve.event server_cpus=4096", "the affinity of this process has"),
    ],
)
def test_contradictions_and_what_is_beyond_all_measure_are_refused(words: str, reason: str) -> None:
    answer = probe.ask(*words.split(), *FEW)
    assert answer.done.status == "skipped"
    assert reason in (answer.done.reason or "")
    assert answer.blocks == []
    assert happens(lambda: not left_over())


def test_few_descriptors_and_few_tasks_skip_with_their_limits() -> None:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    answer = probe.ask("workload=serve.thread", *LIGHT, *FEW, before=few_files)
    assert answer.done.status == "skipped"
    assert "RLIMIT_NOFILE" in (answer.done.reason or "")


@ROOT_ONLY
def test_a_network_without_loopback_skips_tcp_and_measures_unix() -> None:
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no network namespace can be made here")
    alone = ["unshare", "--net", str(probe.executable())]
    tcp = probe.ask("workload=serve.inline", "transport=tcp", *LIGHT, *FEW, linkage=None, command=alone)
    assert tcp.done.status == "skipped"
    assert "ip link set lo up, or choose transport=unix" in (tcp.done.reason or "")
    unix = probe.ask("workload=serve.inline", *LIGHT, *FEW, linkage=None, command=alone)
    assert unix.blocks[0].outcomes == {"ok": REQUESTS}


@ROOT_ONLY
def test_a_name_that_another_container_has_is_replaced() -> None:
    # Of two containers with one network each may have a first process that is a probe.
    alone = ["unshare", "--pid", "--fork", str(probe.executable())]
    if subprocess.run([*alone[:-1], "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespace of processes can be made here")
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind("\0clonometer-serve-1")
        answer = probe.ask("workload=serve.fork", *LIGHT, *FEW, linkage=None, command=alone)
    assert answer.blocks[0].outcomes == {"ok": REQUESTS}


@pytest.mark.parametrize("design", ["fork", "prefork", "thread_pool", "event"])
def test_nothing_outlives_a_killed_server(design: str) -> None:
    words = [f"workload=serve.{design}", "rate_hz=100", "load_ns=20000000000", *FEW]
    with started(*words) as running:
        assert happens(lambda: len(members(running.pid)) > 1)
        os.kill(running.pid, signal.SIGKILL)
        running.process.wait()
        assert happens(lambda: not members(running.pid))
    assert happens(lambda: not left_over())


@pytest.mark.parametrize("design", ["inline", "prefork"])
def test_a_client_that_is_killed_ends_the_period_with_its_reason(design: str) -> None:
    # Few rows: nobody reads them, and a pipe holds 64 KiB.
    words = [f"workload=serve.{design}", "rate_hz=5", "load_ns=20000000000", *FEW]
    with started(*words) as running:
        assert happens(lambda: client_of(running.pid))
        os.kill(client_of(running.pid)[0], signal.SIGKILL)
        assert running.process.wait(timeout=30) == 0
        assert happens(lambda: not members(running.pid))


def client_of(session: int) -> list[int]:
    """The client's process."""
    names = {pid: name_of(pid) for pid in members(session)}
    return [pid for pid, name in names.items() if name == "clonometer-load"]
