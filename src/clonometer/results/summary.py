"""A run to its results: estimates, findings, warnings and plots."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from clonometer.records import to_json
from clonometer.results.cell_outcomes import cell_outcomes
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import find_all
from clonometer.results.first.answer import first_question
from clonometer.results.first.doubts import doubts
from clonometer.results.first.screen import first_screen
from clonometer.results.machine_state import machine_state
from clonometer.results.missing import missing_languages
from clonometer.results.rows.alone import cores_of
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.groups import ObservedCell
from clonometer.results.rows.observed import observe
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.rows.source import RunSource
from clonometer.results.rows.warnings import run_warnings
from clonometer.results.series.all import all_series
from clonometer.results.series.arrays import ecdf_series, scan_series
from clonometer.results.types import MachineState, Results
from clonometer.run_document import RunDocument
from clonometer.stats.verdict import ERROR_RATE


def summarize(run: RunSource, run_name: str | None = None, *, error_rate: float = ERROR_RATE) -> Results:
    """Compute all that is known of a run.

    A run without a name is called after the file of its ``path``. ``error_rate`` is that of all its verdicts: less
    where it is looked at while it goes on.

    Complete for any subset of cells, even none; numbers that do not exist are None, never NaN.

    Raises
    ------
    RunFileError
        If samples and document do not belong together.
    """
    document = run.document
    if run_name is None:
        run_name = PurePath(getattr(run, "path", "")).name
    cores = cores_of(run)
    observed = observe(run, cores)
    rows = list(estimate_cells(observed, document))
    return _results(
        document, run_name, observed, rows, machine_state(document.host, rows, cores), error_rate=error_rate
    )


def _results(
    document: RunDocument,
    run_name: str,
    observed: list[ObservedCell],
    rows: list[RunEstimate],
    machine: MachineState | None,
    *,
    error_rate: float,
) -> Results:
    estimates = RunEstimates((row for row in rows if row.n_samples), document, run_name)
    seed = document.seed
    tests = PairwiseTests(estimates, seed, first_question(estimates), error_rate)
    findings = find_all(tests)
    # What it compares besides is corrected together with all comparisons of the findings, and changes none of them.
    first = tests.with_correction(lambda: first_screen(tests, findings))
    warnings = run_warnings(rows, document)
    present = {row.workload for row in rows}
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
        cells=tuple(rows),
        cell_outcomes=cell_outcomes(document),
        missing_languages=missing_languages(document),
        findings=findings,
        machine=machine,
        first=replace(first, doubts=doubts(machine, rows, warnings)),
        warnings=warnings,
        ecdfs=ecdf_series(estimates, observed),
        scans=scan_series(estimates),
        series=all_series(estimates, seed),
        summaries={entry.id: entry.summary for entry in document.catalogue.workloads if entry.id in present},
    )


def _duration_s(document: RunDocument) -> float:
    started, ended = map(datetime.fromisoformat, (document.started, document.ended))
    return max(0.0, (ended - started).total_seconds())
