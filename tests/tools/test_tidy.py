"""What ``make lint`` gives clang-tidy: every source once, by the command of the default linkage."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import tidy


def command(folder: Path, name: str, words: str) -> dict[str, str]:
    return {"directory": str(folder), "file": name, "command": words}


def test_a_source_of_several_linkages_is_checked_once(tmp_path: Path) -> None:
    commands = [command(tmp_path, "a.c", "static"), command(tmp_path, "b.c", "static")]
    commands += [command(tmp_path / "core", "../a.c", "dynamic"), command(tmp_path, str(tmp_path / "b.c"), "dynamic")]
    chosen = tidy.once(commands)
    assert {path.name: entry["command"] for path, entry in chosen.items()} == {"a.c": "static", "b.c": "static"}


def test_the_longest_come_first_and_all_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    for name, length in (("short.c", 1), ("long.c", 100), ("deep/middle.c", 10)):
        path = Path("core", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("/" * length)
    assert [path.name for path in tidy.sources()] == ["long.c", "middle.c", "short.c"]


def test_a_source_that_nothing_compiles_is_said(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lonely.c").write_text("")
    (tmp_path / tidy.BUILD).mkdir(parents=True)
    monkeypatch.setattr(tidy, "sources", lambda: [Path("lonely.c")])
    monkeypatch.setattr(tidy, "configure", list)
    assert tidy.main() == 1
    assert "lonely.c: no target compiles it" in capsys.readouterr().out
