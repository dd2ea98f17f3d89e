"""What idle tasks hold, for real: sizes that the kernel must report whatever the machine does besides."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, as_nobody, gone, happens, members, sleepers, started, threads
from tests.probe import present

pytestmark = pytest.mark.real
# What the kernel counts of memory it adds up by CPU: that is exact where nobody else wants the CPUs.
EXACT = pytest.mark.alone

WORKLOADS = ["footprint.process", "footprint.thread"]
PAGE = resource.getpagesize()
QUICK = ("samples=2", "blocks=1", "warmup=1")


def groups() -> set[str]:
    """Control groups of ours whose probe has gone; those of other runs on this machine come and go."""
    root = Path("/sys/fs/cgroup")
    folders = {str(folder) for folder in root.rglob("clonometer.*") if folder.is_dir()}
    return {name for name in folders if not Path(f"/proc/{name.rpartition('.')[2]}").exists()}


def group_answer(workload: str, *words: str) -> probe.Answer:
    answer = probe.ask(f"workload={workload}", "accounting=cgroup", *words)
    if answer.done.status == "skipped":
        assert "control group" in answer.done.reason
        pytest.skip(answer.done.reason)
    return answer


@EXACT
@pytest.mark.parametrize("workload", WORKLOADS)
def test_written_stacks_are_resident_and_private_to_each_task(workload: str) -> None:
    touched = 16 * PAGE
    plain, grown = (
        probe.ask(f"workload={workload}", "tasks=20", f"touched_bytes={size}", *QUICK).blocks[0]
        for size in (0, touched)
    )
    for name in ("resident_each_bytes", "private_each_bytes"):
        more = present(grown, name) - present(plain, name)
        # A frame at either end may share a page with it.
        assert (more >= touched - 2 * PAGE).all()
    # More of the program's own pages may be mapped, which it shares with all others.
    assert (present(grown, "private_each_bytes") <= present(plain, "private_each_bytes") + touched + 4 * PAGE).all()


@EXACT
def test_a_threads_address_space_is_its_stack_and_a_processes_is_its_own() -> None:
    stack = 1 << 20
    (threads,) = probe.ask("workload=footprint.thread", "tasks=30", f"stack_bytes={stack}", *QUICK).blocks
    each = present(threads, "virtual_each_bytes")
    assert (each >= stack).all()
    assert (each <= stack + 16 * PAGE).all()
    (processes,) = probe.ask("workload=footprint.process", "tasks=30", *QUICK).blocks
    resident = present(processes, "resident_each_bytes")
    assert (present(processes, "virtual_each_bytes") >= resident).all()
    assert (resident >= present(processes, "private_each_bytes")).all()


@EXACT
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_group_is_charged_for_the_tasks_and_removed(workload: str) -> None:
    before = groups()
    touched = 32 * PAGE
    blocks = [group_answer(workload, "tasks=100", f"touched_bytes={size}", *QUICK).blocks[0] for size in (0, touched)]
    assert groups() == before
    plain, grown = (present(block, "whole_each_bytes").min() for block in blocks)
    # Charges come in batches of 64 pages for each CPU.
    slack = 64 * PAGE * (os.cpu_count() or 1) / 100
    assert plain > 2 * PAGE
    assert abs((grown - plain) - touched) < slack + 8 * PAGE
    for block in blocks:
        parts = present(block, "kernel_each_bytes") + present(block, "user_each_bytes")
        assert (parts <= present(block, "whole_each_bytes") + slack + PAGE).all()
        assert (parts >= 0.7 * present(block, "whole_each_bytes")).all()


@EXACT
def test_a_process_holds_more_than_a_thread() -> None:
    process, thread = (
        present(group_answer(workload, "tasks=100", *QUICK).blocks[0], "whole_each_bytes") for workload in WORKLOADS
    )
    assert process.min() > thread.max()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_times_are_those_of_all_tasks_divided(workload: str) -> None:
    tasks = 50
    (block,) = probe.ask(f"workload={workload}", f"tasks={tasks}", *QUICK).blocks
    whole = (present(block, "create_each_ns") + present(block, "reap_each_ns")).sum() * tasks
    assert 0 < whole < block.facts["wall_ns"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("workload=footprint.process tasks=1000000", "leaves"),
        ("workload=footprint.thread tasks=1000000", "leaves"),
        ("workload=footprint.thread tasks=9999999999", "at most"),
        (
            "workload=footprint.thread tasks=10 stack_bytes=65536 touched_bytes=65536",
            "does not fit into a stack of 65536",
        ),
        (f"workload=footprint.process tasks=10 touched_bytes={1 << 40}", "does not fit"),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(words: str, complaint: str) -> None:
    answer = probe.ask(*words.split())
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert complaint in answer.done.reason or "max_map_count" in answer.done.reason


def test_no_tasks_at_all_are_a_mistake() -> None:
    answer = probe.ask("workload=footprint.thread", "tasks=0")
    assert (answer.done.status, answer.exit_status) == ("failed", 1)
    assert "tasks" in answer.done.reason


@ROOT_ONLY
@pytest.mark.parametrize("workload", WORKLOADS)
def test_tasks_that_are_not_allowed_are_counted_and_the_others_reaped(workload: str, public: Path) -> None:
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)

    # Sleepers of the same user take the places that the limit's check cannot know of.
    with sleepers(5):
        words = (f"workload={workload}", "tasks=18", "samples=3", "blocks=1", "warmup=0")
        answer = probe.ask(*words, program=program, before=as_nobody(20))
    assert answer.done.status == "ok"
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 0, "EAGAIN": 3}
    assert len(present(block, "whole_each_bytes")) == len(present(block, "create_each_ns")) == 0


@pytest.mark.parametrize("accounting", ["machine", "cgroup"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_nobody_and_no_group_outlives_the_probe(workload: str, accounting: str) -> None:
    before = groups()
    words = [f"workload={workload}", f"accounting={accounting}", "tasks=200", "samples=1000", "blocks=1"]
    with started(*words) as running:
        assert happens(lambda: len(members(running.pid)) > 50 or threads(running.pid) > 50)
        running.end()
        assert gone(running.pid)
    assert happens(lambda: groups() <= before)


def test_sizes_are_bytes_and_may_be_below_zero_where_the_machine_is_read() -> None:
    quantities = probe.catalogue()["quantities"]
    sizes = {name for name in quantities if name.endswith("_each_bytes")}
    assert len(sizes) == 9
    assert {quantities[name]["unit"] for name in sizes} == {"bytes"}
    (block,) = probe.ask("workload=footprint.thread", "tasks=10", *QUICK).blocks
    assert all(np.isfinite(present(block, name)).all() for name in sizes)
