"""Groups of samples to estimates: the rows of every table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clonometer.results.rows.description import describe, median_interval
from clonometer.results.rows.evidence import Evidence
from clonometer.results.rows.groups import Group, ObservedCell
from clonometer.results.rows.outliers import find_outliers
from clonometer.results.rows.warnings import estimate_warnings
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes

P99_LEAST_SAMPLES = 300
_PER_OPERATION_RESOLUTION_NS = 0.1
# By the catalogue's call_returns_contains.
_NOT_RANKABLE = {
    "child_life": "the call contains the child's whole life, so it says nothing of how soon the parent goes on",
    "answer": "the waking call may contain the worker's whole answer, not only the way to its return",
}


def kinds_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The catalogue's kind of every axis: ``bytes``, ``count``, ``choice`` or ``text``."""
    return {name: axis["type"] for name, axis in metadata["catalogue"]["axes"].items()}


def facts_of(metadata: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What the catalogue says of every workload, by its id."""
    return {entry["id"]: entry for entry in metadata["catalogue"]["workloads"]}


def defaults_of(metadata: Mapping[str, Any]) -> dict[str, int | str]:
    """The catalogue's default of every axis."""
    return {name: axis["default"] for name, axis in metadata["catalogue"]["axes"].items()}


def estimate_cell(observed: ObservedCell, metadata: Mapping[str, Any]) -> list[Evidence]:
    """Estimate every quantity of a cell at every observed placement.

    Parameters
    ----------
    observed
        The cell's valid samples.
    metadata
        The run's metadata (docs/runfile.md).

    Returns
    -------
    list of Evidence
        In the order of ``observed.groups``. A group without samples has an estimate of Nones, and in place of
        its processes a single zero that nobody may use: `Book` is given only those with samples.
    """
    entry = facts_of(metadata)[observed.workload]
    starts = {one["process"]: float(one["started_ns"]) for one in metadata["processes"]}
    mhz = _effective_mhz(observed.cell, metadata)
    whole = {group.quantity.name: 0 for group in observed.groups}
    for group in observed.groups:
        whole[group.quantity.name] += group.n_samples
    rows = []
    for group in observed.groups:
        processes = _processes(group, starts)
        fields = _numbers(group, processes, observed.cell, bool(entry["temperatures"]), metadata)
        contains = entry.get("call_returns_contains") if group.quantity.stage == "call_returns" else None
        estimate = Estimate(
            cell=observed.cell,
            workload=observed.workload,
            condition=observed.condition,
            temperature=observed.temperature,
            stage=group.quantity.stage,
            placement=group.placement,
            quantity=group.quantity.name,
            unit=group.quantity.unit,
            effective_mhz=mhz,
            resolution_ns=_resolution_ns(group, metadata),
            family=entry["family"],
            rankable=contains is None,
            not_rankable_reason=_NOT_RANKABLE.get(contains, f"the call contains {contains}") if contains else None,
            outcomes=observed.outcomes,
            clock_skew=observed.clock_skew,
            signed=group.quantity.signed,
            detail=group.quantity.detail,
            **fields,
        )
        warnings = estimate_warnings(estimate, group, whole[group.quantity.name], metadata)
        rows.append(Evidence(replace(estimate, warnings=warnings), group, processes))
    return rows


def _numbers(
    group: Group, processes: Processes, cell: str, launches: bool, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of an estimate that are computed from its samples."""
    size = group.n_samples
    fields: dict[str, Any] = dict.fromkeys(("median_ns", "median_low_ns", "median_high_ns", "p99_ns", "min_ns"))
    fields |= {"n_samples": size, "n_processes": group.n_processes, "p99_reason": None}
    if size == 0:
        return fields | {"p99_reason": "no sample"}
    interval = median_interval(processes.values, processes.starts)
    if group.quantity.ns_per_unit is None:
        value = {"value": interval.value, "value_low": interval.low, "value_high": interval.high}
        return fields | value | {"p99_reason": f"its unit is {group.quantity.unit}, not a time"}
    fields |= {"median_ns": interval.value, "median_low_ns": interval.low, "median_high_ns": interval.high}
    fields |= describe(group, processes, _resolution_ns(group, metadata))
    blocks = [block for block in metadata["blocks"] if block["cell"] == cell]
    # Of a very large group every k-th sample is at hand, which counts nothing.
    if group.totals is None:
        found = find_outliers(group, blocks, launches)
        fields["outliers"] = {"count": found.count, "causes": dict(found.causes), "unexplained": found.unexplained}
    if size < P99_LEAST_SAMPLES:
        return fields | {"p99_reason": f"{size} samples; {P99_LEAST_SAMPLES} are needed"}
    return fields | {"p99_ns": group.quantile(0.99)}


def _processes(group: Group, starts: Mapping[int, float]) -> Processes:
    """Medians of each process and of its blocks; the group is in the order of process and block."""
    import numpy as np

    if group.n_samples == 0:
        return Processes.of([0.0])
    if group.totals is not None:
        known = [starts.get(process) for process in group.totals.processes]
        return Processes.of(group.totals.medians, None if None in known else [start or 0.0 for start in known])
    from clonometer.stats.segments import segment_medians

    own, first = np.unique(group.process, return_index=True)
    medians = segment_medians(group.values, group.block_starts)
    when = [starts.get(int(process)) for process in own]
    return Processes.of(
        segment_medians(group.values, first),
        None if any(start is None for start in when) else [start or 0.0 for start in when],
        np.split(medians, np.searchsorted(group.block_starts, first[1:])),
    )


def _effective_mhz(cell: str, metadata: Mapping[str, Any]) -> float | None:
    from statistics import median

    found = [
        float(mhz)
        for block in metadata["blocks"]
        if block["cell"] == cell
        for mhz in ((block.get("facts") or {}).get("effective_mhz") or {}).values()
        if mhz is not None and mhz > 0
    ]
    return median(found) if found else None


def _resolution_ns(group: Group, metadata: Mapping[str, Any]) -> float:
    # A cost per operation is a mean over many of them, finer than one tick of the clock.
    if group.quantity.type == "f64":
        return _PER_OPERATION_RESOLUTION_NS
    ticks = (metadata.get("clock") or {}).get("clock_hz")
    return max(1.0, 1e9 / ticks) if ticks else 1.0
