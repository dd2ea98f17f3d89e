"""The parent's condition: each value of each axis is built and seen in the kernel's own counts, or said to lack."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import stat
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests import probe
from tests.integration.started import happens

from tools import huge_pages

pytestmark = pytest.mark.real

MIB = 1 << 20
PAGE = resource.getpagesize()
WORKLOADS = ["launch.fork", "launch.pthread"]
AXES: Mapping[str, Any] = probe.catalogue()["axes"]
KINDS = AXES["page_kind"]["values"]
# What makes a value mean something: a kind of VMA is nothing without VMAs.
NEEDS = {
    "page_kind": f"parent_bytes={4 * MIB}",
    "pages": f"parent_bytes={4 * MIB}",
    "vma_kind": "vmas=50",
    "idle_ns": "caches=idle",
    "thrash_bytes": "caches=thrashed",
    "thrash_cpu": "caches=thrashed",
    "file_kind": "open_files=50",
    "thread_state": "parent_threads=2",
    "close_files": "nofile=256",
    "launchers": "concurrency=2",
}
SIZES = {
    "parent_bytes": 4 * MIB,
    "vmas": 200,
    "idle_ns": 2_000_000,
    "thrash_bytes": MIB,
    "open_files": 200,
    "parent_threads": 8,
    "fork_handlers": 50,
    "reap_after_ns": 1_000_000,
    "nofile": 512,
    "concurrency": 3,
}
# Some stand in both.
CONDITIONS = list(dict.fromkeys([*NEEDS, *SIZES, "caches", "mlockall", "sched_class"]))


@pytest.fixture(scope="module", autouse=True)
def some_huge_pages() -> Iterator[None]:
    """Some reserved huge pages where that is permitted; elsewhere their tests are skipped with the kernel's reason."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(huge_pages.NotReservedError):
            stack.enter_context(huge_pages.reserved())
        yield


def has_axis(workload: str, axis: str) -> bool:
    return next(axis in entry["axes"] for entry in probe.catalogue()["workloads"] if entry["id"] == workload)


def values() -> list[tuple[str, str, str]]:
    read = []
    for workload in WORKLOADS:
        for axis in CONDITIONS:
            if has_axis(workload, axis):
                read += [(workload, axis, str(value)) for value in AXES[axis].get("values", [SIZES.get(axis)])]
    return read


# Words of reasons that are about the machine; any other refusal of a small condition is a fault.
LACKS = (
    "needs two CPUs",
    "RLIMIT",
    "sysctl",
    "MemAvailable",
    "cgroup",
    "huge pages are",
    "no CPU beside",
    "sched_setscheduler",
    "5.9",
)


def lacks(answer: probe.Answer) -> bool:
    """Whether the machine could not do it; fails where the reason is none of the machine's."""
    if answer.done.status != "skipped":
        return False
    assert answer.blocks == []
    assert any(word in (answer.done.reason or "") for word in LACKS), answer.done.reason
    return True


@functools.cache
def facts(*words: str) -> dict[str, int]:
    answer = probe.ask(*words, "samples=4", "blocks=1", "warmup=1")
    if lacks(answer):
        pytest.skip(answer.done.reason or "")
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": block.rows}
    return dict(block.facts)


def grown(workload: str, fact: str, *words: str) -> int:
    return facts(f"workload={workload}", *words)[fact] - facts(f"workload={workload}")[fact]


@pytest.mark.parametrize(("workload", "axis", "value"), values())
def test_each_value_is_measured_or_lacks_with_a_reason(workload: str, axis: str, value: str) -> None:
    answer = probe.ask(
        f"workload={workload}", f"{axis}={value}", *filter(None, [NEEDS.get(axis)]), "samples=3", "blocks=1"
    )
    if lacks(answer):
        return
    # As it is now: huge pages are reserved since the catalogue was first read.
    assert value not in probe.catalogue.__wrapped__()["axes"][axis].get("unavailable", {})
    assert (answer.done.status, answer.exit_status, answer.stderr) == ("ok", 0, "")
    if axis == "mlockall" and os.geteuid() != 0 and answer.blocks[0].outcomes.get("EAGAIN") == answer.blocks[0].rows:
        pytest.skip("a thread's stack is more than an ordinary user may lock here; raise it with ulimit -l")
    assert answer.blocks[0].outcomes == {"ok": answer.blocks[0].rows}


