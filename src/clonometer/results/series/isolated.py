"""Failing workers, row by row: who lives on and how soon it is known and mended, ready to draw."""

from __future__ import annotations

from typing import Any

from clonometer.results.rows.evidence import Book
from clonometer.results.series.types import IsolationRow

FAMILY = "isolate"
ARRANGEMENTS = ("thread", "process", "pool")
TIMES = {"known_ns": "known", "replaced_ns": "replaced", "restored_ns": "restored"}
COUNTS = ("survivors", "damaged", "parent_alive", "ended_by_signal")
_USUAL_SIBLINGS = 3


def isolation_rows(book: Book) -> tuple[IsolationRow, ...]:
    """Gather what was measured of failing workers under the usual number of siblings.

    Returns
    -------
    tuple of IsolationRow
        By fault in the order of the plan, and by arrangement in that of `ARRANGEMENTS`; empty where none was measured.
    """
    cells: dict[str, dict[str, Any]] = {}
    for row in (*book.rows, *book.untimed):
        one = row.estimate
        if one.family != FAMILY or not set(book.changes(one)) <= {"fault", "task_kind"}:
            continue
        known = cells.setdefault(one.cell, {"estimate": one, "times": {}, "counts": {}})
        if one.quantity in TIMES and one.median_ns is not None:
            median = one.median_ns
            low, high = (median if end is None else end for end in (one.median_low_ns, one.median_high_ns))
            known["times"][TIMES[one.quantity]] = (median, low, high)
        elif one.quantity in COUNTS:
            known["counts"][one.quantity] = int(one.value or 0)
    rows = [_row(cell, known) for cell, known in cells.items()]
    faults = list(dict.fromkeys(row.fault for row in rows))
    return tuple(sorted(rows, key=lambda row: (faults.index(row.fault), ARRANGEMENTS.index(row.arrangement))))


def _row(cell: str, known: dict[str, Any]) -> IsolationRow:
    one, counts = known["estimate"], known["counts"]
    return IsolationRow(
        fault=str(one.condition["fault"]),
        arrangement=str(one.condition.get("task_kind", "pool")),
        cell=cell,
        siblings=int(one.condition.get("siblings", _USUAL_SIBLINGS)),
        survivors=counts.get("survivors", 0),
        damaged=counts.get("damaged", 0),
        parent_alive=bool(counts.get("parent_alive", 0)),
        signal=counts.get("ended_by_signal", 0),
        times_ns={name: known["times"][name] for name in TIMES.values() if name in known["times"]},
    )
