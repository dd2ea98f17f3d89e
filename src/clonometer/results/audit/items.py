"""What items are made of: typed access to host facts of any machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from clonometer.results.audit.types import NOTE, AuditItem

_Kind = TypeVar("_Kind")


class Facts:
    """Host facts by type: None for what is missing, null or of another type."""

    def __init__(self, facts: Mapping[str, object]) -> None:
        self._facts = facts

    def get(self, key: str, kind: type[_Kind]) -> _Kind | None:
        """A fact of that type."""
        value = self._facts.get(key)
        return value if isinstance(value, kind) else None

    def number(self, key: str) -> float | None:
        """Any number."""
        value = self._facts.get(key)
        return float(value) if isinstance(value, int | float) else None

    def unlimited(self, key: str) -> bool:
        """Whether null stands for no limit here, and not for a fact that could not be read."""
        return key in self._facts and self._facts[key] is None and f"lacks.{key}" not in self._facts

    def why_unknown(self, key: str) -> str:
        """Why a fact is not known."""
        return str(self._facts.get(f"lacks.{key}") or "not recorded")

    def flags(self) -> dict[str, str]:
        """The kernel's command line as far as it moves launches: name -> value."""
        words = self.get("kernel.cmdline_flags", list) or []
        return {name: value for name, _, value in (word.partition("=") for word in words)}


def unknown(facts: Facts, key: str, id_: str, title: str, effect: str) -> AuditItem:
    """Make the item of a fact that the machine does not tell."""
    return AuditItem(id_, title, f"unknown: {facts.why_unknown(key)}", NOTE, effect, known=False)
