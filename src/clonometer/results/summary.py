"""A run to its results: estimates, findings, warnings and plots."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from clonometer.records import to_json
from clonometer.results.ended import cell_statuses
from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.drift import with_drift
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
from clonometer.run_document import RunDocument


def summarize(run: RunSource, run_name: str | None = None) -> Results:
    """Compute all that is known of a run.

    A run without a name is called after the file of its ``path``.

    Complete for any subset of cells, even none; numbers that do not exist are None, never NaN.

    Raises
    ------
    RunFileError
        If samples and document do not belong together.
    """
    document = run.document
    if run_name is None:
        run_name = PurePath(getattr(run, "path", "")).name
    observed = observe(run)
    return _results(document, run_name, observed, list(estimate_cells(observed, document)))


def _results(document: RunDocument, run_name: str, observed: list[ObservedCell], rows: list[Evidence]) -> Results:
    book = Book((row for row in rows if row.estimate.n_samples), document, run_name)
    seed = document.seed
    estimates = tuple(row.estimate for row in rows)
    comparer = Comparer(book, seed)
    findings = find_all(comparer)
    # What it compares besides is corrected together with all comparisons of the findings, and changes none of them.
    first = comparer.corrected(lambda: first_screen(comparer, findings))
    warnings = run_warnings(estimates, document)
    present = {estimate.workload for estimate in estimates}
    return Results(
        run_name=run_name,
        status=document.status,
        status_reason=document.status_reason,
        plan_name=document.plan.name,
        started=document.started,
        duration_s=_duration_s(document),
        command=tuple(document.command),
        host=document.host,
        clock=to_json(document.clock),
        clonometer_version=document.clonometer_version,
        seed=seed,
        n_processes=len(document.processes),
        n_samples=sum(sum(cell.outcomes.values()) for cell in observed),
        cells=estimates,
        cell_statuses=cell_statuses(document),
        findings=with_drift(findings, book),
        first=replace(
            first,
            answer=with_drift(first.answer, book),
            reasons=with_drift(first.reasons, book),
            advice=with_drift(first.advice, book),
            doubts=doubts(document.host, estimates, warnings),
        ),
        warnings=warnings,
        ecdfs=ecdf_series(book),
        process_medians=tuple(_process_medians(row) for row in rows),
        scans=scan_series(book),
        series=all_series(book, seed),
        summaries={entry.id: entry.summary for entry in document.catalogue.workloads if entry.id in present},
    )


def _process_medians(row: Evidence) -> tuple[float, ...]:
    return tuple(row.processes.values.tolist()) if row.estimate.n_samples else ()


def _duration_s(document: RunDocument) -> float:
    started, ended = map(datetime.fromisoformat, (document.started, document.ended))
    return max(0.0, (ended - started).total_seconds())
