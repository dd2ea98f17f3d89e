"""Distributions that samples hold as ladders: what one value in so many reaches, ready to draw and to print."""

from __future__ import annotations

from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series_types import LadderSeries, LadderStep
from clonometer.run_document import LadderEntry

_NUMERIC = ("bytes", "count")
# Of the samples that have the longest value.
_LEAST_SHARE = 0.9


def ladder_series(estimates: RunEstimates) -> tuple[LadderSeries, ...]:
    """Gather the ladders that the catalogue names (``distributions``), of every cell that has one.

    In the order of the plan, those of a cell together in the order of the catalogue. A step that most samples have
    too few values for is left out: those that do have it are no fair choice. So is a ladder without steps.
    """
    ladders = []
    for row in (next(iter(rows.values())) for rows in estimates.cells.values()):
        for entry in estimates.about(row.workload).distributions:
            count = estimates.find(row.cell, entry.count)
            if count is None or not count.value:
                continue
            steps = [step for step in _steps(estimates, entry, row.cell) if step.one_in <= count.value]
            if steps:
                ladders.append(
                    LadderSeries(
                        workload=row.workload,
                        cell=row.cell,
                        of=str(estimates.about(row.workload).distributions_of),
                        name=entry.name,
                        condition=_condition(estimates, row),
                        count=count.value,
                        steps=tuple(steps),
                    )
                )
    return tuple(ladders)


def _condition(estimates: RunEstimates, row: RunEstimate) -> dict[str, int | str]:
    """What is said of the cell: axes off their default, and numbers that other cells of its workload vary."""
    changes = estimates.changes(row)
    others = estimates.rows_of(row.workload)
    varied = {
        axis
        for axis in row.condition
        if estimates.kind(axis) in _NUMERIC and len({other.condition.get(axis) for other in others}) > 1
    }
    return {axis: value for axis, value in row.condition.items() if axis in changes or axis in varied}


def _steps(estimates: RunEstimates, entry: LadderEntry, cell: str) -> tuple[LadderStep, ...]:
    steps = []
    rows = {quantity: estimates.find(cell, quantity) for quantity in entry.steps}
    most = max((row.n_samples for row in rows.values() if row is not None), default=0)
    for quantity, one_in in entry.steps.items():
        row = rows[quantity]
        # Samples with few values lack the rarer steps: a median over the others would be one of other events.
        if row is None or row.median_ns is None or row.n_samples < _LEAST_SHARE * most:
            continue
        steps.append(LadderStep(one_in, *row.median_with_ends))
    return tuple(steps)


SERIES = {"ladders": lambda estimates, _: ladder_series(estimates)}
