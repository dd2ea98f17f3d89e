"""Each worker of a program of workers: a line a worker, or a line a cell where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from clonometer.families import families, worker_columns
from clonometer.families.types import WorkerColumn
from clonometer.results.workers.types import WorkersOfCell, WorkersOfRun
from clonometer.units import format_figure, format_number, table_unit
from clonometer.views.document import Document, DocumentBlock, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table
from clonometer.words import cell_parts

#: More cells than these are summed up, a line each.
DETAILED_CELLS = 4
_LEAST_LABEL = 12


def workers_document(run: WorkersOfRun) -> Document:
    """Make a document of the workers of a run: each of them where the cells are few, else each cell's median worker."""
    groups: list[list[DocumentBlock]] = []
    cells = run.cells
    if len(cells) <= DETAILED_CELLS:
        for cell in cells:
            table = _workers_table("worker", [str(row.worker) for row in cell.rows], [row.values for row in cell.rows])
            groups.append([Paragraph(f"{cell.cell}: {cell.executions:,} executions"), TableBlock(table)])
    else:
        about = "The median worker of each cell; --only with a few cells shows each of their workers."
        table = _workers_table("cell", _apart([cell.cell for cell in cells]), [_typical(cell) for cell in cells])
        groups.append([Paragraph(about), TableBlock(table)])
    shown = {name for cell in cells for name in cell.units}
    notes = [known.worker_note for known in families() if shown & set(known.worker_columns)]
    lead = " ".join(["Medians of all executions.", *notes])
    return Document("show --workers", "What each worker did", lead, [*groups, [Paragraph(lead)]], least_width=1)


def _typical(cell: WorkersOfCell) -> dict[str, float | None]:
    measured = {name: [value for row in cell.rows if (value := row.values[name]) is not None] for name in cell.units}
    return {name: median(values) if values else None for name, values in measured.items()}


def _workers_table(head: str, labels: Sequence[str], rows: Sequence[dict[str, float | None]]) -> Table:
    known = worker_columns()
    present = dict.fromkeys(name for row in rows for name in row)
    columns = [Column(head, labels, least=_LEAST_LABEL)]
    for name in [*(name for name in known if name in present), *(name for name in present if name not in known)]:
        title, drop = known.get(name, WorkerColumn(name.removesuffix("_ns").replace("_", " ")))
        if not title:
            continue
        values = [row.get(name) for row in rows]
        texts = [MISSING if value is None else format_number(value) for value in values]
        if name.endswith("_ns"):
            unit = table_unit([max((value for value in values if value is not None), default=None)])
            title = f"{title}, {unit}"
            texts = [MISSING if value is None else format_figure(value, 2, unit) for value in values]
        columns.append(Column(title, texts, "right", drop=drop))
    return Table(columns)


def _apart(cells: Sequence[str]) -> list[str]:
    """Name cells by what not all of them have."""
    conditions = [cell_parts(cell)[1] for cell in cells]
    common = set.intersection(*map(set, conditions))
    return [
        ",".join(axis.removeprefix("task_kind=") for axis in axes if axis not in common) or "as by default"
        for axes in conditions
    ]
