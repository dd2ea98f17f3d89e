"""Each worker of a program of workers on a terminal: a line a worker, or a line a cell where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from clonometer.results.workers.types import WorkersOfCell
from clonometer.units import format_figure, format_number, table_unit
from clonometer.views.terminal.columns import draw_table, words
from clonometer.views.terminal.text import wrap

#: More cells than these are summed up, a line each.
DETAILED_CELLS = 4
#: Quantity -> its heading; what is not here is headed by its name. Rarely looked at first to go where room is short.
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
_ORDER = tuple(_HEADS)
_LEFT_OUT = ("divisions", "whole_each_ns")
_DROPPABLE = ("disk", "works", "moves")
_LEAST_LABEL = 12
_NONE = "-"
_NOTE = (
    "Medians of all executions. begins, ends: from the beginning of the whole; works: the one to the other; CPU: time "
    "computed; waits: ready, but without a CPU; sleeps, pushed: voluntary and involuntary switches; faults, disk: page "
    "faults without and with the disk; moves: from CPU to CPU, at least."
)


def workers_table(cells: Sequence[WorkersOfCell], width: int, colour: bool) -> list[str]:
    """Draw the workers of cells: each of them where the cells are few, else the median worker of each cell."""
    lines: list[str] = []
    if len(cells) <= DETAILED_CELLS:
        for one in cells:
            lines += [*wrap(f"{one.cell}: {one.executions:,} executions", width)]
            lines += _table(
                "worker", [str(row.worker) for row in one.rows], [row.values for row in one.rows], width, colour
            )
            lines.append("")
    else:
        typical = [_typical(one) for one in cells]
        lines += wrap("The median worker of each cell; name a few with --only for each of their workers.", width)
        lines += [*_table("cell", _apart([one.cell for one in cells]), typical, width, colour), ""]
    return [*lines, *wrap(_NOTE, width)]


def _typical(one: WorkersOfCell) -> dict[str, float | None]:
    known = {name: [row.values[name] for row in one.rows] for name in one.units}
    values = {name: [value for value in own if value is not None] for name, own in known.items()}
    return {name: median(own) if own else None for name, own in values.items()}


def _table(
    head: str, labels: Sequence[str], rows: Sequence[dict[str, float | None]], width: int, colour: bool
) -> list[str]:
    names = [name for name in _ORDER if any(name in row for row in rows)]
    names += [name for name in rows[0] if name not in (*_ORDER, *_LEFT_OUT)]
    columns = {"label": words(head, labels)}
    for name in names:
        title = _HEADS.get(name, name.removesuffix("_ns").replace("_", " "))
        values = [row.get(name) for row in rows]
        if name.endswith("_ns"):
            unit = table_unit([max((value for value in values if value is not None), default=None)])
            columns[title] = _right(f"{title}, {unit}", [_time(value, unit) for value in values])
        else:
            columns[title] = _right(title, [_NONE if value is None else format_number(value) for value in values])
    return draw_table(columns, width, _DROPPABLE, _LEAST_LABEL, colour)


def _time(value: float | None, unit: str) -> str:
    return _NONE if value is None else format_figure(value, 2, unit)


def _right(head: str, texts: Sequence[str]) -> list[str]:
    wide = max(map(len, (head, *texts)))
    return [f"{text:>{wide}}" for text in (head, *texts)]


def _apart(cells: Sequence[str]) -> list[str]:
    """Name cells by what not all of them have."""
    conditions = [cell.partition("[")[2].removesuffix("]").split(",") for cell in cells]
    common = set.intersection(*map(set, conditions))
    return [
        ",".join(one.removeprefix("task_kind=") for one in own if one not in common) or "as by default"
        for own in conditions
    ]
