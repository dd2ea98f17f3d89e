"""What rows are grouped into: valid samples of one quantity at one observed placement; and which rows are valid."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.results.rows.source import null_mask
from clonometer.results.types import Alone
from clonometer.run_document import CatalogueEntry, ColumnEntry, QuantityEntry, RunDocument
from clonometer.stats.digest import Digest
from clonometer.stats.ess import effective_sample_size_of_medians
from clonometer.stats.quantiles import quantile_of_ordered
from clonometer.stats.segments import segment_medians

_TIME_UNITS = {"ns": 1.0, "us": 1e3}
PLACEMENTS = ("same_cpu", "other_cpu", None)
LEVELS = ("process", "block", "sample")
#: What additions took right before and after a launch.
ADDITIONS_NS = ("additions_before_ns", "additions_after_ns")


@dataclass(frozen=True)
class MeasuredQuantity:
    """A measured column: ``stage`` is None outside launches, ``type`` one of docs/protocol.md.

    ``signed``: a value below zero means something, so it is no sign of clocks that disagree. ``detail``: it explains
    another quantity of its workload.
    """

    name: str
    unit: str
    stage: str | None
    type: str
    signed: bool = False
    detail: bool = False

    @property
    def ns_per_unit(self) -> float | None:
        """Nanoseconds in one unit; None where the unit is no time."""
        return _TIME_UNITS.get(self.unit)

    @property
    def is_time(self) -> bool:
        """Whether the unit is one of time."""
        return self.unit in _TIME_UNITS


@dataclass(frozen=True)
class Totals:
    """What was counted of all samples of a very large group.

    ``digest`` counts them in the column's unit, ``scale`` turns that into the group's. ``step``: one of so many samples
    is kept. ``processes``, ``medians`` and ``means`` have an entry a process, in order, in the group's unit.
    """

    digest: Digest
    scale: float
    step: int
    processes: tuple[int, ...]
    medians: tuple[float, ...]
    means: tuple[float, ...]


@dataclass(frozen=True)
class SampleGroup:
    """Valid samples of one quantity at one observed placement, in the order of measuring.

    ``process``, ``block`` and ``values`` have shape (samples,); values are float64, in ns where the unit is a
    time, without NaN. Of a very large group they are every k-th sample, and ``totals`` has what was counted of all.
    Where enough launches had their core to themselves they are of these only, as ``alone`` says; ``whole`` has all
    then.
    """

    quantity: MeasuredQuantity
    placement: str | None
    process: NDArray[np.int64]
    block: NDArray[np.int64]
    values: NDArray[np.float64]
    migrated: NDArray[np.bool_] | None = None  # shape (samples,): the caller's CPU changed; None where it is not known
    totals: Totals | None = None
    alone: Alone | None = None
    whole: SampleGroup | None = None

    @property
    def n_samples(self) -> int:
        """How many samples it has, kept or not."""
        return int(self.values.size) if self.totals is None else self.totals.digest.count

    @property
    def n_processes(self) -> int:
        """How many processes they came from."""
        return len(self.processes)

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that they came from, in order."""
        return self.process[self.process_starts].tolist() if self.totals is None else list(self.totals.processes)

    @cached_property
    def ordered(self) -> NDArray[np.float64]:
        """The values, rising: quantiles, spread and modes all need them so."""
        return np.sort(self.values)

    @cached_property
    def process_starts(self) -> NDArray[np.intp]:
        """Where each process starts in ``values``, shape (processes,)."""
        return segment_starts(self.process)

    @cached_property
    def block_starts(self) -> NDArray[np.intp]:
        """Where each block of each process starts in ``values``, shape (blocks,)."""
        return segment_starts(self.process, self.block)

    @cached_property
    def effective_samples(self) -> float:
        """How many independent samples it is worth for its median: the sum over its blocks; at least one sample."""
        return effective_sample_size_of_medians(self.values, self.block_starts, self.block_medians)

    @cached_property
    def block_medians(self) -> NDArray[np.float64]:
        """Median of each block's samples, shape (blocks,)."""
        return segment_medians(self.values, self.block_starts)

    @cached_property
    def process_medians(self) -> NDArray[np.float64]:
        """Median of each process's samples, shape (processes,)."""
        return segment_medians(self.values, self.process_starts)

    def quantile(self, probability: float) -> float:
        """A quantile of all samples, interpolated linearly between two of them."""
        if self.totals is None:
            return quantile_of_ordered(self.ordered, probability)
        return self.totals.digest.quantile(probability) * self.totals.scale


