"""Under limits of the real kernel the probe says what is not available, survives what fails, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import probe
from tests.integration import container
from tests.integration.started import NOBODY, ROOT_ONLY, sleepers

pytestmark = pytest.mark.real

MIB = 1 << 20
SMALL = ("samples=3", "blocks=1")
WORK = ("workload=work.factor", "numbers=300", "output=worker_file", "warmup=0")


def mounts(kind: str, option: str) -> list[Path]:
    """Where a hierarchy of the kind with this option is mounted."""
    places = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, what, options, *_ = line.split()
        if what == kind and (kind == "cgroup2" or option in options.split(",")):
            places.append(Path(where))
    return places


def own_path(controller: str) -> str:
    """This process's path in the hierarchy of the controller, or in that of version 2 for an empty name."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            return path.rstrip("/")
    return ""


def make_group(controller: str, limit: tuple[str, str], value: int) -> Path:
    """A group below ours with the limit set; its version 1 name and its version 2 name are tried in turn."""
    reasons = []
    for kind, name in (("cgroup", limit[0]), ("cgroup2", limit[1])):
        for mount in mounts(kind, controller):
            path = own_path(controller if kind == "cgroup" else "")
            group = Path(f"{mount}{path}") / f"clonometer-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError as error:
                reasons.append(str(error))
                continue
            try:
                (group / name).write_text(str(value))
            except OSError as error:
                reasons.append(str(error))
                group.rmdir()
                continue
            return group
    pytest.skip(f"no {controller} group can be made here: {'; '.join(reasons) or 'no such hierarchy'}")


@contextlib.contextmanager
def group_of(controller: str, limit: tuple[str, str], value: int) -> Iterator[Callable[[], None]]:
    """Gives what moves a new process into a small group; afterwards nothing may be left in there."""
    with small_group(controller, limit, value) as group:
        yield lambda: (group / "cgroup.procs").write_text("0") and None


@contextlib.contextmanager
def small_group(controller: str, limit: tuple[str, str], value: int) -> Iterator[Path]:
    """A small group; afterwards nothing may be left in there."""
    group = make_group(controller, limit, value)
    try:
        yield group
    finally:
        left = "?"
        for _ in range(200):
            left = (group / "cgroup.procs").read_text()
            if not left:
                break
            time.sleep(0.05)
        assert left == ""
        for attempt in range(200):
            # Tear-down is deferred: a group may be busy for a moment after its last task.
            try:
                group.rmdir()
                break
            except OSError:
                assert attempt < 199
                time.sleep(0.05)


PIDS = ("pids", ("pids.max", "pids.max"))
MEMORY = ("memory", ("memory.limit_in_bytes", "memory.max"))


@ROOT_ONLY
@pytest.mark.parametrize(
    "words",
    [
        ["workload=launch.fork", "parent_threads=40"],
        ["workload=launch.pthread", "parent_threads=40"],
        ["workload=launch.fork", "concurrency=30"],
        ["workload=launch.fork", "concurrency=30", "launchers=processes"],
        ["workload=launch.pthread", "concurrency=4", "parent_threads=8", "launchers=processes"],
    ],
)
def test_more_tasks_than_a_group_may_have_are_refused(words: list[str]) -> None:
    with group_of(*PIDS, 20) as enter:
        answer = probe.ask(*words, before=enter)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "pids.max (20) leaves" in answer.done.reason


@ROOT_ONLY
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_more_workers_than_a_group_may_have_are_refused_before_any_file_is_made(kind: str, tmp_path: Path) -> None:
    with group_of(*PIDS, 20) as enter:
        answer = probe.ask(*WORK, f"output_folder={tmp_path}", f"task_kind={kind}", "workers=30", before=enter)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "pids.max (20) leaves" in answer.done.reason
    assert list(tmp_path.iterdir()) == []


@ROOT_ONLY
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_a_group_that_shrinks_while_workers_run_fails_executions_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    with small_group(*PIDS, 20) as group:

        def shrink() -> None:
            # Once there are workers beside the probe and its remover, all that was to be checked beforehand has been.
            deadline = time.monotonic() + 30
            while int((group / "pids.current").read_text()) < 4 and time.monotonic() < deadline:
                time.sleep(0.0005)
            (group / "pids.max").write_text("1")

        shrinking = threading.Thread(target=shrink)
        shrinking.start()
        try:
            answer = probe.ask(
                *WORK, f"output_folder={tmp_path}", f"task_kind={kind}", "workers=3", "samples=400", "blocks=1",
                before=lambda: (group / "cgroup.procs").write_text("0") and None,
            )  # fmt: skip
        finally:
            shrinking.join()
    assert answer.done.status == "ok", answer.done.reason
    [block] = answer.blocks
    assert set(block.outcomes) == {"ok", "EAGAIN"}
    assert sum(block.outcomes.values()) == 1200
    assert block.outcomes["EAGAIN"] > 0
    assert list(tmp_path.iterdir()) == []


