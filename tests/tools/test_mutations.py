"""What ``make mutations`` would change stands in the package once: no rename leaves it with nothing to change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.mutations import MUTATIONS, PACKAGE

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("file", "old", "new", "tests"), MUTATIONS, ids=range(len(MUTATIONS)))
def test_its_text_and_its_tests_are_there(file: str, old: str, new: str, tests: str) -> None:
    assert (ROOT / PACKAGE / file).read_text(encoding="utf-8").count(old) == 1
    assert old != new
    assert all((ROOT / "tests" / name).exists() for name in tests.split())
