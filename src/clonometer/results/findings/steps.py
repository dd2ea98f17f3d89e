"""Ladders: what one thing more that a task shares, or one namespace of its own, adds or saves."""

from __future__ import annotations

from typing import Any

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import missing_ends_reason
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, listed, measured, sentence
from clonometer.results.rows.evidence import STAGES, Evidence
from clonometer.results.types import FEWEST_PROCESSES, Finding
from clonometer.stats.bootstrap import difference_of_medians
from clonometer.stats.interval import Interval
from clonometer.units import format_duration, format_duration_interval
from clonometer.words import mechanism_name

Step = tuple[Evidence, Interval]


def steps(comparer: Comparer) -> list[Finding]:
    """Say the difference of each rung to the one that it steps from (the catalogue's ``step_from``).

    Where the way of reaping differs, the ends of the two are not the same event: that stage is left out.
    """
    book = comparer.book
    workloads = dict.fromkeys(row.estimate.workload for row in book.rows)
    findings = []
    for workload in workloads:
        base = book.fact(workload, "step_from")
        shared = book.conditions([workload, base]) if base in workloads else []
        for changes in sorted(shared, key=len):
            for temperature in (*TEMPERATURES, None):
                finding = _step(comparer, workload, base, changes, temperature)
                if finding is not None:
                    findings.append(finding)
                    break
    return findings


def _step(
    comparer: Comparer, workload: str, base: str, changes: dict[str, int | str], temperature: str | None
) -> Finding | None:
    book = comparer.book
    same_end = book.fact(workload, "reaped_by") == book.fact(base, "reaped_by")
    made: list[Step] = []
    for stage, quantity in _quantities(comparer, workload):
        a = book.main(workload, changes, temperature, stage, quantity)
        b = book.main(base, changes, temperature, stage, quantity)
        if a is None or b is None or not a.estimate.rankable or (stage == "reaped" and not same_end):
            continue
        seed = comparer.seed_for("step", a.estimate.cell, b.estimate.cell, quantity)
        made.append((a, difference_of_medians(a.processes, b.processes, seed=seed)))
    if not made:
        return None
    first = made[0][0].estimate
    words = condition(changes, temperature, first.condition.get("placement"))
    way = f"from {mechanism_name(base)} to {mechanism_name(workload)}"
    text = f"{way}, {words}: {_clauses(made)}"
    if not same_end:
        text += f"; their ends cannot be compared (reaped by {book.fact(workload, 'reaped_by')}, not wait)"
    headline = f"{way}, {words}: {_clauses([_last_stage(made)])}"
    numbers = _numbers(_last_stage(made)) | {
        "step": workload,
        "from": base,
        "temperature": temperature,
        "differences": [_numbers(step) for step in made],
        "cells": [first.cell, first.cell.replace(workload, base, 1)],
    }
    name = ".".join([workload, *map(str, changes.values())])
    return Finding(f"step.{name}", sentence(text), numbers, sentence(headline))


def _quantities(comparer: Comparer, workload: str) -> list[tuple[str | None, str]]:
    """What was measured of a workload: stages in order of time, then the rest."""
    rows = comparer.book.rows
    estimates = [row.estimate for row in rows if row.estimate.workload == workload and not row.estimate.detail]
    quantities = list(dict.fromkeys((estimate.stage, estimate.quantity) for estimate in estimates))
    return sorted(quantities, key=lambda entry: STAGES.index(entry[0]) if entry[0] in STAGES else len(STAGES))


def _last_stage(made: list[Step]) -> Step:
    return [step for step in made if step[0].estimate.stage is not None][-1:][0] if _has_stage(made) else made[-1]


def _has_stage(made: list[Step]) -> bool:
    return any(row.estimate.stage is not None for row, _ in made)


def _clauses(made: list[Step]) -> str:
    clauses = []
    for verb in ("adds", "saves", "none"):
        with_verdict = [(row, interval) for row, interval in made if _verdict(interval) == verb]
        amounts = [
            f"{_amount(interval, verb)} {measured(row.estimate.stage, row.estimate.quantity)}"
            for row, interval in with_verdict
        ]
        if amounts and verb != "none":
            clauses.append(f"{verb} {listed(amounts)}")
        elif amounts:
            clauses.append(f"no difference is seen {listed([_aside(row, interval) for row, interval in with_verdict])}")
    return "; ".join(clauses)


def _verdict(interval: Interval) -> str:
    if interval.contains(0.0) or interval.n < FEWEST_PROCESSES:
        return "none"
    return "adds" if interval.value > 0 else "saves"


def _amount(interval: Interval, verb: str) -> str:
    if interval.n < 2:
        return format_duration(interval.value)
    if verb == "saves":
        return format_duration_interval(-interval.value, -interval.high, -interval.low)
    return format_duration_interval(interval.value, interval.low, interval.high)


def _aside(row: Evidence, interval: Interval) -> str:
    words = measured(row.estimate.stage, row.estimate.quantity)
    few = (
        ""
        if interval.n >= FEWEST_PROCESSES
        else f", from only {interval.n} {'process' if interval.n == 1 else 'processes'}"
    )
    return f"{words} ({_amount(interval, 'none').replace(' (', ', ').replace(')', '')}{few})"


def _numbers(step: Step) -> dict[str, Any]:
    row, interval = step
    return {
        "stage": row.estimate.stage,
        "quantity": row.estimate.quantity,
        "difference_ns": interval.value,
        "difference_low_ns": interval.low if interval.n > 1 else None,
        "difference_high_ns": interval.high if interval.n > 1 else None,
        "interval_reason": missing_ends_reason(interval),
        "confidence": interval.confidence,
        "method": interval.method,
        "n_processes": interval.n,
        "verdict": {"adds": "longer", "saves": "shorter", "none": "same"}[_verdict(interval)],
    }


FINDERS = (Finder(steps, 130),)
