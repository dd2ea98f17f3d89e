"""The conditions of a thread, by what they leave in counts: no test asserts a time."""

from __future__ import annotations

import resource

import pytest
from tests import probe
from tests.probe import present

from clonometer.answers import Block

pytestmark = pytest.mark.real

UNAVAILABLE = {
    f"{axis}={value}": why
    for axis, described in probe.catalogue()["axes"].items()
    for value, why in described.get("unavailable", {}).items()
}
LINKAGES = [name for name in ("static", "dynamic_now", "musl") if probe.executable(name).exists()]


def blocks(*words: str, linkage: str = "static") -> list[Block]:
    common = ("workload=launch.pthread", "samples=40", "blocks=2", "warmup=3")
    answer = probe.ask(*common, *words, linkage=linkage)
    assert (answer.done.status, answer.stderr) == ("ok", "")
    assert all(block.outcomes == {"ok": 40} for block in answer.blocks)
    return answer.blocks


def faults_each(*words: str, linkage: str = "static") -> float:
    """Page faults of a launch, by the block that has the fewest."""
    return min(block.facts["minor_faults"] / block.rows for block in blocks(*words, linkage=linkage))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("ending", ["return", "pthread_exit"])
def test_a_detached_thread_is_not_reaped(linkage: str, ending: str) -> None:
    for block in blocks("detached=yes", f"thread_ending={ending}", linkage=linkage):
        assert len(present(block, "reaped_ns")) == len(present(block, "cpu_after")) == 0
        assert (present(block, "task_runs_ns") > 0).all()
        assert len(present(block, "task_runs_ns")) == block.rows


def test_detached_threads_do_not_pile_up() -> None:
    assert {block.facts["threads"] for block in blocks("detached=yes", "child_spin_ns=100000")} == {1}


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("kind", ["library", "user_4k", "user_huge"])
def test_a_cold_stack_faults_and_a_warm_one_does_not(linkage: str, kind: str) -> None:
    if f"stack_kind={kind}" in UNAVAILABLE:
        pytest.skip(UNAVAILABLE[f"stack_kind={kind}"])
    assert faults_each(f"stack_kind={kind}", "stack_cache=cold", linkage=linkage) >= 1
    if (linkage, kind) != ("musl", "library"):  # musl keeps no stacks
        assert faults_each(f"stack_kind={kind}", "stack_cache=warm", linkage=linkage) < 1


def test_stacks_of_ours_consist_of_the_pages_that_were_asked_for() -> None:
    if "stack_kind=user_huge" in UNAVAILABLE:
        pytest.skip(UNAVAILABLE["stack_kind=user_huge"])
    size = 4 << 20
    small, huge = (blocks(f"stack_kind={kind}", f"stack_bytes={size}")[1] for kind in ("user_4k", "user_huge"))
    assert huge.facts["anon_huge_bytes"] - small.facts["anon_huge_bytes"] == size


def test_no_guard_is_one_area_less() -> None:
    size = "stack_bytes=1048576"
    guarded, bare = (blocks(f"guard={guard}", size)[1].facts["vmas"] for guard in ("library", "none"))
    assert guarded - bare == 1


def test_a_stack_that_is_too_small_is_refused_with_the_least() -> None:
    answer = probe.ask("workload=launch.pthread", "stack_bytes=1")
    assert answer.done.status == "skipped"
    assert "at least" in answer.done.reason


@pytest.mark.parametrize("kind", ["library", "user_4k"])
def test_a_stack_beyond_a_limit_is_refused_with_the_limit(kind: str) -> None:
    limit = 1 << 30
    answer = probe.ask(
        "workload=launch.pthread",
        f"stack_bytes={4 * limit}",
        f"stack_kind={kind}",
        before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "RLIMIT_AS" in answer.done.reason


def test_a_stack_that_no_process_has_room_for_is_refused() -> None:
    answer = probe.ask("workload=launch.pthread", f"stack_bytes={1 << 55}")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert str(1 << 55) in answer.done.reason
