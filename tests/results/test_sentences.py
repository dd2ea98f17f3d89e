from __future__ import annotations

import difflib

import pytest
from tests.results.sentences import GOLDEN, sentences


def test_sentences_are_those_of_the_golden_file() -> None:
    golden, now = (text.splitlines() for text in (GOLDEN.read_text(encoding="utf-8"), sentences()))
    changes = "\n".join(difflib.unified_diff(golden, now, str(GOLDEN.name), "as the code says now", n=2, lineterm=""))
    if changes:
        pytest.fail(
            f"Sentences changed. Where they are meant: make golden, and read the change.\n{changes}", pytrace=False
        )
