"""Two sides that were started in turn: the verdicts of `clonometer ab`, and no other words about them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from clonometer.results.ab.judgement import judge_estimates
from clonometer.results.ab.types import AbRow
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import sentence
from clonometer.results.types import Finding

SIDE = "side"


def sides(tests: PairwiseTests) -> list[Finding]:
    """What B was against A, a finding for each kind of process: its last stage, cold and warm."""
    if not tests.estimates.is_paired:
        return []
    tests.mark_reported(tests.estimates.all_rows, SIDE)
    result = judge_estimates(tests.estimates)
    findings: list[Finding] = []
    for (workload, _), rows in groupby(result.rows, key=lambda row: (row.b.workload, _kind(row))):
        members = list(rows)
        last = {row.b.temperature: row for row in members}
        words = ", ".join(result.b) or "defaults"
        sentences = "; ".join(row.sentence for row in last.values())
        numbers = {
            "a": list(result.a),
            "b": list(result.b),
            "rows": [_numbers(row) for row in members],
            "cells": list(dict.fromkeys(side.cell for row in members for side in (row.a, row.b))),
        }
        text = f"B: {words}; A: {', '.join(result.a) or 'defaults'}; {sentences}"
        findings.append(Finding(f"sides.{workload}.{len(findings)}", sentence(text), numbers))
    return findings


def _kind(row: AbRow) -> tuple[object, ...]:
    return tuple(sorted(row.b.condition.items()))


def _numbers(row: AbRow) -> dict[str, Any]:
    counted = {"pairs": row.pairs, "b_slower": row.b_slower, "p": row.change.p}
    return {"cell": row.cell, "stage": row.b.stage, **row.change.numbers, **counted}


FINDERS = (Finder(sides, 5),)
