"""Threads against processes: rows that differ in the kind of their tasks alone."""

from __future__ import annotations

from collections.abc import Iterable

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.series_types import SIDES, TASK_KIND


def pairs_of_kinds(rows: Iterable[RunEstimate]) -> list[tuple[RunEstimate, RunEstimate]]:
    """Pair the rows of a quantity under one condition, in the order of the plan: that of threads, that of processes.

    Where tasks were free to run anywhere, each observed placement has a pair of its own.
    """
    sides: dict[tuple[object, ...], dict[str, RunEstimate]] = {}
    for row in rows:
        if TASK_KIND in row.condition:
            others = tuple(item for item in row.condition.items() if item[0] != TASK_KIND)
            both = sides.setdefault((row.workload, row.quantity, row.free_placement, others), {})
            both[str(row.condition[TASK_KIND])] = row
    return [(both[SIDES[0]], both[SIDES[1]]) for both in sides.values() if set(SIDES) <= set(both)]
