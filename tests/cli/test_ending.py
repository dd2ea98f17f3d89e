from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine

from clonometer._version import __version__
from clonometer.cli.ending import complain, run_to_the_end
from clonometer.cli.options import DURATION

Captured = pytest.CaptureFixture[str]


def test_the_version(clonometer: CommandLine) -> None:
    for option in ("--version", "-V"):
        assert clonometer(option).stdout == f"clonometer {__version__}\n"


def modules_loaded(clonometer: CommandLine, *words: str) -> set[str]:
    """What a command imports."""
    command = clonometer.command(*words)
    ended = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]],
        env=clonometer.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rsplit("|", 1)[1].strip() for line in ended.stderr.splitlines() if "|" in line}


def test_the_version_loads_nothing_heavy(clonometer: CommandLine) -> None:
    loaded = modules_loaded(clonometer, "--version")
    assert "clonometer.cli" in loaded
    assert not loaded & {"click", "rich", "rich_click", "numpy", "pyarrow", "importlib.metadata", "jinja2"}


def test_help_loads_neither_arrays_nor_files(clonometer: CommandLine) -> None:
    loaded = modules_loaded(clonometer, "run", "--help")
    assert "rich_click" in loaded
    assert not loaded & {"numpy", "pyarrow", "scipy", "jinja2", "vl_convert"}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["rnu"], "unknown command 'rnu'; did you mean 'run'?", "'clonometer --help' names them"),
        (
            ["run", "--bugdet", "3"],
            "unknown option '--bugdet'; did you mean '--budget'?",
            "available: --budget",
        ),
        (["--verison"], "unknown option '--verison'; did you mean '--version'?", "--help"),
        (["run", "--budget", "soon"], "'soon' is not a time; times look like 10, 500ms, 10s or 2m", "run --help"),
        (["run", "--budget", "0s"], "'0s': a time must be greater than 0", "run --help"),
        (["run", "--driver-timeout", "-1"], "'-1' is not a time", "run --help"),
        (["run", "--runs", "10"], "there is no option --runs here", "--budget 30s"),
        (["advise", "--parent-memory", "1"], "unknown option '--parent-memory'", "--help describes them"),
        (["compare", "--runs", "10"], "unknown option '--runs'", "available: --cells"),
        (["run", "--export-json", "x"], "there is no option --export-json here", "--json > FILE"),
        (["show", "-v"], "there is no option -v here", "--version"),
        (["show"], "missing argument 'RUN'", "show --help"),
        (["gallery", "x"], "missing option '-o' / '--out'", "gallery --help"),
        (["run", "--budget", "x"], "'x' is not a time", "--budget 30s"),
        (
            ["run", "--plan", "my.tml"],
            "there is no file my.tml, and no plan of that name",
            "",
        ),
        (["show", "/"], "cannot read /: Is a directory", "clonometer fleet show /"),
        (
            ["plot", "x.parquet", "--out", "x.csv"],
            "must end in .png or .svg",
            "clonometer export x.parquet --format csv",
        ),
        (["run", "launch.fork", "--plan", "default"], "workloads and --plan cannot be combined", "--only"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'", "completion --help"),
        (["show", "absent.parquet"], "absent.parquet", ""),
    ],
)
def test_wrong_usage_is_two_clean_lines_and_status_2(
    words: list[str], message: str, hint: str, capsys: Captured
) -> None:
    assert run_to_the_end(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0].startswith("clonometer: ")
    assert message in lines[0]
    assert hint in "".join(lines[1:])
    assert len(lines) <= 2


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("500ms", 0.5), ("2m", 120), ("1h", 3600), (" 1.5s ", 1.5)]
)
def test_times_have_units_or_are_seconds(text: str, seconds: float) -> None:
    assert DURATION.convert(text, None, None) == seconds


def test_no_command_prints_the_help(capsys: Captured) -> None:
    assert run_to_the_end([]) == 2
    assert "Usage: clonometer" in "".join(capsys.readouterr())


