"""What the instrument itself costs, and what could not be told apart."""

from __future__ import annotations

from clonometer.families import axis as axis_of
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, listed, measured, sentence
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Estimate, Finding
from clonometer.units import format_duration
from clonometer.words import mechanism_name

Changes = dict[str, int | str]
_FLOOR = (
    ("launch.none", "reaped", "the bare loop takes {}"),
    ("launch.stamp", None, "the child's stamp {} (inside reaped where the child has memory of its own: fork, clone)"),
    ("clock.used", None, "a clock reading {}"),
)


def floor(comparer: Comparer) -> list[Finding]:
    """What measuring costs: the empty loop, the child's stamp, one clock reading."""
    costs: list[str] = []
    cells: list[str] = []
    numbers: dict[str, object] = {}
    for workload, stage, words in _FLOOR:
        row = _floor_row(comparer, workload, stage)
        if row is None or row.estimate.median_ns is None:
            continue
        estimate, median = row.estimate, row.estimate.median_ns
        text = format_duration(median, estimate.median_low_ns, estimate.median_high_ns, estimate.resolution_ns)
        costs.append(words.format(text))
        key = workload.replace(".", "_")
        numbers |= {
            f"{key}_ns": estimate.median_ns,
            f"{key}_low_ns": estimate.median_low_ns,
            f"{key}_high_ns": estimate.median_high_ns,
        }
        cells.append(estimate.cell)
    if not costs:
        return []
    return [Finding("floor", sentence(f"the instrument itself: {listed(costs)}"), numbers | {"cells": cells})]


def _floor_row(comparer: Comparer, workload: str, stage: str | None) -> Evidence | None:
    """The default condition's row, warm where there is a temperature."""
    rows = (comparer.book.main(workload, {}, temperature, stage) for temperature in (None, "warm", "cold"))
    return next((row for row in rows if row is not None), None)


def indistinct(comparer: Comparer) -> list[Finding]:
    """What the other findings compared without being able to tell it apart."""
    pairs = comparer.indistinct()
    if not pairs:
        return []
    text = "could not be told apart: " + "; ".join(_pair(comparer, comparison) for comparison in pairs)
    numbers = {
        "pairs": [comparison.numbers for comparison in pairs],
        "cells": sorted({cell for comparison in pairs for cell in comparison.numbers["cells"]}),
    }
    return [Finding("indistinct", sentence(text), numbers)]


def _pair(comparer: Comparer, comparison: Comparison) -> str:
    a, b = comparison.a.estimate, comparison.b.estimate
    changes_a, changes_b = comparer.book.changes(a), comparer.book.changes(b)
    common = {axis: value for axis, value in changes_a.items() if changes_b.get(axis) == value}
    # A side at its default is called by what it is where the other one is off it.
    own_a = _side(_with_defaults(changes_a, changes_b, a), common, a.workload if a.workload != b.workload else "")
    own_b = _side(_with_defaults(changes_b, changes_a, b), common, b.workload if a.workload != b.workload else "")
    words = condition(common, a.temperature, a.condition.get("placement"))
    what = measured(a.stage, a.quantity)
    words = f", {words}" if words else ""
    if a.cell == b.cell:
        own_a, own_b = "other CPU", "same CPU"
    if a.workload == b.workload:
        return f"{mechanism_name(a.workload)} {what}{words}: {own_a} and {own_b} ({comparison.aside})"
    return f"{own_a} and {own_b} {what}{words} ({comparison.aside})"


def _with_defaults(changes: Changes, other: Changes, estimate: Estimate) -> Changes:
    named = {
        axis: estimate.condition[axis] for axis in other if axis_of(axis).always_said and axis in estimate.condition
    }
    return {**named, **changes}


def _side(changes: dict[str, int | str], common: dict[str, int | str], workload: str) -> str:
    apart = {axis: value for axis, value in changes.items() if axis not in common}
    words = [mechanism_name(workload)] if workload else []
    if apart:
        words.append(condition(apart, None))
    return " ".join(words) or "the default"


# The last: it reports on the comparisons that the others made.
FINDERS = (
    Finder(floor, 240),
    Finder(indistinct, 250),
)
