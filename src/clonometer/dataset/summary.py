"""A run file to its summary: what is kept of its metadata, and the median of every row."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonometer.results.compare.differences import lasting_facts
from clonometer.results.compare.sides import read_side
from clonometer.results.types import Estimate
from clonometer.runfile import open_run

RowFigures = tuple[float, float, float, int, int]
#: A label as text: `json` of its fields, by which the labels of runs are told apart.
LabelText = str


@dataclass(frozen=True)
class Summary:
    """What is kept of a run.

    ``run`` has ``started``, ``ended``, ``seed``, ``host``, ``status`` and, as JSON, ``metadata``. ``rows`` has for each
    label the median, the ends of its interval (NaN: none), samples and processes.
    """

    run: Mapping[str, Any]
    rows: Mapping[LabelText, RowFigures]


def summarize_file(path: Path, name: str) -> Summary:
    """Read a run file, which errors call ``name``.

    Raises
    ------
    RunFileError
        If it is no sound run file.
    """
    with open_run(path) as run:
        estimates = read_side(run, name)
        document = run.document
    facts = lasting_facts(document.host)
    kept = {
        "host": facts,
        "clonometer_version": document.clonometer_version,
        "status": document.status,
        "clock": {"clock": document.clock.clock},
    }
    points = {name: entry.point for name, entry in document.catalogue.quantities.items()}
    return Summary(
        {
            "started": document.started,
            "ended": document.ended,
            "seed": str(document.seed),
            "host": host_of(facts),
            "status": document.status,
            "metadata": json.dumps(kept, sort_keys=True, separators=(",", ":")),
        },
        {_label(row, points): _figures(row) for row in estimates.all_rows},
    )


def host_of(facts: Mapping[str, Any]) -> str:
    """What tells a host from others: the hash of its name, or where there is none its processor and memory."""
    known = facts.get("host.name_hash")
    return str(known) if known else f"{facts.get('cpu.model') or 'unknown'} {facts.get('memory.total_bytes') or ''}"


def _label(estimate: Estimate, points: Mapping[str, Any]) -> LabelText:
    names = ("cell", "workload", "temperature", "stage", "placement", "quantity", "unit", "family", "resolution_ns")
    label: dict[str, Any] = {name: getattr(estimate, name) for name in names}
    # A clock's step has digits that differ from calibration to calibration.
    label["resolution_ns"] = float(f"{estimate.resolution_ns:.1g}")
    label |= {"condition": dict(estimate.condition), "is_time": estimate.value is None}
    # Where a quantity ends at another point than elsewhere it is another quantity.
    label["point"] = points.get(estimate.quantity)
    return json.dumps(label, sort_keys=True, separators=(",", ":"))


def _figures(estimate: Estimate) -> RowFigures:
    ends = (estimate.median_ns, estimate.median_low_ns, estimate.median_high_ns)
    if estimate.value is not None:
        ends = (estimate.value, estimate.value_low, estimate.value_high)
    value, low, high = (math.nan if end is None else end for end in ends)
    return value, low, high, estimate.n_samples, estimate.n_processes