@dataclass(frozen=True)
class ObservedCell:
    """What was observed in one cell.

    Attributes
    ----------
    cell, workload, condition, temperature
        As in the plan.
    groups
        By quantity in the order of the catalogue, then by placement; a quantity without any valid sample has
        one group without values.
    outcomes
        How many launches ended how: ``ok`` and names of errno.
    clock_skew
        How many samples were left out because a stage was negative or later than ``reaped``.
    """

    cell: str
    workload: str
    condition: Mapping[str, int | str]
    temperature: str | None
    groups: tuple[SampleGroup, ...]
    outcomes: Mapping[str, int]
    clock_skew: int


def segment_starts(*levels: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where a new segment starts: at the first sample, and wherever one of the levels changes."""
    changes = np.ones(levels[0].size, np.bool_)
    for index, level in enumerate(levels):
        differs = level[1:] != level[:-1]
        changes[1:] = changes[1:] | differs if index else differs
    return np.flatnonzero(changes)


def quantities_of(
    catalogue: CatalogueEntry, columns: Mapping[str, ColumnEntry], workload: str
) -> list[MeasuredQuantity]:
    """List the quantities that the catalogue names for a workload and that the run has a column for.

    Raises
    ------
    RunFileError
        If the catalogue does not have the workload.
    """
    present = [name for name in catalogue.workload(workload).quantities if name in columns]
    described = {name: catalogue.quantities.get(name, QuantityEntry(unit=columns[name].unit)) for name in present}
    return [
        MeasuredQuantity(name, columns[name].unit, entry.stage, columns[name].type, entry.signed, entry.detail)
        for name, entry in described.items()
    ]


def column_names(document: RunDocument, workload: str) -> tuple[list[MeasuredQuantity], list[str]]:
    """The quantities of a workload, and every column that is needed to judge its rows."""
    quantities = quantities_of(document.catalogue, document.columns, workload)
    judged = ("errno", "cpu_before", "cpu_after", "cpu_child", "reaped_ns", *ADDITIONS_NS)
    extra = [name for name in judged if name in document.columns]
    return quantities, list(dict.fromkeys([*LEVELS, *(quantity.name for quantity in quantities), *extra]))


@dataclass(frozen=True)
class Rows:
    """Which rows count, each of shape (rows,); ``placement`` is a place in `PLACEMENTS`."""

    failed: NDArray[np.bool_]
    skewed: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    placement: NDArray[np.int8]


def rows_of(columns: Mapping[str, NDArray[Any]], quantities: Sequence[MeasuredQuantity]) -> Rows:
    """Judge rows: failed launches, skewed clocks, and where the tasks ran."""
    failed = failed_launches(columns)
    skewed = _skewed(columns, quantities) & ~failed
    return Rows(failed, skewed, ~failed & ~skewed, placements(columns))


def failed_launches(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Find the rows of launches that failed; none where the workload launches nothing."""
    if "errno" not in columns:
        return np.zeros(_n_rows(columns), dtype=np.bool_)
    code = columns["errno"]
    return np.asarray((code != 0) & ~null_mask(code))


def _n_rows(columns: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(columns.values()), ()))


def count_outcomes(columns: Mapping[str, NDArray[Any]], failed: NDArray[np.bool_]) -> dict[str, int]:
    """Count rows by how they ended."""
    outcomes = {"ok": int((~failed).sum())}
    if failed.any():
        codes, counts = np.unique(columns["errno"][failed], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            outcomes[errno.errorcode.get(code, f"errno {code}")] = count
    return outcomes


def _skewed(columns: Mapping[str, NDArray[Any]], quantities: Sequence[MeasuredQuantity]) -> NDArray[np.bool_]:
    """Find rows with a negative duration or a stage after reaping: clocks of two CPUs that disagree."""
    reaped = columns.get("reaped_ns")
    skewed = np.zeros(columns["process"].size, dtype=np.bool_)
    for quantity in quantities:
        if quantity.name not in columns or quantity.ns_per_unit is None:
            continue
        column = columns[quantity.name]
        known = ~null_mask(column)
        if not quantity.signed:
            skewed |= known & (column < 0)
        if quantity.stage is not None and reaped is not None:
            skewed |= known & ~null_mask(reaped) & (column > reaped)
    return skewed


def placements(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int8]:
    """Code where each sample's task ran: 0 same CPU, 1 other CPU, 2 not observed."""
    if "cpu_before" not in columns or "cpu_child" not in columns:
        return np.full(_n_rows(columns), 2, np.int8)
    before, child = columns["cpu_before"], columns["cpu_child"]
    unknown = null_mask(before) | null_mask(child) | (before < 0) | (child < 0)
    return np.where(unknown, np.int8(2), np.where(before == child, np.int8(0), np.int8(1)))
