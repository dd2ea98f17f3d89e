from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.host.facts import collect
from clonometer.host.limits import available_memory_bytes, task_limit
from clonometer.host.line import host_line

GIB = 1 << 30


@pytest.mark.parametrize(
    ("facts", "room", "name"),
    [
        ({"memory.available_bytes": 8 * GIB}, 8 * GIB, "MemAvailable"),
        (
            {
                "memory.available_bytes": 8 * GIB,
                "cgroup.memory_max_bytes": 4 * GIB,
                "cgroup.memory_used_bytes": GIB,
            },
            3 * GIB,
            "memory limit of the control group",
        ),
        (
            {
                "memory.available_bytes": 2 * GIB,
                "cgroup.memory_max_bytes": 4 * GIB,
                "cgroup.memory_used_bytes": None,
            },
            2 * GIB,
            "MemAvailable",
        ),
        (
            {"cgroup.memory_max_bytes": GIB, "cgroup.memory_used_bytes": 2 * GIB},
            0,
            "memory limit of the control group",
        ),
        ({"memory.available_bytes": 8 * GIB, "limit.as_bytes": GIB}, GIB, "RLIMIT_AS"),
    ],
)
def test_the_memory_that_may_be_taken(facts, room, name):
    bounded = available_memory_bytes(facts)
    assert (bounded.room, bounded.name) == (room, name)


def test_memory_of_which_nothing_is_known():
    assert available_memory_bytes({"memory.available_bytes": None}) is None


TASKS = {
    "limit.nproc": 1000,
    "cgroup.pids_max": 2000,
    "cgroup.pids_used": 100,
    "kernel.pid_max": 32768,
    "kernel.threads_max": 60000,
    "load.tasks": 400,
    "namespace.user": False,
}


@pytest.mark.parametrize(
    ("changes", "room", "limit", "name"),
    [
        ({}, 1000, 1000, "RLIMIT_NPROC"),
        ({"user.root": True}, 1900, 2000, "pids limit of the control group"),
        ({"user.capabilities": ["sys_resource"]}, 1900, 2000, "pids limit of the control group"),
        ({"user.capabilities": ["chown"]}, 1000, 1000, "RLIMIT_NPROC"),
        ({"user.root": True, "namespace.user": True}, 1000, 1000, "RLIMIT_NPROC"),
        ({"user.root": True, "cgroup.pids_max": None}, 32368, 32768, "kernel.pid_max"),
        ({"limit.nproc": None, "cgroup.pids_max": None}, 32368, 32768, "kernel.pid_max"),
        ({"kernel.threads_max": 500}, 100, 500, "kernel.threads-max"),
        ({"cgroup.pids_used": 1999}, 1, 2000, "pids limit of the control group"),
    ],
)
def test_the_tasks_that_may_be_started(changes, room, limit, name):
    bounded = task_limit(TASKS | changes)
    assert (bounded.room, bounded.limit, bounded.name) == (room, limit, name)


def test_without_facts_the_kernels_own_limit_binds():
    assert task_limit({}).room == 4 * 1024 * 1024


@given(st.dictionaries(st.sampled_from(sorted(TASKS)), st.none() | st.integers(0, 1 << 40)))
def test_room_is_never_negative_and_never_above_the_limit(facts):
    bounded = task_limit(facts)
    assert 0 <= bounded.room <= bounded.limit


def test_limits_of_a_whole_machine(laptop):
    facts = collect(laptop.root)
    assert task_limit(facts).name == "RLIMIT_NPROC"
    assert available_memory_bytes(facts).room == 8 << 20


@pytest.mark.parametrize(
    ("facts", "mhz", "line"),
    [
        (
            {"cpu.model": "AMD EPYC", "cpu.online": 8, "cpu.allowed": 2, "virt.hypervisor": "none"},
            2445.6,
            "AMD EPYC × 8 (2 allowed), no hypervisor, 2446 MHz",
        ),
        ({"virt.hypervisor": "unknown", "virt.container": "docker"}, None, "unknown hypervisor, in docker"),
        (
            {"virt.hypervisor": "Xen", "virt.container": "none", "mitigations.summary": "none"},
            None,
            "Xen guest, no mitigations",
        ),
        ({"cpu.arch": "aarch64", "cpu.model": None, "cpu.online": None}, None, "aarch64"),
        ({"thp.enabled": "always", "mitigations.summary": "KPTI"}, None, "THP always, KPTI"),
        ({}, None, ""),
    ],
)
def test_the_machine_in_one_line(facts, mhz, line):
    assert host_line(facts, mhz) == line
