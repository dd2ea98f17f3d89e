"""From rows to groups of valid samples: one for each quantity and observed placement of a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.errors import RunFileError
from clonometer.grouping import group_by
from clonometer.results.rows.alone import LONGEST_NS, Cores, cores_of, launches_that_count
from clonometer.results.rows.groups import (
    LEVELS,
    PLACEMENTS,
    MeasuredQuantity,
    ObservedCell,
    Rows,
    SampleGroup,
    column_names,
    count_outcomes,
    rows_of,
)
from clonometer.results.rows.large import is_large, observe_large
from clonometer.results.rows.source import PiecewiseSource, RunSource, null_mask
from clonometer.results.types import Alone
from clonometer.run_document import PlanCell, RunDocument
from clonometer.stats.quantiles import median

#: Fewer launches than this, alone or not, say nothing of how much longer the others take.
_FEWEST_COMPARED = 20


def observe(run: RunSource, cores: Cores | None = None) -> list[ObservedCell]:
    """Read and clean every cell of a run that has samples, in the order of the plan.

    ``cores`` is what `cores_of` says of the run, where that is known already.

    Raises
    ------
    RunFileError
        If a cell with samples is not in the plan or its workload not in the catalogue.
    """
    document = run.document
    planned = {entry.cell: entry for entry in document.plan.cells}
    measured = run.cells()
    strays = sorted(set(measured) - set(planned))
    if strays:
        raise RunFileError(f"the run has samples of {strays[0]!r}, which is not in its plan")
    cores = cores or cores_of(run)
    # In the order of the file, whose neighbours are read together.
    observed = {cell: _observe(run, document, planned[cell], cores) for cell in measured}
    return [observed[cell] for cell in planned if cell in observed]


def _observe(run: RunSource, document: RunDocument, planned: PlanCell, cores: Cores | None) -> ObservedCell:
    cell = planned.cell
    quantities, names = column_names(document, planned.workload)
    if isinstance(run, PiecewiseSource) and is_large(run, cell):
        groups, outcomes, skew = observe_large(run, cell, quantities, names, cores)
    else:
        groups, outcomes, skew = _observe_small(run, cell, quantities, names, cores)
    return ObservedCell(cell, planned.workload, planned.condition, planned.temperature, tuple(groups), outcomes, skew)


def _observe_small(
    run: RunSource, cell: str, quantities: Sequence[MeasuredQuantity], names: Sequence[str], cores: Cores | None
) -> tuple[list[SampleGroup], dict[str, int], int]:
    """Observe a cell at once: its groups, how its launches ended, and how many samples were left out."""
    columns = run.columns(cell, names)
    if not _in_order(columns):
        order = np.lexsort(tuple(columns[level] for level in reversed(LEVELS)))
        columns = {name: column[order] for name, column in columns.items()}
    rows = rows_of(columns, quantities)
    groups = sample_groups(columns, quantities, rows, cores)
    return groups, count_outcomes(columns, rows.failed), int(rows.skewed.sum())


def sample_groups(
    columns: Mapping[str, NDArray[Any]],
    quantities: Sequence[MeasuredQuantity],
    rows: Rows,
    cores: Cores | None = None,
) -> list[SampleGroup]:
    """Group the valid samples of columns that are in the order of process, block and sample."""
    moved = _migrations(columns)
    sensed = None if cores is None else cores.alone(columns)
    places = [_Place.of(columns, rows, code, sensed) for code in range(len(PLACEMENTS))]
    return [group for quantity in quantities for group in _groups(columns, quantity, places, moved)]


@dataclass(frozen=True)
class _Place:
    """The launches of a cell at one observed placement, each of shape (rows,): all, those that count, those alone."""

    name: str | None
    valid: NDArray[np.bool_]
    chosen: NDArray[np.bool_]
    alone: NDArray[np.bool_] | None
    known: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        columns: Mapping[str, NDArray[Any]],
        rows: Rows,
        code: int,
        sensed: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None,
    ) -> _Place:
        """Those at the placement of a code of `Rows`."""
        valid = rows.valid & (rows.placement == code)
        if sensed is None or not (valid & sensed[1]).any():
            return cls(PLACEMENTS[code], valid, valid, None, valid)
        chosen = None
        if _typical_ns(columns.get("reaped_ns"), valid) <= LONGEST_NS:
            chosen = launches_that_count(columns["process"], valid, sensed[0])
        return cls(PLACEMENTS[code], valid, valid if chosen is None else chosen, *sensed)

    def say_alone(self, column: NDArray[Any], usable: NDArray[np.bool_]) -> Alone | None:
        """Say how many launches were alone, and what the others take of what a column has."""
        if self.alone is None:
            return None
        known = usable & self.known
        alone, others = column[known & self.alone], column[known & ~self.alone]
        takes = None
        if min(alone.size, others.size) >= _FEWEST_COMPARED and median(alone) > 0 and median(others) > 0:
            takes = median(others) / median(alone)
        return Alone(alone.size, int(known.sum()), self.chosen is not self.valid, takes)


def _typical_ns(column: NDArray[Any] | None, valid: NDArray[np.bool_]) -> float:
    """The median of the launches of a row; 0 where nothing was reaped."""
    if column is None:
        return 0.0
    reaped = column[valid & ~null_mask(column)]
    return median(reaped) if reaped.size else 0.0


def process_groups(
    samples: Sequence[tuple[str, Mapping[str, Any]]], quantities: Sequence[MeasuredQuantity]
) -> Iterator[tuple[str, SampleGroup]]:
    """Group what one process measured, as results read it from the run file; groups without samples are left out.

    Parameters
    ----------
    samples
        The cell and the columns of each of its blocks (docs/protocol.md): arrays of shape (samples,), null as there.
    quantities
        Those of its workload, since what is valid rests on them together.

    Yields
    ------
    cell, group
    """
    for cell, parts in group_by(samples).items():
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        size = len(next(iter(joined.values()), ()))
        joined |= {level: np.zeros(size, np.int32) for level in LEVELS}
        groups = sample_groups(joined, quantities, rows_of(joined, quantities))
        yield from ((cell, group) for group in groups if group.n_samples)


def _in_order(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Whether samples are in the order of process, block and sample, as those of our files are."""
    tied = True
    for name in LEVELS:
        before, after = columns[name][:-1], columns[name][1:]
        if bool((tied & (after < before)).any()):
            return False
        tied = tied & (after == before)
    return True


