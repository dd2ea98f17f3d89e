from __future__ import annotations

import os
import subprocess

import pytest
from tests.cli.conftest import CommandLine

from clonometer._version import __version__
from clonometer.cli.ending import complain, run_to_the_end
from clonometer.cli.start import main

Captured = pytest.CaptureFixture[str]


def test_the_version(clonometer: CommandLine, capsys: Captured) -> None:
    assert clonometer("--version").stdout == f"clonometer {__version__}\n"
    main(["--version"])
    assert capsys.readouterr().out == f"clonometer {__version__}\n"


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
        (["rnu"], "unknown command 'rnu'; did you mean 'run'?", "completion, demo, doctor"),
        (
            ["run", "--bugdet", "3"],
            "unknown option '--bugdet'; did you mean '--budget'?",
            "what exists: --budget",
        ),
        (["--verison"], "unknown option '--verison'; did you mean '--version'?", "--help"),
        (["run", "--budget", "soon"], "'soon' is not a valid float", "run --help"),
        (["run", "--budget", "0"], "0.0 is not in the range", "run --help"),
        (["show"], "missing argument 'RUN'", "show --help"),
        (["report", "x.parquet"], "missing option '--out'", "report --help"),
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


def test_a_defect_never_ends_like_a_regression(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def fail(words: list[str]) -> int:
        raise ZeroDivisionError(words)

    monkeypatch.setattr("clonometer.cli.ending.run_to_the_end", fail)
    with pytest.raises(SystemExit) as ended:
        main(["check", "a", "--baseline", "b"])
    assert ended.value.code == 70
    complaint = capsys.readouterr().err
    assert "ZeroDivisionError" in complaint
    assert "this is a defect of Clonometer's" in complaint.splitlines()[-2]
