"""README's commands work as they stand there: word for word, in its order, in one folder, in a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rich_click as click
from tests.fakes import HASTY

from clonometer.cli.group import app

pytestmark = pytest.mark.real

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
# This is a part of it.
LEFT_OUT = ("make test",)


def commands() -> list[str]:
    """Lines of indented code, and what stands in backticks, that are whole commands; in the order of the page."""
    text = re.sub(r"<!--.*?-->|```.*?```", "", README, flags=re.DOTALL)
    matches = re.findall(
        r"^ {4}((?:make|(?:\.venv/bin/)?clonometer) .*?)(?:  +#.*)?$|`(clonometer [^`\n]+)`", text, re.MULTILINE
    )
    lines = [indented or other for indented, other in matches]
    return [line for line in dict.fromkeys(lines) if line not in LEFT_OUT and not is_incomplete(line)]


def is_incomplete(line: str) -> bool:
    """Whether a reader has to put something in: `clonometer predict --pid PID`, or a command that needs more words."""
    return any(word.isupper() for word in line.split()) or names_only_a_command(line)


def names_only_a_command(line: str) -> bool:
    """Whether it speaks of a command that needs more words: `clonometer compare`."""
    words = line.split()
    if words[0] != "clonometer" or len(words) != 2:
        return False
    command = app.get_command(click.Context(app), words[1])
    return command is not None and any(param.required for param in command.params)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where README has led a reader: the Makefile, everything set up, and the command on the PATH."""
    copy = tmp_path / "clonometer"
    (copy / ".venv" / "bin").mkdir(parents=True)
    (copy / "requirements").mkdir()
    shutil.copy(REPOSITORY / "Makefile", copy)
    for name in (REPOSITORY / "requirements").glob("*.txt"):
        shutil.copy(name, copy / "requirements")
    # What says that it is set up and built, so that make run only runs.
    stamps = set(re.findall(r"\$\(VENV\)/(\.\w+)", (copy / "Makefile").read_text(encoding="utf-8")))
    assert stamps
    for stamp in stamps:
        (copy / ".venv" / stamp).touch()
        os.utime(copy / ".venv" / stamp, (2**31, 2**31))
    command = copy / ".venv" / "bin" / "clonometer"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HASTY}" "$@"\n')
    command.chmod(0o755)
    return copy


def test_every_command_of_the_readme_works_in_its_order_in_one_folder(folder: Path) -> None:
    lines = commands()
    for named in ("make run", "doctor", "run", "plot", "explain", "census", "ab", "reproduce", "peers", "list", "show"):
        assert any(line.removeprefix(".venv/bin/").removeprefix("clonometer ").startswith(named) for line in lines), (
            f"README has no {named}"
        )
    path = f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}"
    # Who reads it has a shell, which a machine for tests need not have. Its completion goes into the folder.
    environ = {**os.environ, "SHELL": "/usr/bin/fish", "XDG_CONFIG_HOME": str(folder / "config"), "PATH": path}
    environ["PYTHONPATH"] = str(REPOSITORY)
    for line in lines:
        ended = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ended.returncode == 0, f"$ {line}\n{ended.stdout[-1500:]}\n{ended.stderr[-1500:]}"
        assert ended.stdout or ended.stderr, f"$ {line} says nothing"
        assert "Traceback" not in ended.stderr
    for name in ("clonometer-run.parquet", "clonometer-run.previous.parquet", "clonometer-report.html", "memory.svg"):
        assert (folder / name).stat().st_size > 1000, name
    # And what it shows from Python.
    (python,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    ended = subprocess.run([sys.executable, "-c", python], cwd=folder, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert not [path.name for path in folder.iterdir() if path.suffix in (".raw", ".tmp")]