def _migrations(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_] | None:
    """Tell which samples began on one CPU and ended on another."""
    if "cpu_before" not in columns or "cpu_after" not in columns:
        return None
    before, after = columns["cpu_before"], columns["cpu_after"]
    known = ~null_mask(before) & ~null_mask(after) & (before >= 0) & (after >= 0)
    return np.asarray(known & (before != after), dtype=np.bool_) if known.any() else None


def _groups(
    columns: Mapping[str, NDArray[Any]],
    quantity: MeasuredQuantity,
    places: Sequence[_Place],
    moved: NDArray[np.bool_] | None,
) -> list[SampleGroup]:
    column = columns.get(quantity.name)
    if column is None:
        column = np.full(places[0].valid.size, np.nan)
    usable = ~null_mask(column)
    scale = quantity.ns_per_unit or 1.0
    groups: list[SampleGroup] = []
    for place in places:
        chosen, valid = place.chosen & usable, place.valid & usable
        if chosen.any() or (place.name is None and not groups):
            made = {
                name: SampleGroup(
                    quantity,
                    place.name,
                    columns["process"][launches].astype(np.int64),
                    columns["block"][launches].astype(np.int64),
                    column[launches].astype(np.float64) * scale,
                    None if moved is None else moved[launches],
                )
                for name, launches in {"valid": valid, "chosen": chosen}.items()
                if name == "chosen" or place.chosen is not place.valid
            }
            groups.append(replace(made["chosen"], alone=place.say_alone(column, valid), whole=made.get("valid")))
    return groups
