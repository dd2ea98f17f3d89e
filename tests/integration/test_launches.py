"""Every mechanism and condition of a launch, by what it leaves in counts: no test asserts a time."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import at_work, command_lines, happens, started
from tests.probe import present

pytestmark = pytest.mark.real

CATALOGUE = {entry["id"]: entry for entry in probe.catalogue()["workloads"]}
HERE = {name: entry for name, entry in CATALOGUE.items() if entry["available"]}
COLD = [name for name, entry in HERE.items() if "launch_number" in entry["axes"]]
GIVING = [name for name, entry in HERE.items() if name.startswith("launch.") and "env_bytes" in entry["axes"]]
ENDING = [name for name, entry in HERE.items() if "process_ending" in entry["axes"]]


def own_group() -> Path | None:
    """The directory of our group in the version 2 hierarchy."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            mount = before.split()[4]
            paths = Path("/proc/self/cgroup").read_text().splitlines()
            return Path(mount + next(path[3:] for path in paths if path.startswith("0::")))
    return None


def groups_of(pid: int) -> list[str]:
    """Groups that a probe made: their names end in its number."""
    group = own_group()
    return [] if group is None else [name for name in os.listdir(group) if name == f"clonometer.{pid}"]


def has_remover(group: str) -> bool:
    """Whether a group's remover is there, in a session of its own: who kills the probe's then does not reach it."""
    return any(f"\0--remove-when-gone\0{Path(own_group(), group)}\0".encode() in line for line in command_lines())


def groups_left() -> list[str]:
    """Groups of probes that have gone; those of other runs on this machine come and go."""
    group = own_group()
    left = [] if group is None else [name for name in os.listdir(group) if name.startswith("clonometer.")]
    return [name for name in left if not Path(f"/proc/{name.rpartition('.')[2]}").exists()]


@pytest.mark.parametrize("workload", COLD)
def test_a_cold_sample_may_follow_other_launches(workload: str) -> None:
    answer = probe.ask(f"workload={workload}", "temperatures=cold", "launch_number=4", "after=pthread")
    assert answer.done.status == "ok"
    (block,) = answer.blocks
    assert (block.rows, block.temperature, block.outcomes) == (1, "cold", {"ok": 1})
    assert len(present(block, "reaped_ns")) == 1


def test_earlier_launches_really_happen(tmp_path: Path) -> None:
    """A program that leaves a mark counts them: four of its own, and a thread that leaves none."""
    marks = tmp_path / "marks"
    program = tmp_path / "mark"
    program.write_text(f"#!/bin/sh\necho mark >> {marks}\n")
    program.chmod(0o755)
    words = [f"program={program}", "temperatures=cold", "launch_number=4", "after=pthread"]
    answer = probe.ask("workload=launch.posix_spawn", *words)
    assert answer.done.status == "ok"
    assert marks.read_text().count("mark") == 4


def handed(tmp_path: Path, workload: str, *words: str) -> tuple[bytes, bytes]:
    """The arguments and the variables of one launch, each string with the zero at its end."""
    kept = tmp_path / "arguments", tmp_path / "variables"
    script = f"cat /proc/$$/cmdline > {kept[0]}; cat /proc/$$/environ > {kept[1]}; true"
    answer = probe.ask(
        f"workload={workload}", f"program=/bin/sh:-c:{script}", "temperatures=cold", "blocks=1", "samples=1", *words
    )
    assert answer.done.status == "ok", answer.done.reason
    return kept[0].read_bytes(), kept[1].read_bytes()


