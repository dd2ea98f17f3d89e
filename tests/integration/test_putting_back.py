"""Whatever measures begins by putting back what a killed measurement has left, and says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.integration.census import clonometer

from clonometer.runner.settings import read_setting, save

pytestmark = pytest.mark.real

STARTS = (
    ("ab", "--pairs", "12", "--budget", "5s", "--", "true", "--", "true"),
    ("explain", "fork", "--tier", "stamps", "--processes", "1"),
    ("start-method", "--rounds", "1", "--budget", "1s"),
)


@pytest.mark.parametrize("words", STARTS, ids=" ".join)
def test_it_is_put_back_first(words: Sequence[str], tmp_path: Path) -> None:
    setting = tmp_path / "setting"
    setting.write_text("4")
    saved = save("--b do='echo 5 > setting'", f"printf 4 > {setting}", {str(setting): read_setting(str(setting))})
    setting.write_text("5")
    saved.leave()
    ended = clonometer(*words, cwd=tmp_path, env=dict(os.environ))
    assert setting.read_text() == "4", ended.stderr
    assert "put back: what --b do='echo 5 > setting' changed" in " ".join(ended.stderr.split())
