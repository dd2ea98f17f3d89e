"""The house rule of what is read: past `clonometer.inputs` nothing is, but where the rule says why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools.house_rules import tracked
from tools.rooms import PACKAGE

from tools import reading_rules


def faults(text: str, place: str = "app/new.py") -> list[str]:
    return list(reading_rules.reading_faults({Path(f"{PACKAGE}{place}"): ast.parse(text)}))


@pytest.mark.parametrize(
    "text",
    [
        "path.read_text()",
        "path.read_bytes()",
        "path.open('rb')",
        "open(name)",
        "os.open(name, os.O_RDONLY | os.O_NONBLOCK)",
        "os.fdopen(number, 'rb')",
    ],
)
def test_a_new_reader_is_refused_where_nothing_exempts_it(text: str) -> None:
    assert faults(text) == [f"{PACKAGE}app/new.py:1: reads a file past clonometer.inputs (tools/reading_rules.py)"]
    assert faults(text, "host/new.py") == []


@pytest.mark.parametrize("text", ["path.open('w')", "open(name, 'xb', opener=new)", "read_text(path, KIND)"])
def test_what_only_writes_or_reads_in_bounds_may_stand_anywhere(text: str) -> None:
    assert faults(text) == []


def test_the_package_keeps_the_rule_and_every_exemption_is_needed() -> None:
    paths = [path for path in tracked() if path.suffix == ".py" and str(path).startswith(PACKAGE)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    assert list(reading_rules.reading_faults(trees)) == []
    needed = {reading_rules.exemption_of(path) for path, tree in trees.items() if reading_rules.lines_that_read(tree)}
    assert needed == set(reading_rules.EXEMPT)
