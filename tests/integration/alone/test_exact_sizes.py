"""What idle tasks hold, to the page: the kernel adds up by CPU, which is exact where nobody else wants the CPUs."""

from __future__ import annotations

import os

import pytest
from tests import probe
from tests.integration.test_footprint import PAGE, QUICK, WORKLOADS, groups
from tests.probe import present

pytestmark = pytest.mark.real


def group_answer(workload: str, *words: str) -> probe.Answer:
    answer = probe.ask(f"workload={workload}", "accounting=cgroup", *words)
    if answer.done.status == "skipped":
        assert "control group" in answer.done.reason
        pytest.skip(answer.done.reason)
    return answer


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


def test_a_process_holds_more_than_a_thread() -> None:
    process, thread = (
        present(group_answer(workload, "tasks=100", *QUICK).blocks[0], "whole_each_bytes") for workload in WORKLOADS
    )
    assert process.min() > thread.max()