def test_fork_handlers_are_registered() -> None:
    """Each has three addresses to keep."""
    assert grown("launch.fork", "anon_bytes", "fork_handlers=100000") >= 3 * 8 * 100_000


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_parent_sleeps_between_its_call_and_its_wait(workload: str) -> None:
    answer = probe.ask(f"workload={workload}", "reap_after_ns=3000000", "samples=5", "blocks=1")
    columns = answer.blocks[0].columns
    assert min(columns["reaped_ns"] - columns["call_returns_ns"]) >= 3_000_000


@pytest.mark.parametrize("pages", ["rewritten", "first", "clean"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_memory_is_of_the_kind_that_was_asked_for(workload: str, kind: str, pages: str) -> None:
    size = 16 * MIB
    words = (f"parent_bytes={size}", f"page_kind={kind}", f"pages={pages}")
    resident = grown(workload, "rss_bytes", *words)
    expected = {"untouched": 0, "hugetlb": 0, "sparse": size // (2 * MIB) * PAGE}.get(kind, size)
    assert expected <= resident + 64 * PAGE
    assert resident < expected + MIB
    assert grown(workload, "anon_huge_bytes", *words) == (size if kind == "thp" else 0)
    assert grown(workload, "hugetlb_bytes", *words) == (size if kind == "hugetlb" else 0)
    entries = grown(workload, "vm_pte_bytes", *words)
    # A page of entries for each 2 MiB, but where nothing was touched. Huge pages have theirs deposited, unless
    # they are reserved ones.
    # Where the kernel puts the other areas takes a page of entries more or two less, each time anew.
    assert (entries >= size // PAGE * 8 // 2) == (kind not in ("untouched", "hugetlb"))
    assert grown(workload, "vmas", *words) in (1, 0)


def faults_each(*words: str) -> float:
    return facts("workload=launch.fork", *words)["minor_faults"] / 4


@pytest.mark.parametrize(
    ("kind", "faults"),
    [
        ("4k", 4 * MIB // PAGE),
        ("file_private", 4 * MIB // PAGE),
        ("file_private_read", 0),
        ("shared", 0),
        ("file_shared", 0),
        ("file_shared_read", 0),
        ("dontfork", 0),
        ("untouched", 0),
        ("thp", 2),
        ("sparse", 2),
    ],
)
def test_only_pages_that_a_fork_protects_fault_when_rewritten(kind: str, faults: int) -> None:
    each = faults_each(f"parent_bytes={4 * MIB}", f"page_kind={kind}", "pages=rewritten")
    bare = faults_each()
    # The stack's place is random: now and then a fork takes a fault more, with the memory or without it.
    assert faults * 0.99 - 8 <= each - bare <= faults + 8


@pytest.mark.parametrize(
    ("kind", "resident"),
    [
        ("untouched", 0),
        ("touched", 3000 * PAGE),
        ("dontfork", 3000 * PAGE),
        ("wipeonfork", 3000 * PAGE),
        ("file", 3000 * PAGE),
    ],
)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_memory_areas_are_counted_by_the_kernel(workload: str, kind: str, resident: int) -> None:
    words = ("vmas=3000", f"vma_kind={kind}")
    assert grown(workload, "vmas", *words) == 3000
    assert abs(grown(workload, "rss_bytes", *words) - resident) < MIB


@pytest.mark.parametrize("kind", ["dontfork", "wipeonfork", "file"])
def test_areas_whose_pages_children_do_not_get_are_passed_over(kind: str) -> None:
    """What a fork does not copy it does not protect either: nothing faults when they are written again."""
    assert faults_each("vmas=500", f"vma_kind={kind}") - faults_each() < 8


def test_the_parent_s_areas_with_anonymous_memory_are_counted() -> None:
    grown_areas = grown("launch.fork", "anon_areas", "vmas=500", "vma_kind=touched")
    assert grown_areas == 500
    assert grown("launch.fork", "anon_bytes", "vmas=500", "vma_kind=touched") == pytest.approx(500 * PAGE, abs=8 * PAGE)
    assert facts("workload=launch.fork", "vmas=2000")["anon_areas"] == -1


def test_touched_areas_are_rewritten_before_each_fork() -> None:
    each = faults_each("vmas=500", "vma_kind=touched")
    assert each - faults_each() >= 500 * 0.99
    assert faults_each("vmas=500", "vma_kind=touched", "pages=clean") - faults_each() < 300


def asked_of_cold(*words: str) -> probe.Answer:
    return probe.ask("workload=launch.fork", "samples=4", "blocks=1", "warmup=0", *words)


def test_an_idle_parent_sleeps_before_each_launch_and_not_in_it() -> None:
    (block,) = asked_of_cold("caches=idle", "idle_ns=30000000").blocks
    assert block.facts["wall_ns"] >= block.rows * 30_000_000
    # The launches lie one idling apart; none of it is in the interval.
    assert (block.columns["start_ns"][1:] - block.columns["start_ns"][:-1] >= 30_000_000).all()
    assert min(block.columns["reaped_ns"]) < 30_000_000


def test_the_task_that_walks_is_no_part_of_the_parent_and_sleeps_during_the_launch() -> None:
    hot = facts("workload=launch.fork")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(asked_of_cold, "caches=thrashed", f"thrash_bytes={32 * MIB}", "child_spin_ns=100000000")
        seen: list[tuple[int, str, int, str]] = []
        while not asked.done():
            seen += _walkers()
            time.sleep(0.01)
    (block,) = asked.result().blocks
    # Its whole memory is there while the launches are made, and it sleeps during most of their time; beside other
    # tests it may wait as long for its turn to walk.
    built = [(state, cpus) for _, state, resident, cpus in seen if resident >= 32 * MIB]
    assert [state for state, _ in built].count("S") > len(built) / 4
    assert {cpus for _, cpus in built} == {str(max(os.sched_getaffinity(0)))}
    for fact in ("vmas", "open_files"):
        assert block.facts[fact] == hot[fact]
    assert abs(block.facts["rss_bytes"] - hot["rss_bytes"]) < 32 * PAGE
    assert not [pid for pid, *_ in seen if _walks(Path("/proc", str(pid)))]


def _walkers() -> list[tuple[int, str, int, str]]:
    """Process, state, resident bytes and CPUs of the tasks that walk for probes of this process."""
    walkers = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if not _walks(folder):
                continue
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            if "VmRSS" in status and os.getpid() in _ancestors(int(status["PPid"])):
                resident = int(status["VmRSS"].split()[0]) * 1024
                cpus = status["Cpus_allowed_list"].strip()
                walkers.append((int(folder.name), status["State"].split()[0], resident, cpus))
    return walkers


def _walks(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return b"clonometer-walker" in (folder / "cmdline").read_bytes()
    return False


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_sixty_thousand_areas_where_the_kernel_allows_them() -> None:
    answer = probe.ask("workload=launch.fork", "vmas=60000", "samples=3", "blocks=1", "warmup=0")
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    if most < 60200:
        assert answer.done.status == "skipped"
        assert f"vm.max_map_count is {most}" in answer.done.reason
    else:
        assert answer.blocks[0].facts["vmas"] > 60000


def test_more_areas_than_allowed_are_refused_with_the_remedy() -> None:
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    answer = probe.ask("workload=launch.fork", f"vmas={most}")
    assert answer.done.status == "skipped"
    assert f"vm.max_map_count is {most}" in answer.done.reason
    assert "sysctl vm.max_map_count=" in answer.done.reason


@pytest.mark.parametrize("kind", ["same", "distinct"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_open_files_are_counted_by_the_kernel(workload: str, kind: str) -> None:
    assert grown(workload, "open_files", "open_files=800", f"file_kind={kind}") == 800


def test_more_files_than_allowed_are_refused_with_the_remedy() -> None:
    most = int(Path("/proc/sys/fs/nr_open").read_text())
    answer = probe.ask("workload=launch.fork", f"open_files={most}")
    assert answer.done.status == "skipped"
    assert f"fs.nr_open is {most}" in answer.done.reason


@pytest.mark.parametrize("state", ["idle", "busy"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_threads_are_counted_and_a_child_is_single_threaded(workload: str, state: str) -> None:
    words = ("parent_threads=5", f"thread_state={state}")
    assert grown(workload, "threads", *words) == 5


def test_busy_threads_compute_on_the_other_cpus() -> None:
    words = ("workload=launch.fork", "parent_threads=1", "child_spin_ns=20000000")
    idle = facts(*words, "thread_state=idle")

    def computes() -> bool:
        # While the child spins on the probe's CPU, only a busy thread can use CPU time of the probe.
        return facts.__wrapped__(*words, "thread_state=busy")["cpu_ns"] > idle["cpu_ns"] + 10_000_000

    # Others may have that CPU for a while.
    assert happens(computes)


def test_busy_threads_need_a_cpu_of_their_own() -> None:
    cpu = max(os.sched_getaffinity(0))
    answer = probe.ask(
        "workload=launch.fork",
        "parent_threads=1",
        "thread_state=busy",
        before=lambda: os.sched_setaffinity(0, {cpu}),
    )
    assert answer.done.status == "skipped"
    assert "no CPU beside" in answer.done.reason


def open_in_child(tmp_path: Path, *words: str) -> int:
    """How many descriptors a program finds open that is started by fork_exec."""
    seen = tmp_path / "seen"
    program = tmp_path / "count"
    program.write_text(f"#!/bin/sh\nexec ls /proc/self/fd > {seen}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    spare = os.open("/dev/null", os.O_RDONLY)
    answer = probe.ask(
        "workload=launch.fork_exec", f"program={program}", "samples=1", "blocks=1", *words, inherit=[spare]
    )
    os.close(spare)
    assert answer.done.status == "ok", answer.done.reason
    return len(seen.read_text().split())


@pytest.mark.parametrize("how", ["close", "close_range"])
def test_the_child_closes_all_but_the_stamps_descriptor(tmp_path: Path, how: str) -> None:
    # The spare one and the answer's are gone; 0, 1, 2, the stamps' and that of the listed folder remain.
    assert open_in_child(tmp_path) == 7
    assert open_in_child(tmp_path, f"close_files={how}", "nofile=256") == 5


@pytest.mark.parametrize("how", ["close", "close_range"])
def test_a_target_still_stamps_when_its_parent_closed_all_files(how: str) -> None:
    answer = probe.ask("workload=launch.fork_exec", f"close_files={how}", "nofile=256", "samples=5", "blocks=1")
    (block,) = answer.blocks
    assert (block.columns["image_runs_ns"] > block.columns["task_runs_ns"]).all()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nofile=10"], "nofile=10 leaves no room"),
        (["mlockall=yes", f"parent_bytes={MIB}", "page_kind=untouched"], "nothing stays untouched"),
        ([f"parent_bytes={MIB}", "page_kind=thp"], "is not a multiple"),
        (["caches=thrashed", "placement=free"], "one CPU, which placement=free does not name"),
        (["caches=thrashed", "concurrency=2"], "for one launcher"),
        (["caches=idle", "idle_ns=10000000001"], "at most 10000000000"),
        (["concurrency=2", "pages=first", f"parent_bytes={MIB}"], "launchers=processes"),
    ],
)
def test_what_makes_no_sense_together_is_refused(words: list[str], complaint: str) -> None:
    if "page_kind=thp" in words and "thp" in AXES["page_kind"].get("unavailable", {}):
        pytest.skip(AXES["page_kind"]["unavailable"]["thp"])
    answer = probe.ask("workload=launch.fork", *words)
    assert answer.done.status == "skipped"
    assert complaint in answer.done.reason


@pytest.mark.parametrize("axis", ["parent_bytes", "vmas", "open_files", "parent_threads", "nofile", "idle_ns"])
def test_absurd_sizes_are_refused_before_anything_is_built(axis: str) -> None:
    answer = probe.ask("workload=launch.fork", f"{axis}={(1 << 63) - 1}")
    assert answer.done.status == "skipped"
    assert answer.done.reason


def test_locked_memory_is_locked() -> None:
    """What is locked is resident at once: the whole stack of a thread, which otherwise few pages are of."""
    assert grown("launch.pthread", "rss_bytes", "mlockall=yes", "stack_bytes=4194304") >= 4194304 // 2
