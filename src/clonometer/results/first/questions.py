"""What is open: which comparison that the run was made for is not sure, and what decides it in which time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.first.answer import contest
from clonometer.results.first.effects import alternatives
from clonometer.results.first.following import settings_of, typed
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import NextCommand
from clonometer.verdicts import Word
from clonometer.words import mechanism_name

MOST_OPEN = 2
#: What takes longer is decided in pairs, if at all.
_MOST_S = 3600.0
_ROUND_S = 10.0


def open_questions(tests: PairwiseTests) -> list[NextCommand]:
    """Say which mechanism of a family costs less where that is not sure: the first question, then the two cheapest."""
    asked = {id(change): change for change in _asked(tests) if change.word is not Word.SURE}
    return [_closing(tests, change) for change in list(asked.values())[:MOST_OPEN]]


def _asked(tests: PairwiseTests) -> Iterator[Change[RunEstimate]]:
    first = contest(tests)
    if first is not None:
        yield first
    seen = {frozenset(row.workload for row in first.sides)} if first is not None else set()
    for rows in alternatives(tests.estimates):
        if tests.estimates.changes(rows[0]):
            continue
        cheapest, second = sorted(rows, key=lambda row: row.median_ns or 0.0)[:2]
        change = tests.compare(second, cheapest)
        pair = frozenset((cheapest.workload, second.workload))
        if change is not None and change.value is not None and pair not in seen:
            seen.add(pair)
            yield change


def _closing(tests: PairwiseTests, change: Change[RunEstimate]) -> NextCommand:
    """The command that closes a question, and how long it takes."""
    other, base = change.sides
    names = [mechanism_name(row.workload) for row in (base, other)]
    question = f"{names[0]} or {names[1]}?"
    figures = f" {change.upward.text}" if change.value is not None else ""
    needed_s = seconds_needed(tests, change)
    words = [typed(row) for row in (base, other)]
    settings = settings_of(tests, other)
    if needed_s is None:
        return NextCommand(("ab", *words, *settings), f"{question}{figures}, too close: pairs may tell")
    return NextCommand(("run", *words, *settings, "--sure"), f"{question}{figures}, needs about {_span(needed_s)}")


def seconds_needed(tests: PairwiseTests, change: Change[RunEstimate]) -> float | None:
    """How long both sides have to be measured for a sure word, by what processes took; None: too long or never."""
    other, base = change.sides
    if change.value is None:
        return max(2 * _ROUND_S, _cost_s(tests.estimates, other, base))
    times = tests.processes_needed(other, base)
    if math.isinf(times):
        return None
    needed_s = times * _cost_s(tests.estimates, other, base)
    return needed_s if needed_s <= _MOST_S else None


def _cost_s(estimates: RunEstimates, *rows: RunEstimate) -> float:
    """What as many processes of rows as they have now take."""
    cost_s = 0.0
    for row in rows:
        entries = [entry for entry in estimates.document.processes if row.cell in entry.cells]
        taken = [entry.ended_ns - entry.started_ns for entry in entries if entry.ended_ns is not None]
        cost_s += row.n_processes * median(taken) / 1e9 if taken else 0.0
    return cost_s


def _span(seconds: float) -> str:
    """How long something takes, roughly and never too short.

    Examples
    --------
    >>> _span(3.2), _span(41.0), _span(200.0)
    ('10 s', '50 s', '4 min')
    """
    rounded = math.ceil(seconds / _ROUND_S) * _ROUND_S
    return f"{rounded:.0f} s" if rounded < 120 else f"{math.ceil(seconds / 60)} min"
