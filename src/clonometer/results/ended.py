"""How each cell of a run ended, and what ended it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: docs/runfile.md: its intervals are as narrow as wanted, the time was up, it has the number that was asked for.
STOPPED_BY = ("target", "budget", "processes")


@dataclass(frozen=True)
class CellStatus:
    """How a cell of the plan ended: ``ok``, ``skipped``, ``failed`` or ``missing``, with the reason.

    ``stopped_by`` is what ended its measuring, one of `STOPPED_BY`; None where that is not known.
    """

    cell: str
    status: str
    reason: str | None
    stopped_by: str | None = None


def cell_statuses(metadata: Mapping[str, Any]) -> tuple[CellStatus, ...]:
    """Read how the cells of a run ended from its metadata, in the order of its plan."""
    return tuple(
        CellStatus(
            entry["cell"],
            entry["status"],
            entry["reason"],
            next((known for known in STOPPED_BY if known == entry.get("stopped_by")), None),
        )
        for entry in metadata["cells"]
    )
