"""``clonometer budget`` with real commands."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tomllib
from argparse import ArgumentTypeError
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import can_trace, clonometer
from tests.integration.container import KNOWN, refuse

from clonometer.cli import pytest_plugin
from clonometer.cli.pytest_plugin import at_least_none

SCRIPT = "x=$(cat /dev/null)\ny=$(cat /dev/null)\n"
SCHEMA = Path(__file__).parents[2] / "docs/schemas/budget.schema.json"


def budget(*words: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return clonometer("budget", *words, cwd=cwd, env={**os.environ, **environ})


def test_a_change_that_forks_more_exceeds_what_was_recorded(tmp_path: Path, seen_by: str) -> None:
    script = tmp_path / "s.sh"
    script.write_text(SCRIPT)
    recorded = budget("--record", "--runs", "2", "--how", seen_by, "--", "bash", "s.sh", cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    launches = tomllib.loads((tmp_path / "launches.toml").read_text())["launches"]
    assert launches == {"max": 2, "processes": 2, "fork": 2}
    kept = budget("--how", seen_by, "--", "bash", "s.sh", cwd=tmp_path)
    assert kept.returncode == 0, kept.stdout + kept.stderr
    script.write_text(SCRIPT + "z=$(cat /dev/null)\n")
    exceeded = budget("--how", seen_by, "--json", "--", "bash", "s.sh", cwd=tmp_path)
    assert exceeded.returncode == 1
    answer = json.loads(exceeded.stdout)
    (fork,) = [limit for limit in answer["limits"] if limit["name"] == "fork"]
    assert (fork["counted"], fork["most"], fork["verdict"]) == (3, 2, "fail")
    assert {place["place"] for place in fork["places"]} == {"s.sh:1", "s.sh:2", "s.sh:3"}


def test_the_status_is_that_of_the_command(tmp_path: Path) -> None:
    failed = budget("--limit", "max=9", "--", "sh", "-c", "exit 7", cwd=tmp_path)
    assert failed.returncode == 7
    assert "a run that fails early creates fewer tasks" in " ".join(failed.stdout.split())
    assert budget("--limit", "max=0", "--", "sh", "-c", "(true); exit 7", cwd=tmp_path).returncode == 1


def test_says_how_to_begin_without_limits(tmp_path: Path) -> None:
    ended = budget("--", "true", cwd=tmp_path)
    assert ended.returncode == 2
    assert "budget --record" in ended.stderr


def test_the_line_of_a_shell_is_no_command(tmp_path: Path) -> None:
    ended = budget("--limit", "max=0", "--", "true && false", cwd=tmp_path)
    assert ended.returncode == 127
    assert "bash -c 'true && false'" in ended.stderr


def test_recording_keeps_a_file_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "launches.toml").write_text("# mine\n")
    assert budget("--record", "--", "true", cwd=tmp_path).returncode == 2
    assert (tmp_path / "launches.toml").read_text() == "# mine\n"


def test_nothing_is_recorded_of_a_run_that_fails(tmp_path: Path) -> None:
    ended = budget("--record", "--", "sh", "-c", "exit 7", cwd=tmp_path)
    assert ended.returncode == 2
    assert "run 1 ended with status 7" in ended.stderr
    assert not (tmp_path / "launches.toml").exists()


def test_github_gets_annotations_and_a_summary(tmp_path: Path) -> None:
    (tmp_path / "s.sh").write_text(SCRIPT)
    summary = tmp_path / "summary.md"
    words = ("--github", "--junit", "out.xml", "--limit", "fork=1", "--", "bash", "s.sh")
    ended = budget(*words, cwd=tmp_path, GITHUB_WORKSPACE=str(tmp_path), GITHUB_STEP_SUMMARY=str(summary))
    assert ended.returncode == 1
    assert "::error file=s.sh,line=2,title=Launch budget::fork: 1" in ended.stdout
    assert "exceeded" in summary.read_text()
    assert "<failure" in (tmp_path / "out.xml").read_text()


def test_a_summary_that_cannot_be_written_changes_no_verdict(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for summary in (tmp_path, tmp_path / "pipe", tmp_path / "none" / "summary"):
        for most, status in ((0, 1), (9, 0)):
            words = ("--github", "--limit", f"max={most}", "--", "sh", "-c", "(true); true")
            ended = budget(*words, cwd=tmp_path, GITHUB_STEP_SUMMARY=str(summary))
            assert ended.returncode == status
            assert "the job's summary was not written" in ended.stderr


@pytest.mark.parametrize("command", [("budget", "--limit", "max=9"), ("census", "--no-advice")])
def test_whoever_reads_no_more_changes_no_status(tmp_path: Path, command: tuple[str, ...]) -> None:
    page = tmp_path / "page.html"
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "clonometer", *command, "--html", str(page), "--", "sh", "-c", "exit 7"]
    ended = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False, cwd=tmp_path)
    os.close(writing)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (7, False)
    assert page.exists()


TESTS = """
import subprocess, threading, pytest

