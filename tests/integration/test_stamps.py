"""What a stamp costs the new task is the same for all that copy the parent's memory, so that they can be compared."""

from __future__ import annotations

import ctypes
import resource
from functools import cache
from typing import Any

import pytest
from tests import probe

pytestmark = pytest.mark.real

FEW, MANY = 5, 45
_ADDR_NO_RANDOMIZE = 0x0040000
ENTRIES: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in probe.catalogue()["workloads"]}
COPIES = [
    name
    for name in (
        "launch.fork",
        "launch.bare_fork",
        "launch.clone",
        "launch.clone3",
        "launch.clone3_pidfd",
        "launch.clone3_into_cgroup",
        "flags.none",
        "flags.files",
        "flags.fs",
        "flags.sysvsem",
        "namespaces.none",
        "namespaces.uts",
        "namespaces.user",
    )
    if ENTRIES[name]["available"]
]


def keep_places() -> None:
    """Take the same places for stack and areas in every process: another place may cost a page of each launch."""
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)


def faults_of_all(workload: str, stages: str, samples: int) -> int:
    """Page faults of a probe and of all its children, which this process is told when it has waited for the probe."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    words = [f"workload={workload}", f"stages={stages}", f"samples={samples}", "blocks=1", "warmup=1"]
    answer = probe.ask(*words, before=keep_places)
    assert answer.blocks[0].outcomes == {"ok": samples}
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before


@cache
def faults_each(workload: str, stages: str) -> float:
    """Page faults of one launch in parent and child; where places may not be kept one adds some to all of a process."""
    faults = [
        (faults_of_all(workload, stages, MANY) - faults_of_all(workload, stages, FEW)) / (MANY - FEW) for _ in range(3)
    ]
    return min(faults)


@pytest.mark.parametrize("workload", COPIES)
def test_the_stamp_of_a_child_that_copies_memory_faults_no_page_in(workload: str) -> None:
    assert faults_each(workload, "all") - faults_each(workload, "parent") < 0.5


@pytest.mark.parametrize("workload", ["flags.none", "flags.sysvsem", "namespaces.none"])
def test_rungs_and_namespaces_fault_as_a_bare_clone_does(workload: str) -> None:
    assert abs(faults_each(workload, "all") - faults_each("launch.clone", "all")) < 2.5


@pytest.mark.parametrize("workload", COPIES)
def test_what_is_written_by_the_child_arrives(workload: str) -> None:
    (block,) = probe.ask(f"workload={workload}", "samples=5", "blocks=1").blocks
    assert (block.columns["task_runs_ns"] > 0).all()
    assert (block.columns["task_runs_ns"] < block.columns["reaped_ns"]).all()
    assert (block.columns["cpu_child"] >= 0).all()


def test_a_call_that_waits_for_the_exec_says_so() -> None:
    """CLONE_VFORK, which the kernel confirms in test_flags, makes the parent wait."""
    waits = {name for name, entry in ENTRIES.items() if "CLONE_VFORK" in entry["clone_flags_contain"]}
    assert waits >= {"launch.vfork", "launch.vfork_exec", "launch.posix_spawn"}
    assert waits == {name for name, entry in ENTRIES.items() if entry["call_returns_contains"] == "child_life"}
    wakes = {name for name, entry in ENTRIES.items() if entry["family"] == "wake"}
    assert wakes == {name for name, entry in ENTRIES.items() if entry["call_returns_contains"] == "answer"}
