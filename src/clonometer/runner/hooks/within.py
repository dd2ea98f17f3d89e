"""Which lines of this process's own Python make tasks, while somebody listens: for a census of what runs already."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

#: Who listens. A hook for audit events stays until the process ends, and does nothing while this is empty.
_listeners: list[deque[str]] = []
#: As of the file that programs write to: a listener that does not read must not fill the memory.
_MOST_LINES = 1_000_000


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
    noting = import_module("clonometer.runner.hooks.python.sitecustomize")
    sys.addaudithook(noting.make_hook(_write, _listeners))


def _write(line: bytes) -> None:
    text = line.decode("utf-8", "replace")
    for lines in tuple(_listeners):
        lines.append(text)
