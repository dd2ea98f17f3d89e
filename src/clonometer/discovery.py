"""What the modules of a package offer under an agreed name, so that nobody keeps a list of them."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any


def find_plugins(package: str, name: str) -> Iterator[Any]:
    """Import every module of a package and give what each has under a name; those that have nothing are passed over.

    Examples
    --------
    >>> min(family.name for family in find_plugins("clonometer.families", "FAMILY"))
    'clock'
    """
    for entry in pkgutil.iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{entry.name}")
        if hasattr(module, name):
            yield getattr(module, name)
