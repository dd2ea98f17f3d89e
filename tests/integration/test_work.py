"""Workers that compute and write: facts of real executions, and what is left when they go wrong."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import prod
from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.integration.started import Started, as_nobody, happens, sleepers, started

from clonometer.answers import Block
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.planfile import load_plan
from clonometer.results.rows.source import null_mask

pytestmark = pytest.mark.real

KINDS = ("thread", "process")
OUTPUTS = ("worker_file", "shared_stream", "shared_append", "none")
DIVISIONS = {("none", 1000): 136_825, ("sqrt", 1000): 10_861}


def ask(folder: Path, *words: str, before: Callable[[], None] | None = None) -> probe.Answer:
    return probe.ask("workload=work.factor", f"output_folder={folder}", *words, before=before)


def executed(folder: Path, *words: str) -> Block:
    answer = ask(folder, "samples=2", "blocks=1", "warmup=0", *words)
    assert (answer.done.status, answer.done.reason, answer.stderr) == ("ok", None, "")
    return answer.blocks[0]


def left_in(folder: Path) -> list[str]:
    """What is still in a folder, with patience for a remover that is just removing it."""
    for _ in range(100):
        if not any(folder.iterdir()):
            return []
        time.sleep(0.05)
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_a_worker_and_the_whole_once_an_execution(kind: str, tmp_path: Path) -> None:
    block = executed(tmp_path, f"task_kind={kind}", "workers=3")
    columns = block.columns
    assert block.outcomes == {"ok": 6}
    assert columns["worker"].tolist() == [0, 1, 2] * 2
    assert np.diff(columns["execution"]).tolist() == [0, 0, 1, 0, 0]
    assert (~null_mask(columns["whole_ns"])).tolist() == [True, False, False] * 2
    whole = np.repeat(columns["whole_ns"][::3], 3)
    assert columns["whole_each_ns"][::3] == pytest.approx(columns["whole_ns"][::3] / 3, abs=1)
    assert (columns["worker_begins_ns"] < columns["worker_ends_ns"]).all()
    assert (columns["worker_ends_ns"] <= whole).all()
    assert np.abs(columns["worker_ends_ns"] - columns["worker_begins_ns"] - columns["worker_works_ns"]).max() <= 2
    assert (columns["worker_cpu_ns"] > 0).all()
    waits = columns["run_queue_wait_ns"]
    # Within its life, which began after the whole did.
    assert (null_mask(waits) | (waits <= columns["worker_ends_ns"])).all()
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("cutoff", ["none", "sqrt"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_worker_divides_as_often(kind: str, cutoff: str, tmp_path: Path) -> None:
    block = executed(tmp_path, f"task_kind={kind}", f"cutoff={cutoff}", "workers=4", "numbers=1000")
    assert set(block.columns["divisions"].tolist()) == {DIVISIONS[cutoff, 1000]}


@pytest.mark.parametrize("writing", ["buffered", "each_number"])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_output_can_be_written_and_is_removed(kind: str, output: str, writing: str, tmp_path: Path) -> None:
    words = [f"task_kind={kind}", f"output={output}", f"writing={writing}", "workers=3", "numbers=200"]
    if (output, writing) == ("none", "each_number"):
        assert ask(tmp_path, *words).done.status == "skipped"
        return
    assert executed(tmp_path, *words).outcomes == {"ok": 6}
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        ["allocate=each_number"],
        ["allocate=each_number", "allocator=one_heap"],
        ["allocate=each_number", "allocator=mapped"],
        ["allocate=leaked"],
        ["result_files=overwritten"],
        ["worker_memory=prefaulted", "counters=adjacent", "file_table=own"],
        ["worker_memory=prefaulted", "output=shared_stream"],
        ["stdio_lock=unlocked"],
        ["release=together"],
        ["cpus=spread"],
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_condition_does_the_same_work(kind: str, words: list[str], tmp_path: Path) -> None:
    block = executed(tmp_path, f"task_kind={kind}", "workers=5", *words)
    assert block.outcomes == {"ok": 10}
    assert set(block.columns["divisions"].tolist()) == {DIVISIONS["none", 1000]}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_is_mapped_anew_faults_for_each_number(kind: str, tmp_path: Path) -> None:
    words = [f"task_kind={kind}", "workers=2", "numbers=500", "output=none", "allocate=each_number"]
    kept = executed(tmp_path, *words, "allocator=one_heap").columns["minor_faults"]
    mapped = executed(tmp_path, *words, "allocator=mapped").columns["minor_faults"]
    assert kept.max() < 500 <= mapped.min()


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_leaks_is_never_used_again(kind: str, tmp_path: Path) -> None:
    words = [f"task_kind={kind}", "workers=2", "numbers=20000", "cutoff=sqrt", "output=none"]
    without = executed(tmp_path, *words).columns["minor_faults"]
    leaked = executed(tmp_path, *words, "allocate=leaked").columns["minor_faults"]
    # Three blocks a number, of which no allocator makes more than 256 fit into a page.
    assert leaked.min() > without.max() + 3 * 20_000 / 256


def test_files_that_are_overwritten_stay_between_executions(tmp_path: Path) -> None:
    """Once there is a worker's file it is never missing, until the folder itself is removed."""
    seen: list[bool] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            folders = list(tmp_path.iterdir())
            seen.extend((folder / "0").exists() for folder in folders)

    watcher = threading.Thread(target=look)
    watcher.start()
    answer = ask(tmp_path, "samples=300", "blocks=1", "warmup=0", "numbers=10", "result_files=overwritten")
    done.set()
    watcher.join()
    assert answer.blocks[0].outcomes == {"ok": 300}
    assert True in seen
    last = len(seen) - seen[::-1].index(True)
    assert all(seen[seen.index(True) : last])


