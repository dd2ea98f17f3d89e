"""Axes that say of what kind another axis's things are, and so say nothing where there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clonometer.plan.cell import AxisValue


class Qualifier(NamedTuple):
    """What an axis qualifies, the value that says nothing, and the one value it needs (None: any but 0)."""

    of: str
    usual: AxisValue
    needs: AxisValue | None = None

    def says_nothing(self, condition: Mapping[str, AxisValue]) -> bool:
        """Whether a condition has none of the things that it qualifies."""
        there = condition.get(self.of)
        return there == 0 if self.needs is None else there is not None and there != self.needs

    @property
    def nowhere(self) -> str:
        """Where it says nothing, in words."""
        return f"where {self.of}=0" if self.needs is None else f"without {self.of}={self.needs}"


#: Axis -> what it qualifies.
QUALIFIES: Mapping[str, Qualifier] = {
    "page_kind": Qualifier("parent_bytes", "4k"),
    "pages": Qualifier("parent_bytes", "rewritten"),
    "vma_kind": Qualifier("vmas", "untouched"),
    "file_kind": Qualifier("open_files", "same"),
    "thread_state": Qualifier("parent_threads", "idle"),
    "idle_ns": Qualifier("caches", 100_000_000, "idle"),
    "thrash_bytes": Qualifier("caches", 128 << 20, "thrashed"),
    "thrash_cpu": Qualifier("caches", "same", "thrashed"),
}


def qualified_by(of: str) -> frozenset[str]:
    """The axes that say of what kind the things of an axis are.

    Examples
    --------
    >>> sorted(qualified_by("caches"))
    ['idle_ns', 'thrash_bytes', 'thrash_cpu']
    """
    return frozenset(axis for axis, one in QUALIFIES.items() if one.of == of)


def qualifies_nothing(condition: Mapping[str, AxisValue]) -> str | None:
    """Name an axis off its usual value whose things there are none of, or None.

    Examples
    --------
    >>> qualifies_nothing({"vma_kind": "touched", "vmas": 0}), qualifies_nothing({"vma_kind": "touched", "vmas": 9})
    ('vma_kind', None)
    >>> qualifies_nothing({"idle_ns": 1000, "caches": "hot"}), qualifies_nothing({"idle_ns": 1000, "caches": "idle"})
    ('idle_ns', None)
    """
    for axis, one in QUALIFIES.items():
        if condition.get(axis, one.usual) != one.usual and one.says_nothing(condition):
            return axis
    return None
