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
    monkeypatch.setattr(tidy, "checks", bytes)
    assert tidy.main() == 1
    assert "lonely.c: no target compiles it" in capsys.readouterr().out


def test_what_was_found_clean_is_analysed_again_once_it_or_what_it_includes_changes(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("core/base").mkdir(parents=True)
    source, header, other = Path("core/base/a.c"), Path("core/base/a.h"), Path("core/base/b.h")
    source.write_text('#include <stdio.h>\n#include "base/a.h"\n')
    header.write_text('#include "b.h"\n')
    other.write_text("")
    digests = [tidy.digest(source, b"")]
    for changed in (source, header, other):
        changed.write_text(changed.read_text() + "int x;\n")
        digests.append(tidy.digest(source, b""))
    digests.append(tidy.digest(source, b"another check"))
    assert len(set(digests)) == 5
    assert tidy.digest(source, b"another check") == digests[-1]


def test_each_file_is_analysed_again_within_some_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [Path(f"core/{number}.c") for number in range(200)]
    turns = []
    for commit in range(tidy.ROUNDS):
        ended = subprocess.CompletedProcess([], 0, stdout=f"{commit:040x}\n")
        monkeypatch.setattr(subprocess, "run", lambda *_, ended=ended, **__: ended)
        turns.append(tidy.in_turn(files))
    assert set().union(*turns) == set(files)
    assert sum(map(len, turns)) == len(files)
