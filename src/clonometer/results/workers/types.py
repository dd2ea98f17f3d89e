"""Workers as views get them, and as ``clonometer show --workers --json`` writes them: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, Key, version

WORKERS_SCHEMA = 1


@dataclass(frozen=True)
class WorkerRow:
    """One worker of a cell."""

    worker: Annotated[Count, "Its number, from 0 in the order of launching."]
    values: Annotated[
        dict[str, float | None],
        "The median of each quantity over all executions, in its unit; None where every one was null.",
    ]


@dataclass(frozen=True)
class WorkersOfCell:
    """The workers of a cell, and how many executions there were."""

    cell: str
    executions: Count
    units: Annotated[Mapping[str, str], "The unit of each quantity, for example ns or count."]
    rows: Annotated[tuple[WorkerRow, ...], Key("workers"), Ge(1)]


@dataclass(frozen=True)
class WorkersOfRun:
    """What each worker of a work program did, by worker number."""

    schema = version(WORKERS_SCHEMA)

    run: Annotated[str, "The run file, as it was named."]
    cells: Annotated[tuple[WorkersOfCell, ...], Ge(1)]
