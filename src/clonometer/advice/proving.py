"""The best two designs as they were run in turn: what was measured, beside what was predicted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from clonometer.advice.answer import Advice, DesignAnswer, Proof, ProvenDesign
from clonometer.advice.designs import design_named
from clonometer.advice.measured import CPU, LATENCY, by_process, middle_span
from clonometer.advice.terms import TermSpan
from clonometer.advice.wording import LEAST_DIFFERENCE
from clonometer.errors import InputError
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.stats.paired_ratio import paired_ratio
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
    cells = [_cells_of(run, design.id) for design in designs]
    proven = [_proven(run, each, design) for each, design in zip(cells, designs, strict=True)]
    medians = [_medians(run, each) for each in cells]
    # Of the same arrivals on both sides.
    pairs = [
        [math.log(medians[1][arrivals] / medians[0][arrivals])] for arrivals in medians[0] if arrivals in medians[1]
    ]
    if not pairs:
        raise InputError("both designs were not measured with the same arrivals: measure longer")
    ratio = paired_ratio(pairs, seed=seed)
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


def _cells_of(run: RunSource, design: str) -> Mapping[str, str]:
    """The cells of a design by their arrivals."""
    workload = design_named(design).workload
    measured = set(run.cells())
    cells = {
        str(entry.condition["arrival_seed"]): entry.cell
        for entry in run.document.plan.cells
        if entry.workload == workload and entry.cell in measured
    }
    if not cells:
        reasons = [cell.reason for cell in run.document.cells if cell.cell.startswith(f"{workload}[") and cell.reason]
        raise InputError(f"{workload} was not measured: {(reasons or ['the time was over'])[0]}")
    return cells


def _medians(run: RunSource, cells: Mapping[str, str]) -> dict[str, float]:
    """The median latency by arrivals: of several processes, the mean of theirs."""
    return {arrivals: statistics.fmean(by_process(run, cell, LATENCY).values()) for arrivals, cell in cells.items()}


def _proven(run: RunSource, cells: Mapping[str, str], design: DesignAnswer) -> ProvenDesign:
    if design.p50_ns is None or design.p99_ns is None or design.cpu_ns is None:
        raise InputError(f"{design.id} cannot keep up, and is not run")
    cpu = {process: value for cell in cells.values() for process, value in by_process(run, cell, CPU).items()}
    return ProvenDesign(
        id=design.id,
        predicted_p50_ns=design.p50_ns,
        measured_p50_ns=middle_span(dict(enumerate(_medians(run, cells).values()))),
        predicted_p99_ns=design.p99_ns,
        measured_p99_ns=_p99(run, cells),
        predicted_cpu_ns=design.cpu_ns,
        # The request's own work is part of what the server takes.
        measured_cpu_ns=middle_span(cpu),
    )


def _p99(run: RunSource, cells: Mapping[str, str]) -> TermSpan | None:
    """The 99th percentile of the requests of each arrivals, on average; None where they are too few."""
    values = {}
    for arrivals, cell in enumerate(cells.values()):
        column = run.columns(cell, [LATENCY])[LATENCY]
        values[arrivals] = column[~null_mask(column)]
    if sum(each.size for each in values.values()) < _LEAST_REQUESTS:
        return None
    return middle_span({arrivals: float(np.quantile(each, 0.99)) for arrivals, each in values.items()})


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
