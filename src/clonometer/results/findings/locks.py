"""How long a new task waits for the lock of its runtime, beside threads that compute: the GIL of Python, Ruby's GVL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.families import family
from clonometer.families.types import LOCK_WAIT
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, headed, listed, short_median
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import language_name

_WARM = "warm"
#: A wait for a thread that computes is at least this share of how long that keeps the lock.
_MOST_OF_INTERVAL = 0.8


def lock_waits(tests: PairwiseTests) -> Iterator[Finding]:
    """Say of each language who waits for its lock beside computing threads, and for how long."""
    groups: dict[tuple[str, str], list[RunEstimate]] = {}
    for row in tests.estimates.rows:
        if row.quantity == LOCK_WAIT and row.temperature == _WARM and row.median_ns is not None:
            name = row.workload.partition(".")[0]
            under = condition(tests.estimates.changes(row), _WARM, row.condition.get("placement"))
            groups.setdefault((name, under), []).append(row)
    for (name, under), rows in groups.items():
        yield _waiting(tests, name, under, sorted(rows, key=lambda row: -(row.median_ns or 0.0)))


def _waiting(tests: PairwiseTests, name: str, under: str, rows: Sequence[RunEstimate]) -> Finding:
    *longer, least = rows
    compared = {row.workload: tests.compare(row, least) for row in longer}
    interval_ns, is_off = _switching(tests.estimates, name)
    # A busy machine makes whoever sleeps late: only what is about as long as the lock is kept is a wait for it.
    least_ns = _MOST_OF_INTERVAL * (interval_ns or 0.0)
    waiting = [
        row for row in rows if (row.median_ns or 0.0) >= least_ns and (len(rows) == 1 or _is_more(compared, row))
    ]
    clauses = [f"{_thing(row)} waits {short_median(row)}" for row in waiting]
    if is_off:
        clauses.insert(0, "the GIL is off")
    elif waiting and interval_ns:
        clauses.append(f"a thread that computes keeps it for {interval_ns / 1e6:g} ms")
    others = [f"{_thing(row)} {short_median(row)}" for row in rows if row not in waiting]
    if others:
        clauses.append(f"{listed(others)}: that late after a sleep is no wait for the lock")
    numbers: dict[str, Any] = {
        "waits_ns": {row.workload: row.median_ns for row in rows},
        "waiting": [row.workload for row in waiting],
        "longer": {row.workload: _direction(compared.get(row.workload)) for row in rows},
        "switch_interval_ns": interval_ns,
        "cells": [row.cell for row in rows],
    }
    head = f"the lock of {language_name(name)}, {under}"
    return Finding(f"lock_wait.{rows[0].cell}", headed(head, clauses), numbers, headed(head, clauses[:1]))


def _is_more(compared: Mapping[str, Change[RunEstimate] | None], row: RunEstimate) -> bool:
    return _direction(compared.get(row.workload)) == Direction.MORE


def _direction(change: Change[RunEstimate] | None) -> str:
    return str(Direction.UNKNOWN if change is None else change.direction)


def _thing(row: RunEstimate) -> str:
    word = row.workload.partition(".")[2]
    task = family(row.family).language_tasks.get(word)
    return task.thing if task is not None else word


def _switching(estimates: RunEstimates, name: str) -> tuple[float | None, bool]:
    """For how long a thread may keep the lock, as the runtime says, in ns; and whether it has switched its lock off."""
    drivers = estimates.document.catalogue.further.get("drivers", ())
    described = next((each for each in drivers if isinstance(each, Mapping) and each.get("name") == name), {})
    runtime = described.get("runtime")
    if not isinstance(runtime, Mapping):
        return None, False
    interval = runtime.get("switch_interval_ns")
    return (float(interval) if isinstance(interval, int | float) else None), runtime.get("gil") == "off"


FINDERS = (Finder(lock_waits, 9),)
