"""``clonometer lab``: the list, notebooks and teachers' sheets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clonometer.cli.ending import run_to_the_end
from clonometer.lab.reading import NAMES

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _stand_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("words", [[], ["list"]])
def test_without_a_name_it_lists_the_lessons_and_what_they_teach(words: list[str], capsys: Captured) -> None:
    assert run_to_the_end(["lab", *words]) == 0
    listed = capsys.readouterr().out
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "] == list(NAMES)
    assert "Ten thousand launches. How many times as long" in listed
    assert max(map(len, listed.splitlines())) <= 80


def test_a_name_writes_its_notebook_here_and_does_not_replace_it(tmp_path: Path, capsys: Captured) -> None:
    assert run_to_the_end(["lab", "thread-stack"]) == 0
    out, err = capsys.readouterr()
    assert err == "wrote thread-stack.ipynb\n"
    assert "jupyter lab thread-stack.ipynb" in out
    before = (tmp_path / "thread-stack.ipynb").read_text(encoding="utf-8")
    assert json.loads(before)["nbformat"] == 4
    assert run_to_the_end(["lab", "thread-stack"]) == 2
    assert "thread-stack.ipynb exists" in capsys.readouterr().err
    assert (tmp_path / "thread-stack.ipynb").read_text(encoding="utf-8") == before
    assert run_to_the_end(["lab", "thread-stack", "--force"]) == 0


def test_the_teacher_gets_a_sheet(tmp_path: Path, capsys: Captured) -> None:
    assert run_to_the_end(["lab", "thread-stack", "--teacher"]) == 0
    assert capsys.readouterr().out == ""
    assert "# Teacher's sheet: The stack of a thread" in (tmp_path / "thread-stack-teacher.md").read_text(
        encoding="utf-8"
    )
    assert run_to_the_end(["lab", "thread-stack", "--teacher", "--out", "sheet.md"]) == 0
    assert (tmp_path / "sheet.md").is_file()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["thread-stak"], "did you mean 'thread-stack'"),
        (["--teacher"], "name a lesson"),
        (["--out", "x"], "name a lesson"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], text: str, capsys: Captured) -> None:
    assert run_to_the_end(["lab", *words]) == 2
    assert text in capsys.readouterr().err
