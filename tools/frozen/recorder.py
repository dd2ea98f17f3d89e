"""A plug-in of pytest: writes every text and page that a view returns while a test runs, by the test's name.

Many answers need a measurement and no command reads them from a file: what tests show of them is what can be frozen.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clonometer.views

#: In the environment: the folder that is written to.
FOLDER = "CLONOMETER_FROZEN"
#: A folder that a test made for itself, whose name is drawn.
_DRAWN = re.compile(r"(?<=/)tmp(?:\\?[a-z0-9_]){8}\b")
_texts: list[str] = []


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def record(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        if isinstance(made, str):
            _texts.append(_DRAWN.sub("temporary", made))
        return made

    record.is_recorded = True  # type: ignore[attr-defined] # for the names under which it is imported again
    return record


def pytest_configure() -> None:
    """Wrap every public ``render_`` function of the views before tests import it."""
    for module in pkgutil.walk_packages(clonometer.views.__path__, "clonometer.views."):
        loaded = importlib.import_module(module.name)
        for name, value in list(vars(loaded).items()):
            if name.startswith("render_") and callable(value) and not hasattr(value, "is_recorded"):
                setattr(loaded, name, _recorded(value))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Write what the test's views have returned, each text once and in the order of the calls."""
    _texts.clear()
    yield
    if _texts:
        name = item.nodeid.replace("/", "_").replace(" ", "_")[:200]
        texts = list(dict.fromkeys(_texts))
        Path(os.environ[FOLDER], name).write_text("\f\n".join(texts), encoding="utf-8", errors="backslashreplace")
