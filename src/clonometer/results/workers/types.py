"""Workers as views get them: plain, frozen values."""

from __future__ import annotations

from dataclasses import dataclass

WORKERS_SCHEMA = 1


@dataclass(frozen=True)
class WorkerRow:
    """One worker of a cell.

    Attributes
    ----------
    worker
        Its number, from 0 in the order of launching.
    values
        Quantity -> median over all executions, in the quantity's unit; None where every one was null.
    """

    worker: int
    values: dict[str, float | None]


@dataclass(frozen=True)
class WorkersOfCell:
    """The workers of a cell: units by quantity, how many executions there were, and a row for each worker."""

    cell: str
    units: dict[str, str]
    executions: int
    rows: tuple[WorkerRow, ...]
