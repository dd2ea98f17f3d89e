"""The best two designs as they were run in turn: what was measured, beside what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clonometer.advice.answer import Advice, DesignAnswer, Proof, ProvenDesign
from clonometer.advice.designs import design_named
from clonometer.advice.measured import CPU, LATENCY, by_process, mean_span
from clonometer.advice.terms import TermSpan
from clonometer.advice.wording import LEAST_DIFFERENCE
from clonometer.errors import InputError
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.stats.bootstrap import Processes, ratio_of_medians
from clonometer.units import format_ratio

#: With fewer requests a 99th percentile says nothing.
_LEAST_REQUESTS = 300


def prove(advice: Advice, run: RunSource, seed: int) -> Advice:
    """Set what a run of both designs measured beside the answer.

    Raises
    ------
    InputError
        If one of them was not measured.
    """
    designs = [design for design in advice.designs if design.rank in (1, 2)]
    cells = [_cell_of(run, design.id) for design in designs]
    proven = [_proven(run, cell, design) for cell, design in zip(cells, designs, strict=True)]
    sides = [_processes(run, cell) for cell in cells]
    ratio = ratio_of_medians(sides[1], sides[0], seed=seed)
    measured = TermSpan(ratio.value, ratio.low, ratio.high)
    winner = _winner(measured, designs)
    expected = None if advice.comparisons[0].is_close else designs[0].id
    proof = Proof(
        designs=proven,
        ratio=measured,
        faster=winner,
        agrees=winner == expected,
        sentence=_sentence(measured, designs, winner, expected),
    )
    return replace(advice, proof=proof)


def _cell_of(run: RunSource, design: str) -> str:
    workload = design_named(design).workload
    measured = set(run.cells())
    for entry in run.document.plan.cells:
        if entry.workload == workload and entry.cell in measured:
            return entry.cell
    reasons = [cell.reason for cell in run.document.cells if cell.cell.startswith(workload) and cell.reason]
    raise InputError(f"{workload} was not measured: {(reasons or ['the time was over'])[0]}")


def _proven(run: RunSource, cell: str, design: DesignAnswer) -> ProvenDesign:
    if design.p50_ns is None or design.p99_ns is None or design.cpu_ns is None:
        raise InputError(f"{design.id} cannot keep up, and is not run")
    return ProvenDesign(
        id=design.id,
        predicted_p50_ns=design.p50_ns,
        measured_p50_ns=mean_span(by_process(run, cell, LATENCY)),
        predicted_p99_ns=design.p99_ns,
        measured_p99_ns=_p99(run, cell),
        predicted_cpu_ns=design.cpu_ns,
        # The server's own work is part of what it takes.
        measured_cpu_ns=mean_span(by_process(run, cell, CPU)),
    )


def _p99(run: RunSource, cell: str) -> TermSpan | None:
    """The 99th percentile of each process's requests, on average."""
    columns = run.columns(cell, ["process", LATENCY])
    valid = ~null_mask(columns[LATENCY])
    owners, values = columns["process"][valid], columns[LATENCY][valid]
    if values.size < _LEAST_REQUESTS:
        return None
    return mean_span({int(owner): float(np.quantile(values[owners == owner], 0.99)) for owner in np.unique(owners)})


def _processes(run: RunSource, cell: str) -> Processes:
    starts = run.document.started_ns
    medians = by_process(run, cell, LATENCY)
    return Processes.of(list(medians.values()), [starts[process] for process in medians])


def _winner(ratio: TermSpan, designs: Sequence[DesignAnswer]) -> str | None:
    if ratio.low > 1 and ratio.value >= 1 + LEAST_DIFFERENCE:
        return designs[0].id
    if ratio.high < 1 and ratio.value <= 1 / (1 + LEAST_DIFFERENCE):
        return designs[1].id
    return None


def _sentence(ratio: TermSpan, designs: Sequence[DesignAnswer], winner: str | None, expected: str | None) -> str:
    names = {design.id: design.title for design in designs}
    times = format_ratio(ratio.value, ratio.low, ratio.high)
    measured = f"measured, {designs[1].title} takes {times} times as long as {designs[0].title}"
    if winner is None:
        end = "too close to call, as predicted" if expected is None else "closer than predicted"
    elif winner == expected:
        end = "as predicted"
    elif expected is None:
        end = f"{names[winner]} won, which was too close to call"
    else:
        end = f"{names[winner]} won, which was not predicted"
    return f"At the median, {measured}: {end}."