@ROOT_ONLY
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_more_workers_than_the_kernel_may_have_tasks_are_refused(kind: str, tmp_path: Path) -> None:
    few = tmp_path / "threads-max"
    few.write_text("50\n")
    folder = tmp_path / "files"
    folder.mkdir()

    def before() -> None:
        container.change_mounts(("/proc/sys/kernel/threads-max", str(few)))

    answer = probe.ask(*WORK, f"output_folder={folder}", f"task_kind={kind}", "workers=60", before=before)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "kernel.threads-max is 50" in answer.done.reason
    assert "sysctl kernel.threads-max=N" in answer.done.reason
    assert list(folder.iterdir()) == []


@ROOT_ONLY
def test_what_fits_into_a_small_group_of_tasks_runs_in_it() -> None:
    with group_of(*PIDS, 20) as enter:
        answer = probe.ask(
            "workload=launch.fork", "concurrency=4", "launchers=processes", "parent_threads=2", *SMALL, before=enter
        )
    # Four launchers with two threads each and a child each: 20 with the probe itself are too many by none.
    assert answer.done.status == "ok", answer.done.reason
    assert answer.blocks[0].outcomes == {"ok": 12}


@ROOT_ONLY
@pytest.mark.parametrize("kind", ["4k", "shared", "file_private", "file_shared", "dontfork"])
def test_more_memory_than_a_group_may_have_is_refused(kind: str) -> None:
    with group_of(*MEMORY, 256 * MIB) as enter:
        answer = probe.ask("workload=launch.fork", f"parent_bytes={512 * MIB}", f"page_kind={kind}", before=enter)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert f"({256 * MIB}) leaves" in answer.done.reason


@ROOT_ONLY
@pytest.mark.parametrize(
    "words", [["samples=4000000", "blocks=1"], ["concurrency=64", "parent_threads=1000000", "launchers=processes"]]
)
def test_more_memory_for_samples_and_tasks_than_a_group_may_have_is_refused(words: list[str]) -> None:
    with group_of(*MEMORY, 256 * MIB) as enter:
        answer = probe.ask("workload=launch.fork", *words, before=enter)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert f"({256 * MIB}) leaves" in answer.done.reason


@pytest.mark.parametrize("value", [1 << 32, 1 << 62])
@pytest.mark.parametrize("axis", ["parent_bytes", "vmas", "open_files", "parent_threads", "nofile"])
@pytest.mark.parametrize("launchers", [1, 4])
def test_what_no_machine_has_is_refused_before_anything_is_made_for_it(axis: str, value: int, launchers: int) -> None:
    """Should it not be: within the limit, what is made endangers nobody."""
    size = value << 20 if (axis, value) == ("parent_bytes", 1 << 32) else value
    answer = probe.ask(
        "workload=launch.fork", f"{axis}={size}", f"concurrency={launchers}", "launchers=processes",
        before=limited(resource.RLIMIT_AS, 1024 * MIB),
    )  # fmt: skip
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert f"larger than any machine allows: {axis}={size}; at most" in answer.done.reason


@ROOT_ONLY
def test_memory_that_fits_into_a_small_group_is_measured_in_it() -> None:
    with group_of(*MEMORY, 256 * MIB) as enter:
        answer = probe.ask("workload=launch.fork", f"parent_bytes={32 * MIB}", *SMALL, before=enter)
    assert answer.done.status == "ok", answer.done.reason
    assert answer.blocks[0].outcomes == {"ok": 3}


@ROOT_ONLY
def test_what_is_only_mapped_needs_no_memory() -> None:
    with group_of(*MEMORY, 256 * MIB) as enter:
        answer = probe.ask(
            "workload=launch.fork", f"parent_bytes={1024 * MIB}", "page_kind=untouched", *SMALL, before=enter
        )
    assert answer.done.status == "ok", answer.done.reason


def test_what_is_only_mapped_may_be_larger_than_memory_and_swap() -> None:
    """A fork commits it once more, or would if it were accounted for."""
    strict = Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    answer = probe.ask("workload=launch.fork", f"parent_bytes={1 << 40}", "page_kind=untouched", *SMALL)
    assert answer.done.status == ("skipped" if strict else "ok"), answer.done.reason
    assert strict or answer.blocks[0].outcomes == {"ok": 3}


def limited(what: int, value: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (value, value))


@pytest.mark.parametrize("kind", ["4k", "untouched", "shared"])
def test_more_address_space_than_allowed_is_refused(kind: str) -> None:
    answer = probe.ask(
        "workload=launch.fork",
        f"parent_bytes={512 * MIB}",
        f"page_kind={kind}",
        before=limited(resource.RLIMIT_AS, 300 * MIB),
    )
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "RLIMIT_AS leaves 300 MiB; raise it with ulimit -v" in answer.done.reason


