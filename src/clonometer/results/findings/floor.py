"""What the instrument itself costs."""

from __future__ import annotations

from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import headed, short_median
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Finding

# The last stage contains the others.
_FLOOR = (
    ("launch.none", "reaped", "the bare loop takes {}"),
    ("launch.stamp", None, "the child's stamp takes {}, inside reaped where the child has memory of its own"),
    ("clock.used", None, "a clock reading takes {}"),
)


def floor(tests: PairwiseTests) -> list[Finding]:
    """What measuring costs: the empty loop, the child's stamp, one clock reading."""
    costs: list[str] = []
    cells: list[str] = []
    numbers: dict[str, object] = {}
    for workload, stage, words in _FLOOR:
        row = _floor_row(tests, workload, stage)
        if row is None or row.median_ns is None:
            continue
        costs.append(words.format(_cost(tests, row)))
        key = workload.replace(".", "_")
        numbers |= {
            f"{key}_ns": row.median_ns,
            f"{key}_low_ns": row.median_low_ns,
            f"{key}_high_ns": row.median_high_ns,
        }
        cells.append(row.cell)
    if not costs:
        return []
    return [Finding("floor", headed("the instrument itself", costs), numbers | {"cells": cells})]


def _cost(tests: PairwiseTests, row: RunEstimate) -> str:
    """What it takes, warm and cold where the two are known: they are two figures."""
    if row.temperature != "warm":
        return short_median(row)
    cold = tests.estimates.main(row.workload, {}, "cold", row.stage)
    return f"{short_median(row)} warm{f' and {short_median(cold)} cold' if cold is not None else ''}"


def _floor_row(tests: PairwiseTests, workload: str, stage: str | None) -> RunEstimate | None:
    """The default condition's row, warm where there is a temperature."""
    rows = (tests.estimates.main(workload, {}, temperature, stage) for temperature in (None, "warm", "cold"))
    return next((row for row in rows if row is not None), None)


FINDERS = (Finder(floor, 240),)
