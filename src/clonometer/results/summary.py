"""A run to its results: estimates, findings, warnings and plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from clonometer.errors import RunFileError
from clonometer.results.ended import cell_statuses
from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.finder import find_all
from clonometer.results.first.doubts import doubts
from clonometer.results.first.screen import first_screen
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.groups import ObservedCell
from clonometer.results.rows.observed import observe
from clonometer.results.rows.source import RunSource
from clonometer.results.rows.warnings import run_warnings
from clonometer.results.series.all import all_series
from clonometer.results.series.arrays import ecdf_series, scan_series
from clonometer.results.types import Results


def summarize(run: RunSource, run_name: str | None = None) -> Results:
    """Compute all that is known of a run.

    A run without a name is called after the file of its ``path``.

    Complete for any subset of cells, even none; numbers that do not exist are None, never NaN.

    Raises
    ------
    RunFileError
        If the metadata lacks a key of docs/runfile.md, or samples and metadata do not belong together.
    """
    metadata = run.metadata
    if run_name is None:
        run_name = PurePath(getattr(run, "path", "")).name
    try:
        observed = observe(run)
        rows = list(estimate_cells(observed, metadata))
        return _results(metadata, run_name, observed, rows)
    except KeyError as error:
        raise RunFileError(f"the run's metadata lacks {error.args[0]!r}") from error


def _results(metadata: Mapping[str, Any], run_name: str, observed: list[ObservedCell], rows: list[Evidence]) -> Results:
    book = Book((row for row in rows if row.estimate.n_samples), metadata, run_name)
    seed = int(metadata["seed"])
    estimates = tuple(row.estimate for row in rows)
    comparer = Comparer(book, seed)
    findings = find_all(comparer)
    # What it compares besides is corrected together with all comparisons of the findings, and changes none of them.
    first = comparer.corrected(lambda: first_screen(comparer, findings))
    warnings = run_warnings(estimates, metadata)
    present = {estimate.workload for estimate in estimates}
    return Results(
        run_name=run_name,
        status=metadata["status"],
        status_reason=metadata["status_reason"],
        plan_name=metadata["plan"]["name"],
        started=metadata["started"],
        duration_s=_duration_s(metadata),
        command=tuple(metadata["command"]),
        host=metadata["host"],
        clock=metadata["clock"],
        clonometer_version=metadata["clonometer_version"],
        seed=seed,
        n_processes=len(metadata["processes"]),
        n_samples=sum(sum(cell.outcomes.values()) for cell in observed),
        cells=estimates,
        cell_statuses=cell_statuses(metadata),
        findings=findings,
        first=replace(first, doubts=doubts(metadata["host"], estimates, warnings)),
        warnings=warnings,
        ecdfs=ecdf_series(book),
        process_medians=tuple(_process_medians(row) for row in rows),
        scans=scan_series(book),
        series=all_series(book, seed),
        summaries={
            entry["id"]: entry["summary"] for entry in metadata["catalogue"]["workloads"] if entry["id"] in present
        },
    )


def _process_medians(row: Evidence) -> tuple[float, ...]:
    return tuple(row.processes.values.tolist()) if row.estimate.n_samples else ()


def _duration_s(metadata: Mapping[str, Any]) -> float:
    """Seconds from start to end; a killed run has no end, and lasts until its last process ended."""
    if metadata.get("ended"):
        started, ended = (datetime.fromisoformat(metadata[key]) for key in ("started", "ended"))
        return max(0.0, (ended - started).total_seconds())
    ends = [process.get("ended_ns") or process["started_ns"] for process in metadata["processes"]]
    return max(ends, default=0) / 1e9
