"""What `import clonometer` find_plugins."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import clonometer


@pytest.mark.parametrize("name", [name for name in clonometer.__all__ if name not in ("__version__", "LoadedRun")])
def test_each_public_function_is_there_typed_and_described(name: str) -> None:
    function = getattr(clonometer, name)
    signature = inspect.signature(function)
    assert inspect.getdoc(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(each.annotation is not inspect.Parameter.empty for each in signature.parameters.values())


def test_what_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'measure_everything'"):
        _ = clonometer.measure_everything


def test_importing_the_package_loads_none_of_its_commands() -> None:
    script = "import sys, clonometer; print([name for name in sys.modules if name.startswith('clonometer.')])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['clonometer._version']"
