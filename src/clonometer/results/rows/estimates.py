"""Groups of samples to estimates: the rows of every table."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clonometer.families import CALL, family
from clonometer.grouping import group_by
from clonometer.results.rows.description import describe
from clonometer.results.rows.groups import ObservedCell, SampleGroup
from clonometer.results.rows.outliers import block_causes, find_outliers
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.rows.runtimes import collector_pauses, switches_per_launch, tasks_created
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.results.rows.steady import steady_state
from clonometer.results.rows.warnings import FEW_PROCESSES, estimate_warnings, frequency_drift
from clonometer.run_document import BlockEntry, ClockEntry, RunDocument, WorkloadEntry
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import quantile_interval

P99_LEAST_SAMPLES = 300
_PER_OPERATION_RESOLUTION_NS = 0.1
# By the catalogue's call_returns_contains.
_NOT_RANKABLE = {
    "child_life": "the call contains the child's whole life, so it does not say how soon the parent continues",
    "answer": "the waking call may contain the worker's whole answer, not only the way to its return",
}


def estimate_cells(
    cells: Iterable[ObservedCell], document: RunDocument, *, described: bool = True
) -> Iterator[RunEstimate]:
    """Estimate every quantity of cells at every observed placement.

    With ``described`` they say how their samples lie, too, with their warnings: half of the work, which comparisons
    of runs do not need.

    Yields
    ------
    RunEstimate
        In the order of the cells' ``groups``. That of a group without samples has Nones, and in place of its
        processes a single zero that nobody may use: `RunEstimates` is given only those with samples.
    """
    starts = document.started_ns
    blocks = group_by((block.cell, block) for block in document.blocks)
    wanted = {cell: target.limits.get("processes") for target in document.plan.targets for cell in target.cells}
    for cell in cells:
        entry = document.catalogue.workload(cell.workload)
        planned = wanted.get(cell.cell)
        few = planned if isinstance(planned, int) else FEW_PROCESSES
        recorded = _Recorded(entry, blocks.get(cell.cell, []), starts, document.clock, few)
        yield from _rows_of(cell, recorded, described=described)


class _Recorded(NamedTuple):
    """What a run recorded of a cell besides samples: the catalogue's entry, its blocks, starts, and the clock.

    ``wanted`` is how many processes its plan gives it.
    """

    entry: WorkloadEntry
    blocks: Sequence[BlockEntry]
    starts: Mapping[int, float]
    clock: ClockEntry
    wanted: int


def _rows_of(observed: ObservedCell, recorded: _Recorded, *, described: bool) -> list[RunEstimate]:
    entry, blocks, starts, clock, wanted = recorded
    frequencies_mhz = effective_frequencies_mhz(blocks)
    drift = frequency_drift(frequencies_mhz, observed.cell) if described else None
    causes = block_causes(blocks, bool(entry.temperatures)) if described else {}
    resolutions_ns = {group.quantity: _resolution_ns(group, clock) for group in observed.groups}
    whole = {group.quantity.name: 0 for group in observed.groups}
    for group in observed.groups:
        whole[group.quantity.name] += group.n_samples
    rows = []
    for group in observed.groups:
        processes = _processes(group, starts)
        fields = _numbers(group, processes)
        if described and group.n_samples and group.quantity.ns_per_unit is not None:
            fields |= describe(group, processes)
            if fields["drift"] is not None:
                # Order statistics take processes as independent: what depends on time has no 95% interval.
                fields |= {"median_low_ns": None, "median_high_ns": None}
            # Of a very large group every k-th sample is at hand, which counts nothing.
            if group.totals is None:
                fields["outliers"] = find_outliers(group, causes)
            if _is_of_language(entry.family, group.quantity.name):
                fields["tasks_created"] = tasks_created(blocks)
                fields["switches_per_launch"] = switches_per_launch(blocks)
                # Later launches are those in which a runtime may still compile and collect.
                if observed.temperature == "warm":
                    fields["steady"] = steady_state(group)
                    fields["pauses"] = collector_pauses(group, observed.groups, blocks)
        contains = entry.call_returns_contains if group.quantity.stage == CALL else None
        estimate = RunEstimate(
            cell=observed.cell,
            workload=observed.workload,
            condition=observed.condition,
            temperature=observed.temperature,
            stage=group.quantity.stage,
            placement=group.placement,
            quantity=group.quantity.name,
            unit=group.quantity.unit,
            effective_mhz=statistics.median(frequencies_mhz) if frequencies_mhz else None,
            resolution_ns=resolutions_ns[group.quantity],
            family=entry.family,
            rankable=contains is None,
            not_rankable_reason=_NOT_RANKABLE.get(contains, f"the call contains {contains}") if contains else None,
            outcomes=observed.outcomes,
            clock_skew=observed.clock_skew,
            signed=group.quantity.signed,
            detail=group.quantity.detail,
            alone=group.alone,
            processes=processes,
            **fields,
        )
        if group.whole is not None:
            every = _processes(group.whole, starts)
            estimate = replace(estimate, of_all=replace(estimate, processes=every, **_numbers(group.whole, every)))
        if described:
            warnings = estimate_warnings(estimate, group, whole[group.quantity.name], clock, drift, wanted=wanted)
            estimate = replace(estimate, warnings=warnings)
        rows.append(estimate)
    return rows


def _is_of_language(family_name: str, quantity: str) -> bool:
    """Whether a quantity is what a runtime takes for something that it is asked to do."""
    return quantity in {task.quantity for task in family(family_name).language_tasks.values()}


def _numbers(group: SampleGroup, processes: Processes) -> dict[str, Any]:
    """Return the fields of an estimate that every row has: its counts and quantiles."""
    size = group.n_samples
    fields: dict[str, Any] = dict.fromkeys(("median_ns", "median_low_ns", "median_high_ns", "p99_ns", "min_ns"))
    fields |= {"n_samples": size, "n_processes": group.n_processes, "p99_reason": None}
    if size == 0:
        return fields | {"p99_reason": "no sample"}
    interval = quantile_interval(processes.values)
    # Of one process it is not known what others would have given.
    low, high = (interval.low, interval.high) if interval.n > 1 else (None, None)
    if group.quantity.ns_per_unit is None:
        value = {"value": interval.value, "value_low": low, "value_high": high}
        return fields | value | {"p99_reason": f"its unit is {group.quantity.unit}, not a time"}
    fields |= {"median_ns": interval.value, "median_low_ns": low, "median_high_ns": high}
    if size < P99_LEAST_SAMPLES:
        return fields | {"p99_reason": f"{size} samples; {P99_LEAST_SAMPLES} are needed"}
    return fields | {"p99_ns": group.quantile(0.99)}


def _processes(group: SampleGroup, starts: Mapping[int, float]) -> Processes:
    """The median of each process."""
    if group.n_samples == 0:
        return Processes.of([0.0])
    known = [starts.get(process) for process in group.processes]
    started_ns = None if None in known else np.array([start or 0.0 for start in known])
    medians = group.process_medians if group.totals is None else group.totals.medians
    return replace(Processes.of(medians, started_ns), numbers=tuple(group.processes))


def _resolution_ns(group: SampleGroup, clock: ClockEntry) -> float:
    # A cost per operation is a mean over many of them, finer than one tick of the clock.
    if group.quantity.type == "f64":
        return _PER_OPERATION_RESOLUTION_NS
    return max(1.0, 1e9 / clock.clock_hz) if clock.clock_hz else 1.0