@pytest.mark.parametrize(("cpus", "most"), [(1, 65), (2, 65), (16, 80), (256, 1280)])
def test_workers_are_scanned_beyond_the_cpus_however_many(
    cpus: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cpus)))
    targets = load_plan("work-workers", read_catalogue([probe.catalogue()])).targets
    counts = sorted({int(target.condition["workers"]) for target in targets if "workers" in target.condition})
    assert set(range(2, 31)) <= set(counts)
    assert counts[-1] == most
    # Enough for a line.
    assert sum(count > cpus for count in counts) >= 3


@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_workers_work(kind: str, tmp_path: Path) -> None:
    """As many as on a large machine: all of them launched, working and reaped, their files removed."""
    block = executed(tmp_path, f"task_kind={kind}", "workers=600", "numbers=20", "samples=1")
    assert block.outcomes == {"ok": 600}
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_on_one_cpu_is_on_one_cpu(kind: str, tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    answer = ask(tmp_path, f"task_kind={kind}", "cpus=one", f"cpu={cpu}", "workers=4", "samples=3", "blocks=2")
    for block in answer.blocks:
        assert set(block.columns["cpu_at_begin"].tolist()) | set(block.columns["cpu_at_end"].tolist()) == {cpu}
        assert set(block.columns["migrations"].tolist()) == {0}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU only")
def test_spread_workers_take_one_cpu_after_the_other(tmp_path: Path) -> None:
    count = len(os.sched_getaffinity(0))
    block = executed(tmp_path, "cpus=spread", f"workers={count}")
    assert set(block.columns["cpu_at_begin"].tolist()) == os.sched_getaffinity(0)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Started, Path]]:
    """A probe whose three worker processes write for some seconds, and the folder in which they do."""
    words = ["workload=work.factor", "task_kind=process", "workers=3", "numbers=60000", "samples=1", "blocks=1"]
    with started(*words, "warmup=0", f"output_folder={tmp_path}") as running:
        assert happens(lambda: len(list(tmp_path.glob("*/[012]"))) == 3)
        yield running, tmp_path


def test_what_is_written_are_the_factors(watched: tuple[Started, Path]) -> None:
    _, folder = watched
    (path,) = folder.glob("*/1")
    assert happens(lambda: path.stat().st_size > 20_000)
    lines = path.read_text()[:20_000].splitlines()[:-1]
    assert lines[0] == "1:"
    for number, line in enumerate(lines, start=1):
        written, factors = line.split(":")
        assert int(written) == number
        assert prod(map(int, factors.split())) == number


def test_a_killed_probe_leaves_neither_workers_nor_files(watched: tuple[Started, Path]) -> None:
    running, folder = watched
    workers = children(running.pid)
    assert len(workers) >= 3
    running.end()
    assert left_in(folder) == []
    assert happens(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("release", ["as_launched", "together"])
def test_a_killed_worker_is_counted(release: str, tmp_path: Path) -> None:
    """Each execution loses its workers, which have more to do than a test lasts; none of its rows counts then."""
    done = threading.Event()

    def kill_workers() -> None:
        while not done.wait(0.02):
            for folder in tmp_path.glob("clonometer-*"):
                for owner in folder.glob("[012]"):
                    for pid in writers(owner):
                        # One that another scan has killed may be gone by now.
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_workers)
    killer.start()
    try:
        words = ["task_kind=process", "workers=3", "numbers=300000", f"release={release}"]
        answer = ask(tmp_path, *words, "samples=2", "blocks=1", "warmup=0")
    finally:
        done.set()
        killer.join()
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 0, "ECHILD": 6}
    assert null_mask(block.columns["whole_ns"]).all()
    assert left_in(tmp_path) == []


