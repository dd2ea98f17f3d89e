"""Ladders: what one thing more that a task shares, or one namespace of its own, adds or saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import ONE_PROCESS
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, listed, measured
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import mechanism_name, stage_place


def steps(tests: PairwiseTests) -> Findings:
    """Say the difference of each rung to the one that it steps from (the catalogue's ``step_from``).

    Where the way of reaping differs, the ends of the two are not the same event: that stage is left out.
    """
    estimates = tests.estimates
    workloads = dict.fromkeys(row.workload for row in estimates.rows)
    for workload in workloads:
        base = estimates.about(workload).step_from
        if base is None or base not in workloads:
            continue
        shared = estimates.conditions([workload, base])
        for changes in sorted(shared, key=len):
            made = (_step(tests, workload, base, changes, temperature) for temperature in (*TEMPERATURES, None))
            yield next((finding for finding in made if finding is not None), None)


def _step(
    tests: PairwiseTests, workload: str, base: str, changes: dict[str, int | str], temperature: str | None
) -> Finding | None:
    estimates = tests.estimates
    same_end = estimates.about(workload).reaped_by == estimates.about(base).reaped_by
    made: list[Change[RunEstimate]] = []
    for stage, quantity in _quantities(tests, workload):
        a = estimates.main(workload, changes, temperature, stage, quantity)
        b = estimates.main(base, changes, temperature, stage, quantity)
        if a is None or b is None or not a.rankable or (stage == "reaped" and not same_end):
            continue
        made.append(tests.difference(a, b))
    if not made:
        return None
    first = made[0].other
    words = condition(changes, temperature, first.condition.get("placement"))
    head = f"from {mechanism_name(base)} to {mechanism_name(workload)}, {words}"
    texts = _texts(made)
    if not same_end:
        texts.append(f"their ends cannot be compared (reaped by {estimates.about(workload).reaped_by}, not wait)")
    headline = headed(head, _texts([_last_stage(made)]))
    numbers = _numbers(_last_stage(made)) | {
        "step": workload,
        "from": base,
        "temperature": temperature,
        "differences": [_numbers(step) for step in made],
        "cells": [first.cell, first.cell.replace(workload, base, 1)],
    }
    name = ".".join([workload, *map(str, changes.values())])
    return Finding(f"step.{name}", headed(head, texts), numbers, headline)


def _quantities(tests: PairwiseTests, workload: str) -> list[tuple[str | None, str]]:
    """What was measured of a workload: stages in order of time, then the rest."""
    rows = [row for row in tests.estimates.rows_of(workload) if not row.detail]
    quantities = list(dict.fromkeys((row.stage, row.quantity) for row in rows))
    return sorted(quantities, key=lambda entry: stage_place(entry[0]))


def _last_stage(made: list[Change[RunEstimate]]) -> Change[RunEstimate]:
    staged = [step for step in made if step.other.stage is not None]
    return (staged or made)[-1]


def _texts(made: Sequence[Change[RunEstimate]]) -> list[str]:
    clauses = []
    for verb, verdict in (("adds", Direction.MORE), ("saves", Direction.LESS)):
        amounts = [f"{step.upward.text} {_measured(step)}" for step in made if step.direction == verdict]
        clauses += [f"{verb} {listed(amounts)}"] if amounts else []
    unsure = [step for step in made if step.direction == Direction.UNKNOWN]
    words = [f"{step.word} {_measured(step)} ({step.aside})" for step in unsure]
    return [
        *(["; ".join(clauses)] if clauses else []),
        *([f"a difference is {listed(words)}"] if words else []),
    ]


def _measured(step: Change[RunEstimate]) -> str:
    return measured(step.other.stage, step.other.quantity)


def _numbers(step: Change[RunEstimate]) -> dict[str, Any]:
    reason = ONE_PROCESS if step.interval is None else None
    return numbers_of(step) | {"quantity": step.other.quantity, "interval_reason": reason}


FINDERS = (Finder(steps, 130),)