def test_free():
    for _ in range(3):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

@pytest.mark.launch_budget(max=1, fork=0, programs={"true": 1})
def test_kept():
    subprocess.run(["true"])

@pytest.mark.launch_budget(programs={"true": 1})
def test_exceeded():
    subprocess.run(["true"])
    subprocess.run(["true"])

@pytest.mark.launch_budget({"shares memory": 0}, fork=0)
def test_nothing():
    pass

def test_block(launch_budget):
    subprocess.run(["true"])
    with launch_budget({"shares memory": 0}, thread=0):
        subprocess.run(["true"])
    with launch_budget(processes=0):
        subprocess.run(["true"])
"""


def run_pytest(
    folder: Path, *words: str, become: Callable[[], None] | None = None, tests: str = TESTS
) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(tests)
    plugins = ("-p", "clonometer.cli.pytest_plugin", "-p", "no:cacheprovider")
    # The plug-in is installed with the package, unless this is a checkout whose metadata are older.
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-q", *words, "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=become,
    )


@pytest.fixture
def tracing() -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")


@pytest.mark.usefixtures("tracing")
def test_pytest_fails_tests_that_create_too_much(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, "--launches=0")
    assert "2 failed, 3 passed" in ended.stdout, ended.stdout
    assert "FAILED test_it.py::test_exceeded" in ended.stdout
    assert "FAILED test_it.py::test_block" in ended.stdout
    # The lines of the process that runs the tests.
    exceeding = [
        line.split() for line in ended.stdout.splitlines() if "subprocess.run" in line and "/test_it.py:" in line
    ]
    assert {(words[0].rpartition("/")[2], *words[1:]) for words in exceeding} == {
        ("test_it.py:16", "test_exceeded", "subprocess.run", "1"),
        ("test_it.py:17", "test_exceeded", "subprocess.run", "1"),
        ("test_it.py:28", "test_block", "subprocess.run", "1"),
    }
    counted = {line.split()[4]: line.split()[:4] for line in ended.stdout.splitlines() if "  test_it.py::" in line}
    # Tasks, processes, by fork, threads: what counts the limited tests does not count.
    assert counted == {
        "test_it.py::test_free": ["3", "0", "0", "3"],
        "test_it.py::test_kept": ["1", "1", "0", "0"],
        "test_it.py::test_exceeded": ["2", "2", "0", "0"],
        "test_it.py::test_block": ["3", "3", "0", "0"],
    }


MISTAKEN = """
import pytest

@pytest.mark.launch_budget(5)
def test_no_name(): pass

@pytest.mark.launch_budget(programs=["git"])
def test_no_number(): pass

@pytest.mark.launch_budget(max=10**5000)
def test_no_end(): pass

def test_no_block(launch_budget):
    launch_budget(fork=0)
"""


def test_pytest_says_what_is_no_limit(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, tests=MISTAKEN)
    assert "3 failed, 1 passed, 1 error" in ended.stdout, ended.stdout
    assert "launch_budget: 5 names no limit" in ended.stdout
    assert "launch_budget: ['git'] names no limit" in ended.stdout
    assert "launch_budget: 'max=a number of too many digits' is no limit" in ended.stdout
    assert "launch_budget(...) limits a block" in ended.stdout


def test_pytest_shows_no_less_than_none() -> None:
    assert at_least_none("0") == 0
    with pytest.raises(ArgumentTypeError, match="no number of tests"):
        at_least_none("-1")


@pytest.mark.usefixtures("tracing")
def test_pytest_gathers_what_workers_counted(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, "-p", "xdist.plugin", "-n", "2", "--launches=0", "-k", "free or kept")
    assert "2 passed" in ended.stdout, ended.stdout
    assert "test_it.py::test_free" in ended.stdout
    assert "test_it.py::test_kept (true 1)" in ended.stdout


@pytest.mark.skipif(not KNOWN, reason="the numbers of this machine's system calls are not known")
def test_pytest_says_what_was_not_checked(tmp_path: Path) -> None:
    refused = partial(refuse, ("perf_event_open",), errno.EACCES)
    ended = run_pytest(tmp_path, "--launches=1", become=refused)
    assert "5 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "4 tests, since nothing could be counted" in ended.stdout
    assert "not counted: cannot take a census" in ended.stdout
    required = run_pytest(tmp_path, "--launches-required", become=refused)
    assert "4 failed, 1 passed" in required.stdout


HOSTILE = r"""
import os, shutil, subprocess, pytest

def launch(name):
    shutil.copy(shutil.which("true"), name)
    subprocess.run(["./" + name], check=True)

