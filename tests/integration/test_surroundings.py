"""The whole command where something is missing: it ends well, says what was not available, and leaves nothing."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests import probe
from tests.integration import container
from tests.integration.leftovers import nothing_left
from tests.integration.started import NOBODY, ROOT_ONLY, as_nobody
from tests.integration.test_limits_real import MEMORY, MIB, PIDS, group_of

from clonometer.runfile import open_run

pytestmark = pytest.mark.real

SOURCE = Path(__file__).parents[2] / "src"
PLAN = """
schema = 1
budget_seconds = 0.3
[limits]
processes = 1
samples = 5
blocks = 1
warmup = 1
"""
CELL = """
[[cells]]
workloads = {workloads}
temperature = "warm"
[cells.set]
{settings}
"""
Ends = dict[str, tuple[str, str]]
PROC = Path("/proc/self/stat").exists()
# Whether the machine of this test run has it: a filter of the test run's own surroundings may refuse it.
CLONE3 = next(entry for entry in probe.catalogue()["workloads"] if entry["id"] == "launch.clone3")["available"]


@pytest.fixture
def tmp_path(public: Path) -> Path:
    """Where other users may read."""
    return public


def write_plan(folder: Path, *cells: tuple[str, dict[str, object]]) -> Path:
    path = folder / "plan.toml"
    entries = [
        CELL.format(
            workloads=json.dumps(workloads.split()),
            settings="\n".join(f"{k} = {json.dumps(v)}" for k, v in settings.items()),
        )
        for workloads, settings in cells
    ]
    path.write_text(PLAN + "".join(entries))
    return path


def run(folder: Path, *cells: tuple[str, dict[str, object]], installed: Installed) -> Ends:
    """Run the command on these cells; give how each ended and why. The rest of what must hold is checked here."""
    work = folder / "work"
    work.mkdir()
    work.chmod(0o777)
    plan = write_plan(folder, *cells)
    with nothing_left(folder / "temporary") as trace:
        ended = subprocess.run(
            [installed.python, "-m", "clonometer.cli.start", "run", "--plan", plan, "--out", work / "run.parquet"],
            cwd=work,
            env={**os.environ, **trace.environ, "PYTHONPATH": installed.modules, "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            preexec_fn=installed.before,
        )
    assert ended.returncode in (0, 4), ended.stderr
    assert "Traceback" not in ended.stderr
    assert {path.name for path in work.iterdir()} == {"run.parquet"}
    with open_run(work / "run.parquet") as measured:
        ends = {cell.cell: (cell.status, cell.reason or "") for cell in measured.document.cells}
    assert ended.returncode == (4 if any(status == "failed" for status, _ in ends.values()) else 0)
    shown = "".join(ended.stdout.split())
    for status, reason in ends.values():
        assert (
            status == "ok" or "".join(reason.split())[:60] in shown or "cells without a result in total" in ended.stdout
        )
    return ends


def skipped(ends: Ends, cell: str) -> str:
    """The reason of the only cell that has this in its name."""
    ((status, reason),) = [end for name, end in ends.items() if cell in name]
    assert status == "skipped", (cell, status, reason)
    return reason


def measured(ends: Ends) -> set[str]:
    assert not [end for end in ends.values() if end[0] not in ("ok", "skipped")], ends
    return {name.split("[")[0] for name, (status, _) in ends.items() if status == "ok"}


@pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")
def test_in_a_container_with_dockers_default_profile(tmp_path: Path) -> None:
    always = (
        "launch.fork launch.vfork launch.clone launch.pthread launch.raw_thread launch.posix_spawn launch.c11_thread"
    )
    newer = "launch.clone3 launch.clone3_pidfd launch.clone3_into_cgroup flags.none flags.settls"
    spaces = "namespaces.uts namespaces.user namespaces.all"
    ends = run(
        tmp_path,
        (f"{always} {newer} {spaces} wake.futex teardown.exit clock.used", {}),
        installed=replace(HERE, before=container.enter),
    )
    assert measured(ends) == {*always.split(), "wake.futex", "teardown.exit", "clock.used"}
    for workload in (*newer.split(), *spaces.split()):
        assert "clone3 answers ENOSYS" in skipped(ends, f"{workload}[")
        assert "seccomp" in skipped(ends, f"{workload}[")


@pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")
def test_the_container_is_one(tmp_path: Path) -> None:
    """Else the test above would show nothing."""
    code = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def refused(*words):\n"
        "    return libc.syscall(*words) == -1 and ctypes.get_errno()\n"
        f"calls = {container._CALLS[os.uname().machine]!r}\n"
        "tried = [('clone3', 0, 0), ('unshare', 0x4000000), ('mount', 0, 0, 0, 0, 0),\n"
        "         ('perf_event_open', 0, 0, 0, 0, 0),\n"
        "         ('clone', 0x10000000 | 17, 0, 0, 0, 0)]\n"
        "print(*(refused(calls[name], *words) for name, *words in tried))\n"
        "print(os.waitpid(pid, 0)[1] if (pid := os.fork()) else os._exit(0))\n"
        "print([line for line in open('/proc/self/status') if line.startswith(('CapEff', 'Seccomp:'))])\n"
    )
    lines = subprocess.check_output([sys.executable, "-c", code], preexec_fn=container.enter, text=True).splitlines()
    assert lines[:2] == ["38 1 1 1 1", "0"]
    assert "Seccomp:\\t2" in lines[2]
    assert int(lines[2].split("CapEff:\\t")[1][:16], 16) & (1 << 21 | 1 << 24) == 0


@pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")
def test_a_tracer_in_a_container_says_what_it_may_not(tmp_path: Path) -> None:
    command = [probe.folder() / "tracer", "--fd", "1", "confirm", "perf", probe.executable(), "workload=launch.fork"]
    answer = json.loads(subprocess.check_output(command, preexec_fn=container.enter, timeout=60))
    assert (answer["status"], answer["tasks"]) == ("skipped", [])
    assert "perf_event_open" in answer["reason"]


@dataclass(frozen=True)
class Installed:
    """A way to start the command: the interpreter, where it finds modules, and what comes before it is started."""

    python: str
    modules: str
    before: Callable[[], None]


HERE = Installed(sys.executable, str(SOURCE), lambda: None)


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Installed]:
    """An installation that everybody may read, started by an ordinary user."""
    if os.geteuid() != 0:
        yield HERE
        return
    with tempfile.TemporaryDirectory(prefix="everybody-") as name:
        Path(name).chmod(0o755)
        source = Path(name, "installed")
        shutil.copytree(SOURCE / "clonometer", source / "clonometer", ignore=shutil.ignore_patterns("_bin"))
        shutil.copytree(probe.folder(), source / "clonometer" / "_bin")
        # This interpreter may be in a home folder; the system's, of the same version, takes the same modules.
        yield _of_nobody(f"{source}:{sysconfig.get_path('platlib')}")


def _of_nobody(modules: str) -> Installed:
    """The first interpreter that an ordinary user may start with these modules."""
    code = f"import sys, numpy, pyarrow, rich_click; assert sys.version_info[:2] == {tuple(sys.version_info[:2])}"
    reasons = []
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            tried = subprocess.run(
                [python, "-c", code],
                env={**os.environ, "PYTHONPATH": modules},
                preexec_fn=as_nobody(),
                capture_output=True,
                text=True,
            )
        except OSError as error:
            reasons.append(str(error))
            continue
        if tried.returncode == 0:
            return Installed(python, modules, as_nobody())
        reasons.append(tried.stderr.strip().splitlines()[-1])
    pytest.skip(f"user {NOBODY} has no Python here: {'; '.join(reasons)}")


def test_as_an_ordinary_user(ordinary: Installed, tmp_path: Path) -> None:
    ends = run(
        tmp_path,
        ("launch.fork launch.pthread launch.clone3 flags.settls wake.pipe clock.used", {}),
        ("namespaces.none namespaces.uts namespaces.net launch.clone3_into_cgroup", {}),
        ("launch.fork", {"sched_class": "fifo"}),
        installed=ordinary,
    )
    assert measured(ends) >= {"launch.fork", "launch.pthread", "clock.used"}
    # Whether the worker sleeps is seen in /proc.
    assert ("wake.pipe" in measured(ends)) == PROC
    assert (measured(ends) >= {"launch.clone3", "flags.settls"}) == CLONE3
    missing = "clone3 answers" if not CLONE3 else "CAP_SYS_ADMIN" if PROC else "/proc is not mounted"
    assert missing in skipped(ends, "namespaces.uts[")
    assert missing in skipped(ends, "namespaces.net[")
    assert "CAP_SYS_NICE" in skipped(ends, "sched_class=fifo")
    assert ("cgroup" if CLONE3 else missing) in skipped(ends, "launch.clone3_into_cgroup[")


@pytest.mark.parametrize(
    ("limit", "settings", "words"),
    [
        ((resource.RLIMIT_NPROC, 100), {"parent_threads": 200}, "RLIMIT_NPROC is 100; raise it with ulimit -u"),
        ((resource.RLIMIT_NPROC, 100), {"concurrency": 150}, "RLIMIT_NPROC is 100; raise it with ulimit -u"),
        ((resource.RLIMIT_AS, 6144 * MIB), {"parent_bytes": "8GiB", "page_kind": "untouched"}, "RLIMIT_AS leaves 6"),
        ((resource.RLIMIT_NOFILE, 128), {"open_files": 1000}, "RLIMIT_NOFILE is 128"),
    ],
)
def test_under_a_limit_of_the_shell(
    ordinary: Installed,
    tmp_path: Path,
    limit: tuple[int, int],
    settings: dict[str, object],
    words: str,
) -> None:

    def before() -> None:
        what, value = limit
        resource.setrlimit(what, (value, value))
        ordinary.before()

    limited = replace(ordinary, before=before)
    ends = run(tmp_path, ("launch.fork launch.pthread", {}), ("launch.fork", settings), installed=limited)
    assert measured(ends) == {"launch.fork", "launch.pthread"}
    axis = next(iter(settings))
    reason = skipped(ends, f"{axis}=")
    assert words in reason
    assert any(remedy in reason for remedy in ("ulimit -u", "ulimit -v", "ulimit -Hn"))


@ROOT_ONLY
@pytest.mark.parametrize(
    ("controller", "value", "settings", "words"),
    [
        (PIDS, 80, {"parent_threads": 100}, "pids.max (80) leaves"),
        (MEMORY, 1024 * MIB, {"parent_bytes": "2GiB"}, f"({1024 * MIB}) leaves"),
    ],
)
def test_in_a_small_cgroup(
    tmp_path: Path,
    controller: tuple[str, tuple[str, str]],
    value: int,
    settings: dict[str, object],
    words: str,
) -> None:
    with group_of(*controller, value) as enter:
        ends = run(
            tmp_path,
            ("launch.fork launch.pthread", {}),
            ("launch.fork", settings),
            installed=replace(HERE, before=enter),
        )
    assert measured(ends) == {"launch.fork", "launch.pthread"}
    assert words in skipped(ends, f"{next(iter(settings))}=")