@pytest.mark.parametrize("workload", GIVING)
def test_a_program_is_given_arguments_and_variables_of_the_size_that_is_asked_for(
    workload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLONOMETER_PAD", "x" * 5_000)
    monkeypatch.setenv("KEPT", "as it is")
    words, inherited = handed(tmp_path, workload)
    assert b"CLONOMETER_PAD=" in inherited
    for size in (len(inherited) - 4_000, 37_501, 150_000):
        arguments, variables = handed(tmp_path, workload, f"env_bytes={size}", f"arg_bytes={size}")
        assert (len(arguments), len(variables)) == (size, size)
        assert arguments.startswith(words)
        names = [variable.partition(b"=")[0] for variable in variables.split(b"\0")[:-1]]
        assert len(set(names)) == len(names) >= size // 300
        assert b"\0KEPT=as it is\0" in b"\0" + variables
        assert b"CLONOMETER_PAD" not in names
    arguments, variables = handed(tmp_path, workload, "env_bytes=6000")
    assert (arguments, len(variables)) == (words, 6_000)


@pytest.mark.parametrize("workload", GIVING)
@pytest.mark.parametrize(("words", "reason"), [("env_bytes=1", "at least"), ("arg_bytes=1", "at least"),
                                               (f"env_bytes={1 << 62}", "exec takes")])  # fmt: skip
def test_arguments_and_variables_of_an_impossible_size_are_refused(workload: str, words: str, reason: str) -> None:
    answer = probe.ask(f"workload={workload}", words)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert reason in answer.done.reason


def test_a_cold_condition_without_a_cold_sample_is_skipped() -> None:
    answer = probe.ask("workload=launch.fork", "temperatures=warm", "launch_number=2")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "cold" in answer.done.reason


def test_there_is_no_launch_before_the_first() -> None:
    answer = probe.ask("workload=launch.fork", "temperatures=cold", "launch_number=0")
    assert answer.done.status == "failed"
    assert "from 1" in answer.done.reason


@pytest.mark.parametrize("workload", ENDING)
def test_a_child_may_end_by_exit(workload: str) -> None:
    (block,) = probe.ask(f"workload={workload}", "process_ending=exit", "samples=5", "blocks=1").blocks
    assert block.outcomes == {"ok": 5}


@pytest.mark.skipif(not CATALOGUE["launch.clone3_into_cgroup"]["available"], reason="no cgroup can be made here")
def test_no_cgroup_remains() -> None:
    answer = probe.ask("workload=launch.clone3_into_cgroup", "samples=5", "blocks=1")
    assert (answer.done.status, answer.stderr) == ("ok", "")
    assert groups_left() == []


@pytest.mark.skipif(not CATALOGUE["launch.clone3_into_cgroup"]["available"], reason="no cgroup can be made here")
def test_no_cgroup_remains_after_a_killed_probe() -> None:
    with started("workload=launch.clone3_into_cgroup", "samples=1000000") as running:
        # A group without a remover yet is the runner's to remove.
        assert happens(lambda: any(map(has_remover, groups_of(running.pid))))
        assert at_work(running.pid)
        os.killpg(running.pid, signal.SIGKILL)
        running.answer()
    assert happens(lambda: not groups_of(running.pid))


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="pages are counted in /proc")
def test_what_preparing_needed_of_the_stack_is_not_copied_by_forks() -> None:
    """Preparing calls deep, and what it left below the call that forks would be in every fork.

    What lies above, environment and arguments and all that is called just now, is as it is; so no count of the whole
    stack says anything. A launch itself keeps two pages below (measure.c).
    """
    with started("workload=launch.fork", "parent_bytes=4096", "samples=1000000") as running:
        assert at_work(running.pid)
        assert happens(lambda: (below := _pages_below_the_call(running.pid)) is not None and below <= 2, seconds=5), (
            _pages_below_the_call(running.pid)
        )
        os.killpg(running.pid, signal.SIGKILL)
        running.answer()


def _pages_below_the_call(pid: int) -> int | None:
    """How many pages a process has of its stack below what its system call needs; None where it is in none now."""
    page = resource.getpagesize()
    # The call's number, its six arguments, the stack's pointer, the instruction's.
    call = Path(f"/proc/{pid}/syscall").read_text().split()
    if len(call) != 9:
        return None
    area = next(line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith("[stack]"))
    first, pages = int(area.split("-")[0], 16) // page, int(call[-2], 16) // page
    with Path(f"/proc/{pid}/pagemap").open("rb") as file:
        file.seek(first * 8)
        entries = np.frombuffer(file.read((pages - first) * 8), np.uint64)
    # In memory, or swapped out.
    return int(np.count_nonzero(entries >> np.uint64(62)))
