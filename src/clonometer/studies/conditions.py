"""What was measured of a condition at other amounts of memory."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies.cells import parent_bytes, with_memory
from clonometer.studies.measured import Measurements


def scans(measured: Measurements, text: str) -> Sequence[tuple[int, str]]:
    """Cells that differ from ``text`` in the parent's memory alone, with that memory, rising."""
    bare = with_memory(text, None)
    found = [(parent_bytes(one), one) for one in measured.cells if with_memory(one, None) == bare]
    return sorted(found)


def largest(measured: Measurements, text: str) -> str | None:
    """Of those the one with the most memory that was measured; None where none has any."""
    found = [one for one in scans(measured, text) if one[0] > 0]
    return found[-1][1] if found else None
