"""What is kept of a run to compare a later one with it: its medians by process, and the facts that may explain changes.

A run file has every sample; this is a hundredth of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, replace
from statistics import median
from typing import Any

from clonometer.records import from_json, to_json
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.results.types import Estimate
from clonometer.run_document import BlockEntry, BlockFacts, RunDocument
from clonometer.stats.processes import Processes

SNAPSHOT_SCHEMA = 2
_OF_LANGUAGES = ("steady", "pauses", "tasks_created", "switches_per_launch")
#: What a comparison does not read.
_LEFT_OUT_OF_SNAPSHOT = ("drift", "warm_up", "outliers", "warnings", *_OF_LANGUAGES)


def snapshot_name(document: RunDocument) -> str:
    """Name a plan by its name and its cells: another choice of cells is another plan."""
    name = document.plan.name
    cells = sorted(entry.cell for entry in document.cells)
    digest = hashlib.sha256("\n".join([name, *cells]).encode()).hexdigest()
    return digest[:24]


def to_snapshot(estimates: RunEstimates) -> dict[str, Any]:
    """Turn what a run brings to comparisons into plain JSON values."""
    document = replace(estimates.document, processes=(), blocks=_frequency(estimates.document), cells=(), columns={})
    return {
        "schema": SNAPSHOT_SCHEMA,
        "document": to_json(document),
        "rows": [_row(row) for row in estimates.all_rows],
    }


def from_snapshot(snapshot: Mapping[str, Any], name: str) -> RunEstimates | None:
    """Make it a side of a comparison again; None where another version has kept it.

    Raises
    ------
    KeyError, TypeError, ValueError, InputError
        If it is no such thing.
    """
    if snapshot["schema"] != SNAPSHOT_SCHEMA:
        return None
    return RunEstimates(
        [_estimate(row) for row in snapshot["rows"]], from_json(RunDocument, snapshot["document"]), name
    )


def _frequency(document: RunDocument) -> list[BlockEntry]:
    """The median effective frequency, as if one block had measured it."""
    frequencies = effective_frequencies_mhz(document.blocks)
    facts: BlockFacts = {"effective_mhz": {"all": median(frequencies)}} if frequencies else {}
    return [BlockEntry(0, 0, "", "ok", None, 0, {}, facts)]


def _row(row: RunEstimate) -> dict[str, Any]:
    processes = row.processes
    estimate = {field.name: getattr(row, field.name) for field in fields(Estimate)}
    return {
        "estimate": {name: value for name, value in estimate.items() if name not in _LEFT_OUT_OF_SNAPSHOT},
        "values": processes.values.tolist(),
        "starts": None if processes.starts is None else processes.starts.tolist(),
    }


def _estimate(row: Mapping[str, Any]) -> RunEstimate:
    return RunEstimate(**row["estimate"], processes=Processes.of(row["values"], row["starts"]))
