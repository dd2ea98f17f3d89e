"""How each cell of a run ended, and what ended it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from clonometer.records import Known, Mark

#: docs/runfile.md: its intervals are as narrow as wanted, the time was up, it has the number that was asked for.
STOPPED_BY = ("target", "budget", "processes")


@dataclass(frozen=True)
class CellStatus:
    """How a cell of the plan ended, with the reason."""

    cell: str
    status: Annotated[str, Known(("ok", "skipped", "failed", "missing"))]
    reason: str | None
    stopped_by: Annotated[
        str | None,
        Known(STOPPED_BY),
        Mark.OPTIONAL,
        "What ended its measuring: intervals as narrow as wanted, the time, or the number of processes asked for; None "
        "where that is not known.",
    ] = None


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
