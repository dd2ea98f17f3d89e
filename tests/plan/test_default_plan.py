from __future__ import annotations

import pytest

from clonometer.plan.adhoc import estimated_seconds
from clonometer.plan.planfile import load_plan


@pytest.fixture(scope="module")
def plan(catalogue):
    return load_plan("default", catalogue)


def texts(plan):
    return {cell.text for cell in plan.cells}


@pytest.mark.parametrize(
    "workload", ["launch.fork", "launch.vfork", "launch.pthread", "launch.posix_spawn", "launch.fork_exec"]
)
def test_mechanisms_are_cold_and_warm_pinned_and_free(plan, workload):
    for temperature in ("cold", "warm"):
        assert f"{workload}[temperature={temperature}]" in texts(plan)
        assert f"{workload}[placement=free,temperature={temperature}]" in texts(plan)


@pytest.mark.parametrize("workload", ["launch.fork", "launch.pthread"])
@pytest.mark.parametrize("size", ["2MiB", "64MiB", "1GiB"])
def test_memory_is_varied_for_process_and_thread(plan, workload, size):
    assert f"{workload}[parent_bytes={size},temperature=warm]" in texts(plan)
    assert f"{workload}[parent_bytes={size},temperature=cold]" in texts(plan)


def test_pages_linkage_and_the_floor_are_there(plan):
    assert {
        "launch.fork[pages=first,parent_bytes=64MiB,temperature=warm]",
        "launch.fork[pages=clean,parent_bytes=64MiB,temperature=warm]",
        "launch.fork[linkage=dynamic_lazy,temperature=warm]",
        "launch.none",
        "launch.stamp[temperature=warm]",
        "clock.used",
    } <= texts(plan)


def test_many_short_processes_of_everything_are_aimed_for_in_a_minute(plan):
    assert plan.budget_seconds == 60
    assert all(target.limits.blocks == 1 for target in plan.targets)
    # What is counted does not vary, and what explains a figure needs no narrow interval.
    measured = [target for target in plan.targets if not target.workload.startswith("program.")]
    dear = [target for target in measured if target.condition.get("parent_bytes") == 1 << 30]
    assert all(target.limits.processes >= 24 for target in measured if target not in dear)
    assert [(target.limits.processes, target.limits.most_processes) for target in dear] == [(6, 6), (6, 6)]
    assert sum(target.limits.processes for target in plan.targets if target not in measured) <= 7


def test_a_new_program_is_measured_without_its_library_and_its_start_is_counted(plan):
    assert {
        "launch.posix_spawn[program=target_nolibc,temperature=warm]",
        "program.steps",
        "program.cpuid",
    } <= texts(plan)


def test_the_guessed_cost_is_near_the_budget(plan):
    # The guess takes every launch for a fork that rewrites its pages, and has a margin.
    assert estimated_seconds(plan.targets) < 2 * plan.budget_seconds


def test_dear_targets_have_short_blocks(plan):
    for target in plan.targets:
        if target.condition.get("parent_bytes", 0) >= 64 << 20:
            assert target.limits.warmup <= 2
            assert target.limits.blocks <= 2
            assert 0 < target.limits.block_limit_ns <= 100_000_000