def test_escapes():
    launch("e\x1b]0;pwn\x07\n::error::x ##[add-mask]secret")

@pytest.mark.launch_budget(fork=0)
def test_exceeds(tmp_path):
    # A program whose own calls nobody names stands first in its line.
    shutil.copy(shutil.which("bash"), "::stop-commands::y")
    subprocess.run(["::stop-commands::y", "-c", "(true); (true)"], env={"PATH": os.getcwd()}, check=True)
"""


@pytest.mark.usefixtures("tracing")
def test_pytest_shows_no_name_that_a_terminal_or_a_runner_of_ci_obeys(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, "--launches=0", tests=HOSTILE)
    assert "1 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "stop-commands" in ended.stdout
    assert "e?]0;pwn? ::error::x ##?add-mask]secret 1" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert "\x07" not in ended.stdout
    assert "##[" not in ended.stdout
    assert [line for line in ended.stdout.splitlines() if line.lstrip().startswith("::")] == []


ENDS_THE_CENSUS = """
import os, signal, subprocess
from pathlib import Path

def test_kills_its_children():
    subprocess.run(["true"])
    for task in Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            os.kill(int(pid), signal.{number})

def test_after_it():
    subprocess.run(["true"])
"""


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM"])
def test_pytest_shows_no_counts_of_a_census_that_a_test_has_ended(tmp_path: Path, number: str) -> None:
    ended = run_pytest(tmp_path, "--launches=0", tests=ENDS_THE_CENSUS.replace("{number}", number))
    assert "2 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "\nnot counted: " in ended.stdout
    assert "no test created a task" not in ended.stdout
    assert "test_kills_its_children" not in ended.stdout


@pytest.mark.usefixtures("tracing")
def test_pytest_says_that_a_worker_took_its_counts_with_it(tmp_path: Path) -> None:
    tests = "import os, subprocess\ndef test_a(): subprocess.run(['true'])\ndef test_b(): os._exit(3)\n"
    ended = run_pytest(tmp_path, "-p", "xdist.plugin", "-n", "1", "--launches=0", tests=tests)
    assert "counted: a worker of pytest-xdist ended without what it had counted" in ended.stdout


def test_the_plug_in_imports_nothing_of_ours_before_it_is_asked(tmp_path: Path) -> None:
    tests = "import sys\ndef test_it(): pass\n"
    (tmp_path / "conftest.py").write_text(
        "import atexit, sys\n"
        "def pytest_unconfigure():\n"
        "    print(sorted(name for name in sys.modules if name.startswith('clonometer.')))\n"
    )
    ended = run_pytest(tmp_path, tests=tests)
    assert "['clonometer._version', 'clonometer.cli', 'clonometer.cli.pytest_plugin']" in ended.stdout


class Node:
    """A worker of pytest-xdist that has ended."""

    def __init__(self, **output: Any) -> None:
        usual = {"results": [], "unchecked": {}, "unavailable": [], "dropped": 0}
        self.workeroutput = {pytest_plugin._OUTPUT: usual | output}


class Shown:
    """What pytest would print."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str, **_: Any) -> None:
        self.lines.append(title)

    def line(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def gathered(pytestconfig: pytest.Config) -> tuple[pytest_plugin._Launches, pytest_plugin._Gathered]:
    plugin = pytest_plugin._Launches(pytestconfig)
    plugin.shown = 0
    return plugin, pytest_plugin._Gathered(plugin)


def test_what_any_worker_could_not_count_is_said(
    gathered: tuple[pytest_plugin._Launches, pytest_plugin._Gathered],
) -> None:
    plugin, gather = gathered
    counted = {"test": "t", "processes": 1, "threads": 0, "forks": 0, "programs": {}}
    gather.pytest_testnodedown(Node(unavailable=["no tracepoints"], unchecked={"a": "no tracepoints", "b": "lost"}))
    gather.pytest_testnodedown(Node(unavailable=["3 events were lost"], results=[counted]))
    gather.pytest_testnodedown(Node(results=[counted]))
    plugin.pytest_terminal_summary(shown := Shown())
    assert "1 test, since nothing could be counted: no tracepoints" in shown.lines
    assert "1 test, since nothing could be counted: lost" in shown.lines
    assert "not all was counted: no tracepoints" in shown.lines
    assert "not all was counted: 3 events were lost" in shown.lines
    assert plugin.results["t"].processes == 2


def test_gathering_takes_no_longer_for_each_test_the_more_there_are(
    gathered: tuple[pytest_plugin._Launches, pytest_plugin._Gathered],
) -> None:
    plugin, _ = gathered
    compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, str(other))

        __hash__ = str.__hash__

    for _ in range(2):
        for number in range(500):
            plugin.add(pytest_plugin.TestLaunches(Name(number), processes=1))
    assert {each.processes for each in plugin.results.values()} == {2}
    assert compared < 5_000
