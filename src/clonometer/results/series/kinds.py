"""Threads against processes: rows that differ in the kind of their tasks alone."""

from __future__ import annotations

from collections.abc import Iterable

from clonometer.results.rows.evidence import Evidence
from clonometer.results.series_types import SIDES, TASK_KIND


def pairs_of_kinds(rows: Iterable[Evidence]) -> list[tuple[Evidence, Evidence]]:
    """Pair the rows of a quantity under one condition, in the order of the plan: that of threads, that of processes.

    Where tasks were free to run anywhere, each observed placement has a pair of its own.
    """
    sides: dict[tuple[object, ...], dict[str, Evidence]] = {}
    for row in rows:
        estimate = row.estimate
        if TASK_KIND in estimate.condition:
            others = tuple(item for item in estimate.condition.items() if item[0] != TASK_KIND)
            both = sides.setdefault((estimate.workload, estimate.quantity, estimate.free_placement, others), {})
            both[str(estimate.condition[TASK_KIND])] = row
    return [(both[SIDES[0]], both[SIDES[1]]) for both in sides.values() if set(SIDES) <= set(both)]
