"""What could not be told apart."""

from __future__ import annotations

from clonometer.families import axis as axis_of
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, measured, sentence
from clonometer.results.types import Estimate, Finding
from clonometer.words import mechanism_name

Changes = dict[str, int | str]


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
FINDERS = (Finder(indistinct, 250),)
