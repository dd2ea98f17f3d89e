"""What is locked can be installed wherever the project says that it runs."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

PROJECT = Path(__file__).resolve().parents[2]


def _pinned() -> set[str]:
    """Names of all packages that the locks hold."""
    return {
        Requirement(line.split(" \\")[0]).name
        for lock in sorted((PROJECT / "requirements").glob("*.txt"))
        for line in lock.read_text().splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    }


def test_every_locked_package_takes_the_oldest_python_that_the_project_takes() -> None:
    """Debian 12 has Python 3.11.2: a package that asks for 3.11.5 would end its `make test` before the first test."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    asked = {
        name: str(importlib.metadata.metadata(name).json.get("requires_python", ""))
        for name in _pinned()
        if any(importlib.metadata.distributions(name=name))
    }
    assert len(asked) > 25  # all of them only where all tests are run (make test ALL=yes)
    assert not {name: python for name, python in asked.items() if oldest not in SpecifierSet(python)}
