"""What was measured of a condition at other amounts of memory."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies.cells import parent_bytes, with_memory
from clonometer.studies.measured import Measurements


def scans(measured: Measurements, text: str) -> Sequence[tuple[int, str]]:
    """Cells that differ from ``text`` in the parent's memory alone, with that memory, rising."""
    bare = with_memory(text, None)
    cells = [(parent_bytes(other), other) for other in measured.cells if with_memory(other, None) == bare]
    return sorted(cells)


def largest(measured: Measurements, text: str) -> str | None:
    """Of those the one with the most memory that was measured; None where none has any."""
    loaded = [scanned for scanned in scans(measured, text) if scanned[0] > 0]
    return loaded[-1][1] if loaded else None
