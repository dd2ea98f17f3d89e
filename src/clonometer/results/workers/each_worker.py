"""What each worker of a program of workers did: its times, switches, faults and waits, by its number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clonometer.results.rows.groups import quantities_of
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.results.workers.types import WorkerRow, WorkersOfCell

#: Which worker a row is of; only cells that have it have workers.
WORKER = "worker"


def each_worker(run: RunSource, cells: Sequence[str]) -> list[WorkersOfCell]:
    """Describe every worker of these cells.

    Those of the cells that have workers and samples; executions that failed are left out. Medians are over
    executions of all processes: workers of one number are launched at the same place in the row.
    """
    document = run.document
    if WORKER not in document.columns:
        return []
    described = []
    for cell in cells:
        quantities = quantities_of(document.catalogue, document.columns, cell.partition("[")[0])
        units = {quantity.name: quantity.unit for quantity in quantities if quantity.detail}
        columns = run.columns(cell, ["process", WORKER, *units])
        worker = columns[WORKER]
        sound = ~null_mask(worker)
        # What is true of the whole stands with the first worker alone.
        others = worker > 0 if (worker > 0).any() else sound
        units = {name: unit for name, unit in units.items() if not null_mask(columns[name][others]).all()}
        if not units:
            continue
        rows = []
        for number in np.unique(worker[sound]).tolist():
            of_worker = worker == number
            values = {name: columns[name][of_worker & ~null_mask(columns[name])] for name in units}
            medians = {name: float(np.median(some)) if some.size else None for name, some in values.items()}
            rows.append(WorkerRow(number, medians))
        ran = int(max((~null_mask(columns[name]))[worker == rows[0].worker].sum() for name in units))
        described.append(WorkersOfCell(cell, ran, units, tuple(rows)))
    return described
