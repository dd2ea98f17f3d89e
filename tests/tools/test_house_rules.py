"""The house rules of names: what a variable is called, and that no two public classes share a name."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "tools" / "house_rules.py"


@pytest.fixture(scope="module")
def rules():
    spec = importlib.util.spec_from_file_location("house_rules", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "for one in rows: pass",
        "def f(*, told): pass",
        "self._said = []",
        "class A:\n    here: int",
        "[own for own in rows]",
        "if (there := f()): pass",
        "f(key=lambda one: one.x)",
    ],
)
def test_a_word_that_names_nothing_is_refused(rules, code):
    assert len(list(rules.empty_names(Path("a.py"), ast.parse(code)))) == 1


def test_reading_a_name_and_words_within_names_are_free(rules):
    code = "alone = one\nf(found=alone)\nknown.one\ndef own_cells(): pass"
    assert list(rules.empty_names(Path("a.py"), ast.parse(code))) == []


def test_two_public_classes_of_one_name_are_refused(rules):
    trees = {
        Path("a.py"): ast.parse("class Row: pass\nclass _Book: pass"),
        Path("b.py"): ast.parse("class _Book: pass\nclass Row: pass"),
        Path("c.py"): ast.parse("class Rows: pass"),
    }
    assert list(rules.shared_names(trees)) == ["a.py:1: there is another class Row: b.py:2"]
