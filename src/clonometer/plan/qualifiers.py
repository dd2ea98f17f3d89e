"""Axes that say nothing where another one has no things that they are of, or in launches of some temperature."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.families import axes
from clonometer.families.types import Qualifier
from clonometer.plan.cell import AxisValue

#: Axis -> what it qualifies.
QUALIFIES: Mapping[str, Qualifier] = {
    name: axis.qualifies for name, axis in axes().items() if axis.qualifies is not None
}
#: Axis -> the temperature that it has no launches of, under which of its values, and why.
NO_LAUNCHES = {name: axis.no_launches for name, axis in axes().items() if axis.no_launches is not None}


def qualified_by(of: str) -> frozenset[str]:
    """The axes that say of what kind the things of an axis are.

    Examples
    --------
    >>> sorted(qualified_by("caches"))
    ['idle_ns', 'thrash_bytes', 'thrash_cpu']
    """
    return frozenset(axis for axis, qualifier in QUALIFIES.items() if qualifier.of == of)


def qualifies_nothing(condition: Mapping[str, AxisValue]) -> str | None:
    """Name an axis off its usual value whose things there are none of, or None.

    Examples
    --------
    >>> qualifies_nothing({"vma_kind": "touched", "vmas": 0}), qualifies_nothing({"vma_kind": "touched", "vmas": 9})
    ('vma_kind', None)
    >>> qualifies_nothing({"idle_ns": 1000, "caches": "hot"}), qualifies_nothing({"idle_ns": 1000, "caches": "idle"})
    ('idle_ns', None)
    """
    for axis, qualifier in QUALIFIES.items():
        if condition.get(axis, qualifier.usual) != qualifier.usual and qualifier.says_nothing(condition):
            return axis
    return None
