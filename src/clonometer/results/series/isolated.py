"""Failing workers, row by row: who survives and how soon it is known and mended, to say and to draw."""

from __future__ import annotations

from dataclasses import dataclass

from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
from clonometer.results.series_types import IsolationRow

FAMILY = "isolate"
ARRANGEMENTS = ("thread", "process", "pool")
TIMES = {"known_ns": "known", "replaced_ns": "replaced", "restored_ns": "restored"}
COUNTS = ("survivors", "damaged", "parent_alive", "ended_by_signal")
_USUAL_SIBLINGS = 3
#: What may be off its default.
_VARIED = frozenset(("fault", "task_kind"))


@dataclass(frozen=True)
class FaultOutcome:
    """One kind of failure in one arrangement of workers: the rows of its times, and its counts, by quantity."""

    fault: str
    arrangement: str
    cell: str
    siblings: int
    times: dict[str, RunEstimate]
    counts: dict[str, float | None]

    def count(self, quantity: str) -> int:
        """A count; 0 where it was not measured."""
        return int(self.counts.get(quantity) or 0)


@cached_per_run
def incidents_of(estimates: RunEstimates) -> tuple[FaultOutcome, ...]:
    """Gather what was measured of failing workers under the usual number of siblings.

    By fault in the order of the plan, and by arrangement in that of `ARRANGEMENTS`; empty where none was measured.
    """
    incidents = []
    for cell, rows in estimates.cells.items():
        known = {row.quantity: row for row in rows.values()}
        estimate = next(iter(known.values()))
        if estimate.family == FAMILY and set(estimates.changes(estimate)) <= _VARIED:
            incident = FaultOutcome(
                fault=str(estimate.condition["fault"]),
                arrangement=str(estimate.condition.get("task_kind", ARRANGEMENTS[-1])),
                cell=cell,
                siblings=int(estimate.condition.get("siblings", _USUAL_SIBLINGS)),
                times={name: known[name] for name in TIMES if name in known},
                counts={name: known[name].value for name in COUNTS if name in known},
            )
            incidents.append(incident)
    faults = list(dict.fromkeys(incident.fault for incident in incidents))

    def place(incident: FaultOutcome) -> tuple[int, int]:
        return faults.index(incident.fault), ARRANGEMENTS.index(incident.arrangement)

    return tuple(sorted(incidents, key=place))


def isolation_rows(estimates: RunEstimates) -> tuple[IsolationRow, ...]:
    """Every incident of a run (`incidents_of`), ready to draw."""
    return tuple(
        IsolationRow(
            fault=incident.fault,
            arrangement=incident.arrangement,
            siblings=incident.siblings,
            survivors=incident.count("survivors"),
            damaged=incident.count("damaged"),
            parent_alive=bool(incident.count("parent_alive")),
            signal=incident.count("ended_by_signal"),
            times_ns={
                name: incident.times[quantity].median_with_ends
                for quantity, name in TIMES.items()
                if quantity in incident.times
            },
        )
        for incident in incidents_of(estimates)
    )


SERIES = {"isolation": lambda estimates, _: isolation_rows(estimates)}
