"""Whole programs whose launches copy their memory: the census names the path, the option and the line; else none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.census import can_trace, clonometer
from tests.planted import PLANTED, NotHereError, Planted, Program, build

from clonometer.app.census import CensusAnswer, census
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.types import COPIES
from clonometer.tracing.census.launches import LaunchSite

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not can_trace(), reason="what a child does before its exec takes tracepoints and bpf"),
]

BOOK = load_book()
LAUNCHES, MEGABYTES = 4, 50
#: What a posix_spawn of a small program takes here is of no interest: a tenth of what is planted, or less.
COSTS = {"posix_spawn": (100_000.0, 200_000.0)}
AS_ROOT = ("ruby", "go")


def test_what_is_planted_is_enough() -> None:
    """Of 24 in 8 runtimes the option must be named in 22, and the line in 18."""
    assert len(PLANTED) >= 24
    assert len({planted.runtime for planted in PLANTED}) >= 8
    assert sum(planted.is_named for planted in PLANTED) >= 22
    assert sum(planted.at is not None for planted in PLANTED) >= 18
    for planted in PLANTED:
        path = next(path for path in BOOK.runtime(planted.lines_of).paths if path.name == planted.line)
        assert path.copies
        assert path.instead


@pytest.fixture(name="costs", autouse=True)
def _costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonometer.app.census.making_costs_ns", lambda _progress: COSTS)


def built(planted: Planted, folder: Path, *, mended: bool = False) -> Program:
    if planted.runtime in AS_ROOT and os.geteuid() != 0:
        pytest.skip("is planted for root")
    folder.chmod(0o755)
    try:
        return build(planted, folder, mended=mended)
    except NotHereError as reason:
        pytest.skip(str(reason))


def launches_of(planted: Planted, answer: CensusAnswer) -> list[LaunchSite]:
    return [
        launch
        for launch in answer.launches
        if launch.runtime is not None
        and launch.runtime.name == planted.lines_of
        and any(Path(program).name == planted.executes for program in launch.site.programs)
    ]


def source_line(launch: LaunchSite, program: Program) -> str | None:
    where = launch.site.where
    if where is None or where.file is None or not where.source_line or Path(where.file).name != program.source.name:
        return None
    return program.source.read_text(encoding="utf-8").splitlines()[where.source_line - 1]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.id)
def test_a_planted_launch_is_named(planted: Planted, tmp_path: Path) -> None:
    program = built(planted, tmp_path)
    answer = census(program.command(LAUNCHES, MEGABYTES), output_to_stderr=True)
    if answer.tally.ended.get("without_calls"):
        pytest.skip(answer.tally.ended["without_calls"])
    launches = [launch for launch in launches_of(planted, answer) if COPIES.get(launch.site.mechanism)]
    assert sum(launch.site.execed for launch in launches) >= LAUNCHES
    (launch,) = [launch for launch in launches if launch.site.execed >= LAUNCHES]
    names = [fit.path.name for fit in launch.fits]
    assert planted.line in names
    if planted.is_named:
        assert names == [planted.line]
    if planted.at is not None:
        line = source_line(launch, program)
        assert line is not None
        assert planted.at in line
    assert launch.saved is not None
    assert 0 < launch.saved.value_ns <= launch.site.cost_ns


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.id)
def test_what_is_advised_copies_no_memory(planted: Planted, tmp_path: Path) -> None:
    program = built(planted, tmp_path, mended=True)
    # Small, since only the paths count: a launcher that is forked before the memory grows may fork in turn.
    answer = census(program.command(2, 1), advice=False, output_to_stderr=True)
    helper = next((word for word in ("launcher.js", "my $worker", "xargs", "mapfile") if word in text_of(program)), "")
    ways = {launch.site.mechanism for launch in launches_of(planted, answer)}
    assert answer.tally.ended["exit_status"] == 0
    assert helper or not any(COPIES.get(way) for way in ways), ways


def text_of(program: Program) -> str:
    return program.source.read_text(encoding="utf-8")


def script(name: str, text: str, *words: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        (folder / name).write_text(text)
        return [*words, name]

    return write


def made(*build_words: str, files: dict[str, str], command: list[str]) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        for name, text in files.items():
            (folder / name).write_text(text)
        if build_words:
            environment = {**os.environ, "GO111MODULE": "off"}
            subprocess.run(build_words, cwd=folder, check=True, timeout=300, env=environment, capture_output=True)
        return command

    return make


C_FILES = {"a.c": "int a;\n", "b.c": "int b;\n", "Makefile": "all: a.o b.o\n%.o: %.c\n\tgcc -c $<\n"}
GO = 'package main\nimport "os/exec"\nfunc main() { if exec.Command("/bin/true").Run() != nil { panic(1) } }\n'

RUST = 'fn main() { std::process::Command::new("/bin/true").status().unwrap(); }\n'

JAVA = (
    "class A { public static void main(String[] w) throws Exception {"
    ' new ProcessBuilder("/bin/true").start().waitFor(); } }\n'
)
#: No option of theirs chooses how they launch.
ORDINARY = {
    "python3": script("a.py", "import subprocess\nsubprocess.run(['/bin/true'], check=True)\n", "python3"),
    "node": script("a.js", "require('child_process').spawn('/bin/true');\n", "node"),
    "make": made(files=C_FILES, command=["make", "-j2"]),
    "gcc": made(files=C_FILES, command=["gcc", "-c", "a.c"]),
    "git": made("git", "init", "-q", "here", files={}, command=["git", "clone", "-q", "here", "there"]),
    "sh": script("a.sh", "ls | sort | uniq -c\n/bin/true\n", "sh"),
    "bash": script("a.sh", "ls | sort | uniq -c\n/bin/true\n", "bash"),
    "tar": made(files=C_FILES, command=["tar", "-czf", "a.tgz", "a.c"]),
    "find": made(files=C_FILES, command=["find", ".", "-name", "*.c", "-exec", "cat", "{}", ";"]),
    "go": made("go", "build", "-o", "a", "a.go", files={"a.go": GO}, command=["./a"]),
    "rustc": made("rustc", "-o", "a", "a.rs", files={"a.rs": RUST}, command=["./a"]),
    "javac": made("javac", "A.java", files={"A.java": JAVA}, command=["java", "-cp", ".", "A"]),
}


def test_there_are_ten_ordinary_programs() -> None:
    assert len(ORDINARY) >= 10


@pytest.mark.parametrize("name", ORDINARY)
def test_no_option_is_named_where_there_is_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    answer = census(ORDINARY[name](tmp_path), output_to_stderr=True)
    processes = [launch for launch in answer.launches if launch.site.mechanism != "thread"]
    assert processes
    assert [launch.path.title for launch in processes if launch.path is not None and launch.path.option] == []
    for launch in processes:
        assert launch.saved is None or COPIES[launch.site.mechanism]


PYTHON = "import os, subprocess\nsubprocess.run(['/bin/true'], {})\n"
SERVES = "import subprocess, time\nwhile True:\n    subprocess.run(['/bin/true'])\n    time.sleep(0.05)\n"
LINES = {
    "preexec_fn=os.setsid": ("python3", ".py", PYTHON.format("preexec_fn=os.setsid")),
    "preexec_fn= that calls resource.setrlimit": (
        "python3",
        ".py",
        "import resource\n" + PYTHON.format("preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"),
    ),
    "detached: true": (
        "node",
        ".js",
        "require('child_process').spawn('/bin/true', {detached: true, stdio: 'ignore'});\n",
    ),
    "cwd": ("node", ".js", "require('child_process').spawn('/bin/true', {cwd: '/', stdio: 'ignore'});\n"),
}


def launched(tmp_path: Path, program: str, suffix: str, text: str) -> list[LaunchSite]:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    script = tmp_path / f"planted{suffix}"
    script.write_text(text)
    answer = census([str(Path(path).resolve()), str(script)], advice=False)
    if answer.tally.ended.get("without_calls"):
        pytest.skip(answer.tally.ended["without_calls"])
    return [launch for launch in answer.launches if launch.site.mechanism != "thread"]


@pytest.mark.parametrize("option", LINES)
def test_the_option_that_was_planted_is_named(tmp_path: Path, option: str) -> None:
    launches = launched(tmp_path, *LINES[option])
    assert [launch.path.option for launch in launches if launch.path is not None] == [option]


def test_a_plain_launch_has_no_option(tmp_path: Path) -> None:
    (launch,) = launched(tmp_path, "python3", ".py", "import subprocess\nsubprocess.run(['/bin/true'])\n")
    assert launch.path is None or launch.path.option == ""
    assert launch.saved is None


def test_a_proof_compares_the_command_with_itself_under_the_setting(tmp_path: Path) -> None:
    script = tmp_path / "sleeps.sh"
    script.write_text('sleep "${PAUSE:-0.05}"\n')
    words = ["census", "--no-advice", "--prove", "PAUSE=0", "--", "sh", str(script)]
    ended = clonometer(*words)
    assert ended.returncode == 0, ended.stderr
    text = " ".join(ended.stdout.split())
    assert "Without and with PAUSE=0:" in text
    assert "(with env:PAUSE=0)" in text
    assert "wall time" in text


def test_a_proof_that_cannot_be_made_is_refused_before_the_command_runs(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    for words, complaint in (
        (["--prove", "PAUSE", "--", "touch", str(touched)], "is not NAME=VALUE"),
        (["--prove", "--json", "--", "touch", str(touched)], "an answer of its own"),
        (["--prove", "--pid", "1"], "there is none"),
    ):
        ended = clonometer("census", *words)
        assert ended.returncode == 2, ended.stderr
        assert complaint in " ".join(ended.stderr.split())
    assert not touched.exists()


def test_where_no_setting_mends_a_launch_the_proof_says_so(tmp_path: Path) -> None:
    words = ["census", "--no-advice", "--prove", "--", "true"]
    ended = clonometer(*words)
    assert ended.returncode == 0, ended.stderr
    assert "Nothing to prove" in ended.stdout


def test_of_a_running_script_with_a_relative_name_the_runtime_is_known(tmp_path: Path) -> None:
    script = tmp_path / "serve"
    script.write_text(f"#!{Path(sys.executable).resolve()}\n{SERVES}")
    script.chmod(0o755)
    with subprocess.Popen(["./serve"], cwd=tmp_path, stdin=subprocess.PIPE) as server:
        try:
            answer = census(pid=server.pid, seconds=2.0, advice=False)
        finally:
            server.kill()
    runtimes = {launch.site.program: launch.runtime for launch in answer.launches}
    assert runtimes["./serve"] is not None
    assert runtimes["./serve"].name == "python"
