"""Axes that say of what kind another axis's things are, and so say nothing where there are none."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.plan.cell import AxisValue

#: Axis -> the axis that counts or sizes what it qualifies, and the value that says nothing.
QUALIFIES: Mapping[str, tuple[str, AxisValue]] = {
    "page_kind": ("parent_bytes", "4k"),
    "pages": ("parent_bytes", "rewritten"),
    "vma_kind": ("vmas", "untouched"),
    "file_kind": ("open_files", "same"),
    "thread_state": ("parent_threads", "idle"),
}


def qualifies_nothing(condition: Mapping[str, AxisValue]) -> str | None:
    """Name an axis off its usual value whose things there are none of, or None.

    Examples
    --------
    >>> qualifies_nothing({"vma_kind": "touched", "vmas": 0}), qualifies_nothing({"vma_kind": "touched", "vmas": 9})
    ('vma_kind', None)
    """
    for axis, (counted, usual) in QUALIFIES.items():
        if condition.get(axis, usual) != usual and condition.get(counted) == 0:
            return axis
    return None
