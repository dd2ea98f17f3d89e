"""Tear-down and copying, for real: what must hold however long they take."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, as_nobody, at_work, gone, sleepers, started
from tests.probe import present

pytestmark = pytest.mark.real

ENDS = ["teardown.exit", "teardown.kill"]
LARGE = 64 << 20


@pytest.mark.parametrize("workload", ENDS)
def test_a_child_with_memory_takes_longer_to_end(workload: str) -> None:
    small, large = (
        probe.ask(f"workload={workload}", f"child_bytes={size}", "samples=5", "blocks=1", "warmup=1").blocks[0]
        for size in (0, LARGE)
    )
    # Thousands of pages are given back: twice is far less than that costs anywhere.
    assert large.columns["teardown_ns"].min() > 2 * small.columns["teardown_ns"].min()
    # The parent itself did not grow: the memory is the child's.
    assert large.facts["rss_bytes"] < LARGE


@pytest.mark.parametrize("workload", ENDS)
def test_the_child_is_seen_on_its_cpu(workload: str) -> None:
    (block,) = probe.ask(f"workload={workload}", "samples=5", "blocks=1").blocks
    for column in ("cpu_before", "cpu_after", "cpu_child"):
        assert set(present(block, column)) == {max(os.sched_getaffinity(0))}


@pytest.mark.parametrize("workload", ENDS)
def test_more_memory_than_there_is_is_refused(workload: str) -> None:
    answer = probe.ask(f"workload={workload}", f"child_bytes={1 << 50}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "leaves" in answer.done.reason


@pytest.mark.parametrize("zombies", [1, 7, 300])
def test_each_zombie_takes_its_part_of_all(zombies: int) -> None:
    (block,) = probe.ask("workload=teardown.zombies", f"zombies={zombies}", "samples=3", "blocks=1", "warmup=0").blocks
    each, whole = block.columns["reap_each_ns"], block.columns["reap_all_ns"]
    assert np.allclose(each * zombies, whole, rtol=1e-9)


def test_more_zombies_take_longer() -> None:
    few, many = (
        probe.ask("workload=teardown.zombies", f"zombies={count}", "samples=4", "blocks=1", "warmup=1").blocks[0]
        for count in (5, 500)
    )
    assert many.columns["reap_all_ns"].min() > few.columns["reap_all_ns"].min()


def test_more_zombies_than_there_are_numbers_are_refused() -> None:
    numbers = int(Path("/proc/sys/kernel/pid_max").read_text())
    answer = probe.ask("workload=teardown.zombies", f"zombies={numbers}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert str(numbers + 1) in answer.done.reason


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("workload=teardown.zombies zombies=0", "at least 1"),
        ("workload=memcpy.private copy_bytes=0", "nothing to copy"),
    ],
)
def test_nothing_is_not_measured(word: str, complaint: str) -> None:
    answer = probe.ask(*word.split())
    assert (answer.done.status, answer.exit_status) == ("skipped", 0)
    assert complaint in answer.done.reason


@ROOT_ONLY
def test_children_that_are_not_allowed_are_counted_and_the_others_reaped(public: Path) -> None:
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)

    # A sleeper of the same user takes the place that the limit's check cannot know of.
    with sleepers(1):
        words = ("workload=teardown.zombies", "zombies=19", "samples=3", "blocks=1", "warmup=0")
        answer = probe.ask(*words, program=program, before=as_nobody(20))
    assert answer.done.status == "ok"
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 0, "EAGAIN": 3}
    assert len(present(block, "reap_all_ns")) == len(present(block, "reap_each_ns")) == 0


def test_a_sleeping_child_does_not_outlive_the_probe() -> None:
    with started("workload=teardown.kill", f"child_bytes={4 << 20}", "samples=1000000", "blocks=1") as running:
        assert at_work(running.pid)
        running.end()
        assert gone(running.pid)


def test_a_larger_copy_takes_longer_and_its_memory_is_written_before() -> None:
    sizes = (64 << 10, 16 << 20)
    small, large = (
        probe.ask("workload=memcpy.private", f"copy_bytes={size}", "samples=5", "blocks=1", "warmup=1").blocks[0]
        for size in sizes
    )
    assert large.columns["copy_ns"].min() > small.columns["copy_ns"].min()
    # The kernel counts resident pages in batches on each CPU, so that the fact is a little off.
    assert large.facts["rss_bytes"] - small.facts["rss_bytes"] >= 2 * (sizes[1] - sizes[0]) * 0.95
    assert large.facts["minor_faults"] < 16


def test_a_copy_beyond_the_machine_is_refused() -> None:
    answer = probe.ask("workload=memcpy.private", f"copy_bytes={1 << 50}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "leaves" in answer.done.reason