def test_threads_that_find_no_room_are_counted_and_survived() -> None:
    """Eight MiB of stack do not fit; the probe itself does."""
    answer = probe.ask("workload=launch.pthread", *SMALL, before=limited(resource.RLIMIT_AS, 7 * MIB))
    assert (answer.done.status, answer.exit_status) == ("ok", 0)
    assert answer.blocks[0].outcomes == {"ok": 0, "EAGAIN": 3}


@pytest.fixture
def unprivileged(public: Path) -> Iterator[Callable[..., probe.Answer]]:
    """Ask a probe that runs as an ordinary user under a limit."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)

    def ask(*words: str, what: int, value: int) -> probe.Answer:
        def become() -> None:
            resource.setrlimit(what, (value, value))
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        return probe.ask(*words, program=program, before=become)

    yield ask
    assert not any(process_of_nobody(entry, program) for entry in os.listdir("/proc") if entry.isdigit())


def process_of_nobody(pid: str, program: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink() == program
    except OSError:
        return False


@pytest.mark.parametrize("kind", ["same", "distinct"])
def test_more_open_files_than_an_ordinary_user_may_have_are_refused(
    unprivileged: Callable[..., probe.Answer], kind: str
) -> None:
    words = ("workload=launch.fork", "open_files=1000", f"file_kind={kind}")
    answer = unprivileged(*words, what=resource.RLIMIT_NOFILE, value=100)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "RLIMIT_NOFILE is 100" in answer.done.reason
    assert "ulimit -Hn" in answer.done.reason


def test_a_soft_limit_of_files_is_raised_to_the_hard_one() -> None:
    def lower() -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))

    answer = probe.ask("workload=launch.fork", "open_files=500", *SMALL, before=lower)
    assert answer.done.status == "ok", answer.done.reason
    assert answer.blocks[0].facts["open_files"] > 500


@pytest.mark.parametrize("workload", ["launch.fork", "launch.pthread"])
def test_few_files_suffice_for_an_ordinary_cell(unprivileged: Callable[..., probe.Answer], workload: str) -> None:
    answer = unprivileged(f"workload={workload}", *SMALL, what=resource.RLIMIT_NOFILE, value=32)
    assert answer.blocks[0].outcomes == {"ok": 3}


@pytest.mark.parametrize(
    "words", [["parent_threads=200"], ["concurrency=120"], ["concurrency=120", "launchers=processes"]]
)
def test_more_tasks_than_an_ordinary_user_may_have_are_refused(
    unprivileged: Callable[..., probe.Answer], words: list[str]
) -> None:
    answer = unprivileged("workload=launch.fork", *words, what=resource.RLIMIT_NPROC, value=100)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "RLIMIT_NPROC is 100; raise it with ulimit -u" in answer.done.reason


@pytest.mark.parametrize("words", [["parent_threads=20"], ["concurrency=9"], ["concurrency=9", "launchers=processes"]])
def test_a_limit_that_is_met_half_way_leaves_nothing(
    unprivileged: Callable[..., probe.Answer], words: list[str]
) -> None:
    """The user's other tasks count too, which cannot be known before: what was started is ended again."""
    with sleepers(16):
        answer = unprivileged("workload=launch.fork", *words, what=resource.RLIMIT_NPROC, value=24)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "could be started: Resource temporarily unavailable" in answer.done.reason


@pytest.mark.parametrize("words", [[], [f"parent_bytes={16 * MIB}"]])
def test_locking_more_than_allowed_is_refused(unprivileged: Callable[..., probe.Answer], words: list[str]) -> None:
    answer = unprivileged("workload=launch.fork", "mlockall=yes", *words, what=resource.RLIMIT_MEMLOCK, value=1 << 16)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "RLIMIT_MEMLOCK" in answer.done.reason
    assert "ulimit -l" in answer.done.reason


@pytest.mark.parametrize("name", ["fifo", "rr"])
def test_a_class_that_is_not_allowed_is_refused(unprivileged: Callable[..., probe.Answer], name: str) -> None:
    answer = unprivileged("workload=launch.fork", f"sched_class={name}", what=resource.RLIMIT_RTPRIO, value=0)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "CAP_SYS_NICE" in answer.done.reason


@pytest.mark.parametrize("name", ["batch", "idle"])
def test_classes_that_anybody_may_have(unprivileged: Callable[..., probe.Answer], name: str) -> None:
    answer = unprivileged("workload=launch.fork", f"sched_class={name}", *SMALL, what=resource.RLIMIT_RTPRIO, value=0)
    assert answer.done.status == "ok", answer.done.reason
