"""What a failing worker takes with it: threads, processes and a pool, fault by fault."""

from __future__ import annotations

import signal
from itertools import groupby
from typing import Any

from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import headed, listed, short_median
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.series.isolated import COUNTS, TIMES, FaultOutcome, incidents_of
from clonometer.results.types import Finding
from clonometer.words import axis_words

_WHO = {"thread": "as a thread", "process": "as a process", "pool": "in a pool"}
_MENDED = {**TIMES, "restored_ns": "everything is restored"}


def isolation(tests: PairwiseTests) -> list[Finding]:
    """Say of each fault who survives, how it is seen, and how long until it is known and mended."""
    by_fault = groupby(incidents_of(tests.estimates), key=lambda incident: incident.fault)
    return [_isolation_finding(tests, fault, list(incidents)) for fault, incidents in by_fault]


def _isolation_finding(tests: PairwiseTests, fault: str, incidents: list[FaultOutcome]) -> Finding:
    tests.mark_reported((row for incident in incidents for row in incident.times.values()), "fault", "task_kind")
    fates = [f"{_WHO[incident.arrangement]}, {_fate(incident)}" for incident in incidents]
    times = [_times(incident.times) for incident in incidents]
    head = f"a worker that {axis_words('fault', fault)}"
    text = headed(head, [each for pair in zip(fates, times, strict=True) for each in pair])
    numbers = {
        "fault": fault,
        "setups": {incident.arrangement: _numbers(incident) for incident in incidents},
        "cells": [incident.cell for incident in incidents],
    }
    numbers |= _ratio(tests, incidents)
    return Finding(f"isolation.{fault}", text, numbers, headed(head, fates))


def _fate(incident: FaultOutcome) -> str:
    """Say who survives and by what the end was seen."""
    siblings, survivors, damaged = incident.siblings, incident.count("survivors"), incident.count("damaged")
    number = incident.count("ended_by_signal")
    how = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    if damaged:
        verb = "continues" if damaged == 1 else "continue"
        return f"no task dies, but {damaged} of {siblings} siblings {verb} with corrupted data"
    parent = "" if incident.count("parent_alive") else ", nor does the parent"
    words = (
        f"{survivors} of {siblings} siblings survive" if survivors else f"none of {siblings} siblings survives{parent}"
    )
    return f"{words}{how}"


def _times(rows: dict[str, RunEstimate]) -> str:
    """Say how long each takes; nothing is known of what nobody notices."""
    if "known_ns" not in rows:
        return "nobody notices"
    return "it is " + listed(
        [f"{words} after {short_median(rows[name])}" for name, words in _MENDED.items() if name in rows]
    )


def _numbers(incident: FaultOutcome) -> dict[str, Any]:
    counts = {name: incident.counts.get(name) for name in COUNTS}
    times = {name: row.median_ns for name, row in incident.times.items()}
    return {"siblings": incident.siblings, **counts, **times}


def _ratio(tests: PairwiseTests, incidents: list[FaultOutcome]) -> dict[str, Any]:
    """Compare how long threads and processes take to be as many as before."""
    rows = {incident.arrangement: incident.times.get("restored_ns") for incident in incidents}
    thread, process = rows.get("thread"), rows.get("process")
    comparison = tests.compare(thread, process) if thread and process else None
    return {"restored_thread_over_process": numbers_of(comparison)} if comparison else {}


FINDERS = (Finder(isolation, 160),)
