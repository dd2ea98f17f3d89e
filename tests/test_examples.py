"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "clonometer"
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    # Where an example defines a record, its types are looked up in its module.
    place = ModuleType("examples")
    monkeypatch.setitem(sys.modules, "examples", place)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        vars(place).clear()
        vars(place).update({**vars(module), "__name__": "examples"})
        example.globs = vars(place)
        runner.run(example, out=report.append, clear_globs=False)
    assert runner.tries, "its examples are in no docstring"
    assert not runner.failures, "".join(report)
