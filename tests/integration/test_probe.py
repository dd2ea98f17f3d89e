"""Real launches: facts that must hold on every machine, none of them a time.

What every driver must do is in test_conformance.py.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, as_nobody, gone, sleepers, started
from tests.probe import present

pytestmark = pytest.mark.real


def test_exec_comes_between_the_childs_first_code_and_its_end() -> None:
    (block,) = probe.ask("workload=launch.fork_exec", "samples=20", "blocks=1").blocks
    assert (block.columns["task_runs_ns"] < block.columns["image_runs_ns"]).all()
    assert (block.columns["image_runs_ns"] < block.columns["reaped_ns"]).all()


@pytest.mark.parametrize(("pages", "rewrites"), [("rewritten", True), ("clean", False)])
def test_rewritten_pages_fault_again_after_each_fork(pages: str, rewrites: bool) -> None:
    size, rows = 8 << 20, 4
    (block,) = probe.ask(
        "workload=launch.fork",
        f"parent_bytes={size}",
        f"pages={pages}",
        f"samples={rows}",
        "blocks=1",
        "warmup=1",
    ).blocks
    faults_each = block.facts["minor_faults"] / rows
    page_count = size // resource.getpagesize()
    assert (faults_each >= page_count * 0.99) == rewrites
    assert rewrites or faults_each < page_count / 2


def test_first_pages_are_written_anew_before_each_fork() -> None:
    size = 4 << 20
    (block,) = probe.ask(
        "workload=launch.fork", f"parent_bytes={size}", "pages=first", "samples=3", "blocks=1", "warmup=1"
    ).blocks
    assert block.facts["minor_faults"] >= 3 * size // resource.getpagesize()


def test_launches_write_to_one_page_of_stack_wherever_chance_puts_it() -> None:
    # A second page was a fault more of each fork, in one process of fourteen.
    request = ("workload=launch.fork", "samples=40", "blocks=1", "warmup=3", "stages=parent")
    blocks = [probe.ask(*request).blocks[-1] for _ in range(40)]
    assert len({round(block.facts["minor_faults"] / 40) for block in blocks}) == 1


def test_a_child_that_needs_no_file_of_samples_inherits_none() -> None:
    fork, thread = (
        probe.ask(f"workload=launch.{kind}", "samples=1", "blocks=1", "stages=parent").blocks[0].facts["open_files"]
        for kind in ("fork", "pthread")
    )
    assert fork == thread - 1


def test_the_parents_memory_is_resident_and_its_page_tables_grow_with_it() -> None:
    size = 64 << 20
    small, large = (
        probe.ask("workload=launch.pthread", f"parent_bytes={n}", "samples=1", "blocks=1").blocks[0] for n in (0, size)
    )
    # The kernel counts by CPU and adds up now and then: exact to some pages. So are the tables, since what lies beside
    # the memory gets another place each time.
    assert large.facts["rss_bytes"] - small.facts["rss_bytes"] >= size * 0.98
    grown = large.facts["vm_pte_bytes"] - small.facts["vm_pte_bytes"]
    assert grown >= size // resource.getpagesize() * 8 * 0.8


def test_more_memory_than_the_machine_has_is_refused_with_the_numbers() -> None:
    answer = probe.ask("workload=launch.fork", f"parent_bytes={1 << 50}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "needs 1 PiB of memory" in answer.done.reason
    assert "leaves" in answer.done.reason


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["workload=launch.fork", "program=x"], "no axis 'program'"),
        (["workload=launch.fork", "pages=dirty"], "no value 'dirty'"),
    ],
)
def test_an_axis_or_a_value_that_a_workload_lacks_fails_and_is_named(words: list[str], complaint: str) -> None:
    answer = probe.ask(*words)
    assert (answer.done.status, answer.exit_status) == ("failed", 1)
    assert complaint in answer.done.reason


@pytest.mark.parametrize("workload", ["launch.fork_exec", "launch.vfork_exec", "launch.posix_spawn"])
def test_a_program_that_does_not_exist_is_said_before_measuring(workload: str) -> None:
    answer = probe.ask(f"workload={workload}", "program=/nowhere/program")
    assert answer.done.status == "skipped"
    assert "/nowhere/program" in answer.done.reason


@pytest.mark.parametrize("workload", ["launch.fork_exec", "launch.vfork_exec", "launch.posix_spawn"])
def test_a_program_that_cannot_be_run_is_counted_with_its_errno(workload: str, tmp_path: Path) -> None:
    program = tmp_path / "rubbish"
    program.write_bytes(b"\x00no program at all\x00")
    program.chmod(0o755)
    (block,) = probe.ask(f"workload={workload}", f"program={program}", "samples=4", "blocks=1").blocks
    assert {name: n for name, n in block.outcomes.items() if n} == {"ENOEXEC": 4}
    assert len(present(block, "reaped_ns")) == 0


def test_a_program_that_is_killed_is_a_failed_launch_whatever_status_others_end_with(tmp_path: Path) -> None:
    for ending, outcomes in (("kill -9 $$", {"ok": 0, "ECHILD": 3}), ("exit 3", {"ok": 3})):
        program = tmp_path / "ends"
        program.write_text(f"#!/bin/sh\n{ending}\n")
        program.chmod(0o755)
        (block,) = probe.ask("workload=launch.fork_exec", f"program={program}", "samples=3", "blocks=1").blocks
        assert block.outcomes == outcomes


def test_a_foreign_program_has_no_stamp_of_its_own() -> None:
    true = shutil.which("true")
    (block,) = probe.ask("workload=launch.posix_spawn", f"program={true}", "samples=3", "blocks=1").blocks
    assert len(present(block, "image_runs_ns")) == 0
    assert len(present(block, "reaped_ns")) == 3


@ROOT_ONLY
def test_tasks_that_are_not_allowed_are_counted_and_survived(public: Path) -> None:
    """As an ordinary user with no process to spare, every fork fails with EAGAIN."""
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)

    # One task of that user is the probe; a sleeper uses up the other.
    with sleepers(1):
        answer = probe.ask("workload=launch.fork", "samples=3", "blocks=1", program=program, before=as_nobody(2))
    assert answer.done.status == "ok"
    assert answer.blocks[0].outcomes == {"ok": 0, "EAGAIN": 3}


@pytest.mark.parametrize("linkage", ["static", "dynamic_lazy", "dynamic_now"])
def test_each_probe_is_linked_as_it_says(linkage: str) -> None:
    headers = subprocess.check_output(["readelf", "-ldh", probe.executable(linkage)], text=True)
    assert ("INTERP" in headers) == (linkage != "static")
    assert ("BIND_NOW" in headers or "Flags: NOW" in headers) == (linkage == "dynamic_now")
    assert ("EXEC (Executable file)" in headers) == (linkage == "static")
    assert probe.ask("workload=launch.fork", "samples=2", "blocks=1", linkage=linkage).done.linkage == linkage


def test_a_request_for_another_linkage_is_refused() -> None:
    answer = probe.ask("workload=launch.fork", "linkage=dynamic_now", linkage="static")
    assert answer.done.status == "failed"
    assert "dynamic_now" in answer.done.reason


def test_nothing_is_left_behind() -> None:
    with started("workload=launch.fork", "samples=50", "placement=free") as running:
        running.answer()
        running.process.wait()
        assert gone(running.pid)


def test_the_calibration_says_which_clock_and_why() -> None:
    calibrated = json.loads(subprocess.check_output([probe.executable(), "--calibrate"]))
    assert calibrated["clock"] in {"tsc", "monotonic"}
    assert calibrated["clock_hz"] >= 1_000_000
    assert calibrated["cost_ns"] > 0
    assert calibrated["reason"]