def writers(path: Path) -> list[int]:
    folders = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if any(fd.readlink() == path for fd in (entry / "fd").iterdir()):
                    folders.append(int(entry.name))
            except OSError:
                continue
    return folders


@pytest.mark.parametrize("output", ["worker_file", "shared_stream", "shared_append"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_may_not_grow_is_counted(kind: str, output: str, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    words = [f"task_kind={kind}", f"output={output}", "workers=2", "numbers=70000", "cutoff=sqrt"]
    words += ["samples=2", "blocks=1", "warmup=0"]
    (block,) = ask(tmp_path, *words, before=small_files).blocks
    assert block.outcomes == {"ok": 0, "EFBIG": 4}
    assert left_in(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_fills_while_workers_write_is_counted(kind: str, small_disk: Path) -> None:
    """There is room when they start; then somebody else takes it."""
    filler = small_disk / "filler"

    def fill() -> None:
        assert happens(lambda: bool(list(small_disk.glob("*/0"))))
        with filler.open("wb", buffering=0) as file:
            try:
                for _ in range(1024):
                    file.write(bytes(4096))
            except OSError:
                pass

    other = threading.Thread(target=fill)
    other.start()
    try:
        words = [f"task_kind={kind}", "workers=3", "numbers=30000", "samples=3", "blocks=1", "warmup=0"]
        (block,) = ask(small_disk, *words).blocks
    finally:
        other.join()
    assert block.outcomes["ENOSPC"] >= 6
    assert sum(block.outcomes.values()) == 9
    filler.unlink()
    assert left_in(small_disk) == []


def test_a_disk_that_is_too_small_is_said_before(small_disk: Path) -> None:
    answer = ask(small_disk, "workers=9", "numbers=20000")
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert str(small_disk) in answer.done.reason
    assert "4 MiB left" in answer.done.reason


def test_a_folder_that_does_not_exist_is_said() -> None:
    answer = ask(Path("/nowhere/at/all"))
    assert answer.done.status == "skipped"
    assert "/nowhere/at/all" in answer.done.reason


@pytest.mark.parametrize(
    ("word", "status", "complaint"),
    [
        ("workers=0", "failed", "workers=0"),
        ("workers=-3", "failed", "workers=-3"),
        ("numbers=0", "failed", "numbers=0"),
        ("numbers=-1", "failed", "numbers=-1"),
        ("numbers=99999999999999999999", "failed", "numbers="),
        ("numbers=3000000", "skipped", "3000000 numbers"),
        ("numbers=9000000000000000000", "skipped", "9000000000000000000 numbers"),
        ("workers=9000000000000000000", "skipped", "at most 32000"),
    ],
)
def test_what_cannot_be_meant_is_said(word: str, status: str, complaint: str, tmp_path: Path) -> None:
    answer = ask(tmp_path, word)
    assert (answer.done.status, answer.blocks) == (status, [])
    assert complaint in answer.done.reason


def test_more_workers_than_tasks_are_allowed_is_said(tmp_path: Path) -> None:
    answer = ask(tmp_path, "workers=32000", "numbers=1", "output=none")
    most = int(Path("/proc/sys/kernel/pid_max").read_text()) // 2
    if most > 32_002:
        pytest.skip("this machine allows as many")
    assert answer.done.status == "skipped"
    assert "32002 tasks" in answer.done.reason


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["output=shared_stream", "stdio_lock=unlocked"], "corrupt"),
        (["output=none", "stdio_lock=unlocked"], "no stdio stream"),
        (["allocator=one_heap"], "allocate=none"),
        (["allocate=leaked", "allocator=mapped"], "a memory area for each block"),
        (["result_files=overwritten", "output=none"], "output=none"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], complaint: str, tmp_path: Path) -> None:
    answer = ask(tmp_path, *words)
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert complaint in answer.done.reason


@pytest.mark.parametrize("kind", KINDS)
def test_workers_that_cannot_be_started_are_counted(kind: str, public: Path) -> None:
    """With room for some of the workers only: those that began are reaped, and the execution is a failed one."""
    if os.geteuid() != 0:
        pytest.skip("only root may become another user for this test")
    program = public / "probe-static"
    program.write_bytes(probe.executable().read_bytes())
    program.chmod(0o755)

    words = ["workload=work.factor", f"task_kind={kind}", "workers=3", "output=none", "numbers=30000"]
    words += ["samples=2", "blocks=1"]
    with sleepers(2):
        answer = probe.ask(*words, program=program, before=as_nobody(5))
    assert answer.done.status == "ok"
    assert answer.blocks[0].outcomes == {"ok": 0, "EAGAIN": 6}
