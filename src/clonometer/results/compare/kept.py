"""What is kept of a run to compare a later one with it: its medians by process, and the facts that may explain changes.

A run file has every sample; this is a hundredth of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from statistics import median
from typing import Any

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes

KEPT_SCHEMA = 1
_METADATA = ("started", "seed", "status", "clonometer_version", "plan", "catalogue", "host", "clock")
#: What a comparison does not read.
_NOT_KEPT = ("modes", "drift", "warm_up", "outliers", "warnings")


def kept_name(metadata: Mapping[str, Any]) -> str:
    """Name a plan by its name and its cells: another choice of cells is another plan."""
    name = str(metadata["plan"]["name"])
    cells = sorted(str(entry["cell"]) for entry in metadata["cells"])
    digest = hashlib.sha256("\n".join([name, *cells]).encode()).hexdigest()
    return digest[:24]


def to_kept(book: Book) -> dict[str, Any]:
    """Turn what a run brings to comparisons into plain JSON values."""
    metadata = {key: book.metadata.get(key) for key in _METADATA}
    return {
        "schema": KEPT_SCHEMA,
        "metadata": metadata | {"blocks": _frequency(book.metadata)},
        "rows": [_row(row) for row in book.all_rows],
    }


def from_kept(kept: Mapping[str, Any], name: str) -> Book | None:
    """Make it a side of a comparison again; None where another version has kept it.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is no such thing.
    """
    if kept["schema"] != KEPT_SCHEMA:
        return None
    return Book([_evidence(row) for row in kept["rows"]], kept["metadata"], name)


def _frequency(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The median effective frequency, as if one block had measured it."""
    frequencies = effective_frequencies_mhz(metadata.get("blocks") or ())
    return [{"facts": {"effective_mhz": {"all": median(frequencies)}}}] if frequencies else []


def _row(row: Evidence) -> dict[str, Any]:
    processes = row.processes
    estimate = {field.name: getattr(row.estimate, field.name) for field in fields(Estimate)}
    return {
        "estimate": {name: value for name, value in estimate.items() if name not in _NOT_KEPT},
        "values": processes.values.tolist(),
        "starts": None if processes.starts is None else processes.starts.tolist(),
        "blocks": None if processes.blocks is None else [block.tolist() for block in processes.blocks],
    }


def _evidence(row: Mapping[str, Any]) -> Evidence:
    return Evidence(Estimate(**row["estimate"]), Processes.of(row["values"], row["starts"], row["blocks"]))
