"""A census of control groups: which tasks count as a service's, and what it says where it may not look."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import CLONOMETER, can_trace, ended_after, until
from tests.integration.test_census import attached

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(os.geteuid() != 0, reason="takes root to make control groups"),
]
# Waits for a word, makes two tasks, and another one at the next.
WORK = "echo $$ > {group}/cgroup.procs; read word; /bin/true; (exit 0); read word; /bin/true; :"


def _hierarchies() -> list[tuple[str, Path]]:
    """Version 2 and one of version 1, as far as they are mounted and groups can be made in them."""
    wanted: dict[str, Path] = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind = after.split()[0]
        if kind == "cgroup2" or (kind == "cgroup" and "pids" in after.split()[-1].split(",")):
            wanted[kind] = Path(before.split()[4])
    return sorted(wanted.items())


@contextlib.contextmanager
def group(parent: Path, name: str) -> Iterator[Path]:
    path = parent / f"clonometer-test-{os.getpid()}-{name}"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        yield path
    finally:
        # Those that were in it have been waited for; the kernel may still be at it.
        until(lambda: _removed(path))


def _removed(path: Path) -> bool:
    with contextlib.suppress(OSError):
        path.rmdir()
    return not path.exists()


@contextlib.contextmanager
def worker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    with (
        subprocess.Popen(
            ["sh", "-c", WORK.format(group=folder)], stdin=subprocess.PIPE, text=True, start_new_session=True
        ) as process,
        ended_after(process),
    ):
        until(lambda: str(process.pid) in (folder / "cgroup.procs").read_text().split())
        yield process


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@contextlib.contextmanager
def census(*words: str) -> Iterator[subprocess.Popen[str]]:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    words = (CLONOMETER, "census", "--json", "--no-advice", "--for", "60s", *words)
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as process,
        ended_after(process),
    ):
        until(lambda: attached(process.pid))
        yield process


def answer_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    process.send_signal(signal.SIGTERM)
    answer: dict[str, Any] = json.loads(process.communicate(timeout=60)[0])
    return answer


@pytest.mark.parametrize("kind", ["cgroup2", "cgroup"])
def test_a_services_tasks_count_those_that_run_and_those_that_join(kind: str, tmp_path: Path) -> None:
    parent = dict(_hierarchies()).get(kind)
    if parent is None:
        pytest.skip(f"{kind} is not mounted here")
    metrics = tmp_path / "launches.prom"
    with (
        group(parent, "watched") as watched,
        group(parent, "other") as other,
        worker(watched) as before,
        worker(other) as stranger,
        census("--service", str(watched), "--openmetrics", str(metrics)) as process,
    ):
        assert metrics.read_text() == "# EOF\n"
        with worker(watched) as joined:
            for each in (before, stranger, joined):
                tell(each)
            until(lambda: 'mechanism="vfork"' in metrics.read_text() or 'mechanism="fork"' in metrics.read_text())
            # Who has left it counts no more.
            (other / "cgroup.procs").write_text(str(before.pid))
            for each in (before, stranger, joined):
                tell(each)
                each.wait(timeout=30)
        answer = answer_of(process)
    assert answer["tasks_created"] == 2 + 3
    (service,) = answer["services"]["service"]
    assert service["name"] == answer["watched"]["path"] == f"/{watched.name}"
    assert service["created"] == 5
    assert {creator["program"] for creator in answer["creators"]} == {shutil.which("sh")}


#: Another thread of a process than its first waits for words, and makes a task at each.
THREAD = """
import subprocess, sys, threading
def work():
    while sys.stdin.readline():
        subprocess.run(["/bin/true"])
        print("done", flush=True)
thread = threading.Thread(target=work)
thread.start()
print("ready", flush=True)
thread.join()
"""


def test_a_process_that_joins_does_so_with_all_its_threads() -> None:
    hierarchies = dict(_hierarchies())
    if "cgroup2" not in hierarchies:
        pytest.skip("version 2 is not mounted here")
    words = [sys.executable, "-c", THREAD]
    with (
        group(hierarchies["cgroup2"], "joined") as joined,
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process,
        ended_after(process),
    ):
        assert process.stdout is not None
        process.stdout.readline()
        home = Path(f"/proc/{process.pid}/cgroup").read_text().partition("\n0::")[2].strip()
        with census("--service", str(joined)) as watching:
            tell(process)
            process.stdout.readline()
            (joined / "cgroup.procs").write_text(str(process.pid))
            for _ in range(2):
                tell(process)
                process.stdout.readline()
            answer = answer_of(watching)
        (hierarchies["cgroup2"] / home.lstrip("/") / "cgroup.procs").write_text(str(process.pid))
    assert answer["tasks_created"] == 2


def test_the_whole_machine_is_divided_by_service() -> None:
    hierarchies = dict(_hierarchies())
    if "cgroup2" not in hierarchies:
        pytest.skip("version 2 is not mounted here")
    with (
        group(hierarchies["cgroup2"], "first") as left,
        group(hierarchies["cgroup2"], "second") as right,
        # So many groups that this hierarchy divides the machine most.
        contextlib.ExitStack() as more,
    ):
        for number in range(8):
            more.enter_context(worker(more.enter_context(group(hierarchies["cgroup2"], f"more-{number}"))))
        with worker(left) as first, worker(right) as second, census("--all") as process:
            for each in (first, second):
                tell(each)
                tell(each)
                each.wait(timeout=30)
            answer = answer_of(process)
    created = {service["name"]: service["created"] for service in answer["services"]["service"]}
    assert (created[f"/{left.name}"], created[f"/{right.name}"]) == (3, 3)


def test_an_ordinary_user_is_told_what_it_takes(public: Path) -> None:
    from clonometer.runner.census import NAME
    from clonometer.runner.drivers import bin_folder

    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 0:
        pytest.skip("everybody may read tracepoints here")
    tool = public / NAME
    shutil.copy(bin_folder() / NAME, tool)
    ended = subprocess.run(
        [tool, "--fd", "1", "cgroup=0:/"],
        stdout=subprocess.PIPE, text=True, user=65534, group=65534, extra_groups=[], timeout=60, check=True, cwd="/",
    )  # fmt: skip
    (line,) = map(json.loads, ended.stdout.splitlines())
    assert line["status"] == "refused"
    assert "cannot be watched without tracepoints" in line["reason"]
    assert "CAP_PERFMON" in line["reason"] or "root" in line["reason"]
