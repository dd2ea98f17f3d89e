"""Each worker of a program of workers on a terminal: a line a worker, or a line a cell where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from clonometer.results.workers.types import WorkersOfCell, WorkersOfRun
from clonometer.units import format_figure, format_number, table_unit
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import rendered, wrap
from clonometer.words import cell_parts

#: More cells than these are summed up, a line each.
DETAILED_CELLS = 4
#: Quantity -> its heading, in the order of the columns; others follow, headed by their names.
_HEADS = {
    "worker_begins_ns": "begins",
    "worker_ends_ns": "ends",
    "worker_works_ns": "works",
    "worker_cpu_ns": "CPU",
    "run_queue_wait_ns": "waits",
    "voluntary_switches": "sleeps",
    "involuntary_switches": "pushed",
    "minor_faults": "faults",
    "major_faults": "disk",
    "migrations": "moves",
}
_LEFT_OUT = ("divisions", "whole_each_ns")
#: Quantity -> its turn to go where a terminal is too narrow.
_DROP = {"major_faults": 1, "worker_works_ns": 2, "migrations": 3}
_LEAST_LABEL = 12
_NOTE = (
    "Medians of all executions. begins, ends: from the beginning of the whole; works: the one to the other; CPU: time "
    "computed; waits: ready, but without a CPU; sleeps, pushed: voluntary and involuntary switches; faults, disk: page "
    "faults without and with the disk; moves: from CPU to CPU, at least."
)


@rendered(least_width=1)
def render_workers(run: WorkersOfRun, *, width: int, colour: bool) -> list[str]:
    """Draw the workers of a run."""
    return workers_table(run.cells, width, colour)


def workers_table(cells: Sequence[WorkersOfCell], width: int, colour: bool) -> list[str]:
    """Draw the workers of cells: each of them where the cells are few, else the median worker of each cell."""
    lines: list[str] = []
    if len(cells) <= DETAILED_CELLS:
        for cell in cells:
            lines += [*wrap(f"{cell.cell}: {cell.executions:,} executions", width)]
            table = _table("worker", [str(row.worker) for row in cell.rows], [row.values for row in cell.rows])
            lines += [*draw_table(table, width, colour), ""]
    else:
        lines += wrap("The median worker of each cell; name a few with --only for each of their workers.", width)
        table = _table("cell", _apart([cell.cell for cell in cells]), [_typical(cell) for cell in cells])
        lines += [*draw_table(table, width, colour), ""]
    return [*lines, *wrap(_NOTE, width)]


def _typical(cell: WorkersOfCell) -> dict[str, float | None]:
    measured = {name: [value for row in cell.rows if (value := row.values[name]) is not None] for name in cell.units}
    return {name: median(values) if values else None for name, values in measured.items()}


def _table(head: str, labels: Sequence[str], rows: Sequence[dict[str, float | None]]) -> Table:
    names = [name for name in _HEADS if any(name in row for row in rows)]
    names += [name for name in rows[0] if name not in (*_HEADS, *_LEFT_OUT)]
    columns = [Column(head, labels, least=_LEAST_LABEL)]
    for name in names:
        title = _HEADS.get(name, name.removesuffix("_ns").replace("_", " "))
        values = [row.get(name) for row in rows]
        texts = [MISSING if value is None else format_number(value) for value in values]
        if name.endswith("_ns"):
            unit = table_unit([max((value for value in values if value is not None), default=None)])
            title = f"{title}, {unit}"
            texts = [MISSING if value is None else format_figure(value, 2, unit) for value in values]
        columns.append(Column(title, texts, "right", drop=_DROP.get(name, 0)))
    return Table(columns)


def _apart(cells: Sequence[str]) -> list[str]:
    """Name cells by what not all of them have."""
    conditions = [cell_parts(cell)[1] for cell in cells]
    common = set.intersection(*map(set, conditions))
    return [
        ",".join(axis.removeprefix("task_kind=") for axis in axes if axis not in common) or "as by default"
        for axes in conditions
    ]
