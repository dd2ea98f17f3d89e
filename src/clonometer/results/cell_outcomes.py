"""How each cell of a run ended, and what ended it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Mark, OneOf
from clonometer.run_document import RunDocument

#: docs/runfile.md: its intervals are as narrow as wanted, the time was up, it has the number that was asked for.
STOPPED_BY = ("target", "budget", "processes")


@dataclass(frozen=True)
class CellOutcome:
    """How a cell of the plan ended, with the reason."""

    cell: str
    status: Annotated[str, OneOf(("ok", "skipped", "failed", "missing"))]
    reason: str | None
    stopped_by: Annotated[
        str | None,
        OneOf(STOPPED_BY),
        Mark.OPTIONAL,
        "What ended its measuring: intervals as narrow as wanted, the time, or the number of processes asked for; None "
        "where that is not known.",
    ] = None


def cell_outcomes(document: RunDocument) -> tuple[CellOutcome, ...]:
    """How the cells of a run ended, in the order of its plan."""
    return tuple(
        CellOutcome(
            entry.cell, entry.status, entry.reason, entry.stopped_by if entry.stopped_by in STOPPED_BY else None
        )
        for entry in document.cells
    )