def test_a_reader_that_leaves_early_is_no_error(clonometer: CommandLine) -> None:
    words = clonometer.command("run", "--help")
    read_fd, write_fd = os.pipe()
    os.close(read_fd)
    ended = subprocess.run(
        words, env=clonometer.environment(), stdout=write_fd, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write_fd)
    assert ended.returncode == 141
    assert ended.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_that_shell(shell: str, capsys: Captured) -> None:
    assert run_to_the_end(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_CLONOMETER_COMPLETE={shell}_complete" in script


def test_completion_is_installed_where_the_shell_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run_to_the_end(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert run_to_the_end(["completion", "bash", "--install"]) == 0
    installed = tmp_path / "bash-completion/completions/clonometer"
    assert installed.read_text() == script
    # An older one of ours is replaced, and what is somebody else's is not.
    installed.write_text(script.replace("words", "older"))
    assert run_to_the_end(["completion", "bash", "--install"]) == 0
    assert installed.read_text() == script
    installed.write_text("complete -W 'a b' clonometer\n")
    assert run_to_the_end(["completion", "bash", "--install"]) == 2
    assert run_to_the_end(["completion", "zsh", "--install"]) == 2


def test_completion_knows_commands_and_options(clonometer: CommandLine) -> None:
    clonometer.environ |= {
        "_CLONOMETER_COMPLETE": "bash_complete",
        "COMP_WORDS": "clonometer re",
        "COMP_CWORD": "1",
    }
    ended = clonometer()
    assert ended.stdout.split() == ["plain,report", "plain,recover", "plain,reproduce"]


def test_completion_defaults_to_the_shell_in_use(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert run_to_the_end(["completion"]) == 0
    assert "fish_complete" in capsys.readouterr().out
    monkeypatch.setenv("SHELL", "/bin/ksh")
    assert run_to_the_end(["completion"]) == 2
    assert "no completion for the shell 'ksh'" in capsys.readouterr().err


def test_a_hostile_message_cannot_steer_the_terminal(capsys: Captured) -> None:
    complain("no \x1b[31mred\x1b]0;title\x07\nfile", "try\nthis\x9b")
    assert capsys.readouterr().err == "clonometer: no ?[31mred?]0;title? file\n  try this?\n"


# What is put in the place of the command's heart; the status and the words that must come of it.
FAILURES = {
    "1 / 0": (70, "this is a defect of Clonometer"),
    "raise BaseException('a panic of a library in Rust')": (70, "this is a defect of Clonometer"),
    "recurse(recurse)": (70, "this is a defect of Clonometer"),
    "raise MemoryError": (4, "there is not enough memory"),
    "raise ImportError('x.so: failed to map segment from shared object')": (4, "there is not enough memory"),
    "raise OSError(28, 'No space left on device')": (4, "no space left on device"),
    "raise SystemExit('no')": (70, "this is a defect of Clonometer"),
    "raise click.FileError('x')": (2, "x"),
    "raise KeyboardInterrupt": (130, "interrupted"),
    "with contextlib.suppress(KeyboardInterrupt): exec('raise KeyboardInterrupt')": (0, ""),
    "take_it_for_an_error(signal.SIGTERM)": (130, "interrupted"),
    "lose_it_in_a_destructor(signal.SIGHUP); time.sleep(30)": (130, "interrupted"),
    "go_on_in_spite_of(signal.SIGTERM); time.sleep(30)": (130, "interrupted"),
    "go_on_in_spite_of(signal.SIGTERM)": (130, ""),
    **{f"signal.raise_signal({number})": (130, "interrupted") for number in (1, 2, 3, 15)},
    **{f"signal.raise_signal({number}) # ignored": (0, "") for number in (1, 2, 3, 15)},
    "import numpy; raise SystemExit(40 + len(os.listdir('/proc/self/task')))": (41, ""),
    "raise SystemExit(40 + ('OPENBLAS_NUM_THREADS' in os.environ))": (40, ""),
}

# Each in a process of its own, which has imported all that is needed: that takes longer than the rest.
HEARTS = """
import contextlib, json, os, signal, sys, time
import rich_click as click
from clonometer.cli import ending, signals, start

def recurse(again):
    again(again)

def take_it_for_an_error(number):
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        raise ImportError("numpy")

def go_on_in_spite_of(number):
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(number)

def lose_it_in_a_destructor(number):
    class Gone:
        def __del__(self):
            signal.raise_signal(number)
    Gone()

signals._REMIND_AFTER_S = 0.1
for number, code in enumerate(json.load(sys.stdin)):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(str(number), os.O_CREAT | os.O_WRONLY), 2)
        for ending_signal in (1, 2, 3, 15) if code.endswith("ignored") else ():
            signal.signal(ending_signal, signal.SIG_IGN)
        ending.app.main = lambda **options: exec(code)
        start.main(["check"])
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_whatever_happens_no_status_is_that_of_a_regression(tmp_path: Path) -> None:
    (tmp_path / "hearts.py").write_text(HEARTS)
    ended = subprocess.run([sys.executable, "-m", "hearts"], input=json.dumps(list(FAILURES)), capture_output=True,
                           text=True, check=True, cwd=tmp_path)  # fmt: skip
    for number, (status, (code, (expected, words))) in enumerate(
        zip(ended.stdout.split(), FAILURES.items(), strict=True)
    ):
        text = (tmp_path / str(number)).read_text()
        assert int(status) == expected, (code, text)
        assert words in text, (code, text)
        assert ("Traceback" in text) == ("defect" in words), (code, text)


FULL_ANSWERS = (["--help"], ["--version"], ["check", "absent", "--baseline", "absent"])


@pytest.mark.parametrize("words", FULL_ANSWERS, ids=" ".join)
def test_an_answer_that_finds_no_room_is_told_by_the_status(clonometer: CommandLine, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            clonometer.command(*words), env=clonometer.environment(), stdout=full, stderr=full, check=False
        )
    assert ended.returncode == (2 if "check" in words else 4)


def test_closed_streams_are_as_devnull(clonometer: CommandLine) -> None:
    for closed in ("<&- >&- 2>&-", "2>&-"):
        ended = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', *clonometer.command("list", "x")], check=False,
                               env=clonometer.environment(), capture_output=True)  # fmt: skip
        assert ended.returncode == 2, closed
    # Else the next file that is opened becomes standard output, and gets the answer; so it would in what is started.
    started = "os.execvp('sh', ['sh', '-c', ': 9<&1 9<&2'])"
    code = f"import os; from clonometer.cli.streams import check_streams; check_streams(); {started}"
    assert subprocess.run(["sh", "-c", f'exec "$0" -c "{code}" <&- >&- 2>&-', sys.executable]).returncode == 0


def test_progress_that_cannot_be_written_stops_no_measuring(clonometer: CommandLine) -> None:
    words = clonometer.command("run", "launch.none", "--budget", "0.2", "--out", "o.parquet")
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            words,
            cwd=clonometer.folder,
            env=clonometer.environment(),
            stdout=subprocess.DEVNULL,
            stderr=full,
            check=False,
        )
    assert ended.returncode == 0
    assert (clonometer.folder / "o.parquet").exists()
