"""What two work trees show differently is named, also where one of them lacks the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.frozen.__main__ import _tell
from tools.frozen.commands import reading_commands


def test_a_changed_and_a_missing_file_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for tree, texts in (("before", {"same": "1", "changed": "1", "gone": "1"}), ("now", {"same": "1", "changed": "2"})):
        (tmp_path / tree / "views").mkdir(parents=True)
        for name, text in texts.items():
            (tmp_path / tree / "views" / name).write_text(text)
    assert _tell(tmp_path / "before", tmp_path / "now", diff=False) == 1
    assert capsys.readouterr().out.splitlines() == ["views/changed", "views/gone", "3 files, 2 differ"]
    assert _tell(tmp_path / "now", tmp_path / "now", diff=True) == 0


def test_options_stand_before_a_second_group_of_runs() -> None:
    commands = [words for words, _ in reading_commands() if "--" in words]
    assert commands
    assert all(words.index("--wide") < words.index("--") for words in commands if "--wide" in words)
