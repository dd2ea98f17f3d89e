"""Which lines of this process's own Python make tasks, while somebody listens: for a census of what runs already."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from clonometer.runner.hooks import library_of_hooks

#: Who listens. A hook for audit events stays until the process ends, and does nothing while this is empty.
_listeners: list[deque[str]] = []
#: A listener that does not read must not fill the memory: a line has at most 4,000 bytes.
_MOST_LINES = 16_384


@contextmanager
def own_calls() -> Iterator[deque[str]]:
    """Give a queue that gets a line for each task that this process is about to make."""
    _install()
    lines: deque[str] = deque(maxlen=_MOST_LINES)
    _listeners.append(lines)
    try:
        yield lines
    finally:
        _listeners[:] = [each for each in _listeners if each is not lines]


@cache
def _install() -> None:
    hooks = import_module("clonometer.runner.hooks.python.sitecustomize")
    if (library := library_of_hooks()) is not None and hooks.can_be_told():
        hooks.begin(str(library), _listeners)
