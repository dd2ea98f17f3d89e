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

WORKLOADS = ["footprint.process", "footprint.thread"]
PAGE = resource.getpagesize()
QUICK = ("samples=2", "blocks=1", "warmup=1")


def groups() -> set[str]:
    """Control groups of ours whose probe has gone; those of other runs on this machine come and go."""
    # Not by a glob, which fails where a group ends while it is looked into.
    every = ((above, name) for above, names, _ in os.walk("/sys/fs/cgroup") for name in names)
    ours = [f"{above}/{name}" for above, name in every if name.startswith("clonometer.")]
    return {folder for folder in ours if not Path(f"/proc/{folder.rpartition('.')[2]}").exists()}


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
