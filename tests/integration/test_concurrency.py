"""Several launchers at once: all launch at the same time, each with its own samples, and none outlives the probe."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import gone, happens, process_session, started
from tests.probe import present

from clonometer.answers import Block

pytestmark = pytest.mark.real

WORKLOADS = [entry["id"] for entry in probe.catalogue()["workloads"] if "concurrency" in entry["axes"]]
KINDS = ["threads", "processes"]
STAGES = ("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns")


def blocks(workload: str, *words: str) -> list[Block]:
    answer = probe.ask(f"workload={workload}", *words)
    assert (answer.done.status, answer.exit_status, answer.stderr) == ("ok", 0, "")
    return answer.blocks


LAUNCHERS = ("workload=launch.fork", "concurrency=3", "samples=500000", "blocks=1")


def test_the_five_mechanisms_have_it() -> None:
    assert set(WORKLOADS) >= {
        "launch.fork",
        "launch.vfork",
        "launch.pthread",
        "launch.posix_spawn",
        "launch.fork_exec",
    }


@pytest.mark.parametrize("placement", ["pinned", "free"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_each_launcher_has_its_own_samples(workload: str, kind: str, placement: str) -> None:
    launchers, rows = 3, 12
    described = next(entry for entry in probe.catalogue()["workloads"] if entry["id"] == workload)
    answered = blocks(
        workload,
        f"concurrency={launchers}",
        f"launchers={kind}",
        f"placement={placement}",
        "temperatures=cold,warm",
        f"samples={rows}",
        "blocks=2",
        "warmup=2",
    )
    assert [block.temperature for block in answered] == ["cold", "warm", "warm"]
    for block in answered:
        each = 1 if block.temperature == "cold" else rows
        assert block.columns["launcher"].tolist() == [i for i in range(launchers) for _ in range(each)]
        assert block.outcomes == {"ok": launchers * each}
        for stage in STAGES:
            assert len(present(block, stage)) == (block.rows if stage in described["quantities"] else 0)
        for launcher in range(launchers):
            mine = block.columns["launcher"] == launcher
            starts = block.columns["start_ns"][mine]
            ends = starts + block.columns["reaped_ns"][mine]
            assert (starts >= 0).all()
            assert (starts[1:] >= ends[:-1]).all()
            assert ends[-1] <= block.facts["wall_ns"] * 1.01 + 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_launchers_launch_at_the_same_time(kind: str) -> None:
    """Each is at work during the other's samples: two that took turns would not overlap."""
    (block,) = blocks(
        "launch.fork",
        "concurrency=2",
        f"launchers={kind}",
        "placement=free",
        "samples=100",
        "blocks=1",
        "child_spin_ns=1000000",
    )
    first, second = (block.columns["launcher"] == i for i in range(2))
    starts, ends = block.columns["start_ns"], block.columns["start_ns"] + block.columns["reaped_ns"]
    common = min(ends[first].max(), ends[second].max()) - max(starts[first].min(), starts[second].min())
    # On a busy machine one may be done long before the other; of two that took turns it would be below zero.
    assert common > ends.max() / 10


@pytest.mark.parametrize("kind", KINDS)
def test_pinned_launchers_are_spread_over_the_cpus(kind: str) -> None:
    cpus = sorted(os.sched_getaffinity(0), reverse=True)
    launchers = len(cpus) + 1 if len(cpus) < 16 else 16
    (block,) = blocks("launch.fork", f"concurrency={launchers}", f"launchers={kind}", "samples=3", "blocks=1")
    for launcher in range(launchers):
        mine = block.columns["launcher"] == launcher
        used = np.unique(np.concatenate([block.columns[f"cpu_{when}"][mine] for when in ("before", "after", "child")]))
        assert used.tolist() == [cpus[launcher % len(cpus)]]


def test_one_launcher_is_number_zero() -> None:
    (block,) = blocks("launch.fork", "samples=3", "blocks=1")
    assert block.columns["launcher"].tolist() == [0, 0, 0]


def test_a_time_limit_shortens_every_launchers_rows() -> None:
    (block,) = blocks("launch.fork", "concurrency=2", "samples=5000", "blocks=1", "warmup=0", "block_limit_ns=1")
    assert block.columns["launcher"].tolist() == [0, 0, 0, 1, 1, 1]


def test_processes_have_a_condition_each_and_threads_share_one() -> None:
    words = ("concurrency=3", f"parent_bytes={8 << 20}", "vmas=100", "open_files=50", "samples=3", "blocks=1")
    for kind in KINDS:
        (block,) = blocks("launch.fork", f"launchers={kind}", *words)
        assert block.facts["rss_bytes"] > 8 << 20
        assert block.facts["vmas"] > 100
        assert block.facts["open_files"] > 50
        assert block.facts["threads"] == (4 if kind == "threads" else 1)


def test_what_all_need_together_is_asked_for_before_anything_is_built() -> None:
    available = next(
        int(line.split()[1]) * 1024 for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line
    )
    answer = probe.ask("workload=launch.fork", "concurrency=4", "launchers=processes", f"parent_bytes={available // 3}")
    assert answer.done.status == "skipped"
    assert "MiB" in answer.done.reason


@pytest.mark.parametrize(
    ("number", "status", "complaint"), [(0, "failed", "concurrency=0"), (100_000, "skipped", "4096")]
)
def test_a_number_of_launchers_that_cannot_be_meant_is_refused(number: int, status: str, complaint: str) -> None:
    answer = probe.ask("workload=launch.fork", f"concurrency={number}")
    assert answer.done.status == status
    assert complaint in answer.done.reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_probe_takes_its_launchers_with_it(kind: str) -> None:
    with started(*LAUNCHERS, f"launchers={kind}", *probe.clock_words()) as running:
        time.sleep(0.3)
        assert process_session(running.pid) == running.pid
        running.end()
        assert gone(running.pid)


def children(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError):  # where the kernel has it: launchers take all CPUs meanwhile
        return sorted(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    pids = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]) == pid:
                pids.append(int(entry))
    return sorted(pids)


def test_a_launcher_that_is_killed_ends_the_cell_with_a_reason() -> None:
    with started(*LAUNCHERS, "launchers=processes", *probe.clock_words()) as running:
        assert happens(lambda: len(children(running.pid)) >= 3)
        time.sleep(0.2)
        os.kill(children(running.pid)[0], signal.SIGKILL)
        answer = running.answer()
        assert running.process.wait() == 1
        assert gone(running.pid)
    assert b"a launcher process died" in answer
