"""What `import clonometer` find_plugins."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from tools.offered import current

import clonometer
from clonometer.cli.group import app as group

FUNCTIONS = [name for name in clonometer.__all__ if name[0].islower()]
COMMANDS = {name: group.get_command(None, name) for name in group.names}
#: What a parameter is called in the command's own code, where that differs.
ON_THE_LINE = {"only": "globs", "where": "conditions", "vs": "other"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_public_function_is_there_typed_and_described(name: str) -> None:
    function = getattr(clonometer, name)
    signature = inspect.signature(function)
    assert inspect.getdoc(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(each.annotation is not inspect.Parameter.empty for each in signature.parameters.values())


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name in COMMANDS])
def test_what_is_left_out_means_the_same_in_python_and_on_the_command_line(name: str) -> None:
    given = COMMANDS[name].make_context(name, [], resilient_parsing=True).params
    defaults = {
        each.name: (given[option], each.default)
        for each in inspect.signature(getattr(clonometer, name)).parameters.values()
        if (option := ON_THE_LINE.get(each.name, each.name)) in given and each.default is not each.empty
    }
    # One that is not given is drawn by either.
    defaults.pop("seed", None)
    assert {each: (line, line) for each, (line, _) in defaults.items()} == defaults


def test_what_is_offered_at_the_root_is_what_app_offers() -> None:
    path = Path(str(clonometer.__file__))
    text = path.read_text(encoding="utf-8")
    assert text == current(text), "make docs writes it anew"
    without = text.replace('    "ab": "clonometer.app.ab",\n', "")
    assert current(without) == text != without


def test_what_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'measure_everything'"):
        _ = clonometer.measure_everything


def test_importing_the_package_loads_none_of_its_commands() -> None:
    script = "import sys, clonometer; print([name for name in sys.modules if name.startswith('clonometer.')])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['clonometer._version']"
