"""Somebody who waits and keeps what is said."""

from __future__ import annotations

from clonometer.runner.interfaces import Progress


class Heard(Progress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str, *, to_copy: bool = False) -> None:
        """Keep a line."""
        self.lines.append(line)
