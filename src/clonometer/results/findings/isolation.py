"""What a failing worker takes with it: threads, processes and a pool, fault by fault."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.wording import sentence
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Finding
from clonometer.units import format_duration
from clonometer.words import axis_words

FAMILY = "isolate"
_USUAL_SIBLINGS = 3
_SETUPS = ("thread", "process", "pool")
_WHO = {"thread": "as a thread", "process": "as a process", "pool": "in a pool"}
_TIMES = ("known_ns", "replaced_ns", "restored_ns")
_COUNTS = ("survivors", "damaged", "parent_alive", "ended_by_signal")


def isolation(comparer: Comparer) -> list[Finding]:
    """Say of each fault who lives on, how it is seen, and how long until it is known and mended."""
    seen: dict[str, dict[str, dict[str, Any]]] = {}
    for row in (*comparer.book.rows, *comparer.book.untimed):
        one = row.estimate
        if one.family == FAMILY and set(comparer.book.changes(one)) <= {"fault", "task_kind"}:
            setup = str(one.condition.get("task_kind", "pool"))
            fault = str(one.condition["fault"])
            facts = seen.setdefault(fault, {}).setdefault(setup, {"cell": one.cell, "rows": {}})
            facts["siblings"] = int(one.condition.get("siblings", _USUAL_SIBLINGS))
            if one.quantity in _TIMES:
                facts["rows"][one.quantity] = row
            elif one.quantity in _COUNTS:
                facts[one.quantity] = one.value
    return [_finding(comparer, fault, setups) for fault, setups in seen.items()]


def _finding(comparer: Comparer, fault: str, setups: Mapping[str, dict[str, Any]]) -> Finding:
    there = [setup for setup in _SETUPS if setup in setups]
    said = [f"{_WHO[setup]}, {_fate(setups[setup])}{_times(setups[setup]['rows'])}" for setup in there]
    text = f"a worker that {axis_words('fault', fault)}: {'; '.join(said)}"
    brief = "; ".join(f"{_WHO[setup]}, {_fate(setups[setup])}" for setup in there)
    numbers = {
        "fault": fault,
        "setups": {setup: _numbers(setups[setup]) for setup in there},
        "cells": [setups[setup]["cell"] for setup in there],
    }
    numbers |= _ratio(comparer, setups)
    return Finding(
        f"isolation.{fault}", sentence(text), numbers, sentence(f"a worker that {axis_words('fault', fault)}: {brief}")
    )


def _fate(facts: Mapping[str, Any]) -> str:
    """Say who lives on and by what the end was seen."""
    siblings, survivors = facts["siblings"], int(facts.get("survivors") or 0)
    number = int(facts.get("ended_by_signal") or 0)
    how = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    damaged = int(facts.get("damaged") or 0)
    if damaged:
        return f"nobody is ended and {damaged} of {siblings} siblings goes on with damaged data"
    parent = "" if facts.get("parent_alive") else ", nor does their parent"
    words = (
        f"{survivors} of {siblings} siblings live on" if survivors else f"none of {siblings} siblings lives on{parent}"
    )
    return f"{words}{how}"


def _times(rows: Mapping[str, Evidence]) -> str:
    """Say how long each takes; nothing is known of what nobody notices."""
    if "known_ns" not in rows:
        return ", and nobody notices"
    words = {"known_ns": "known", "replaced_ns": "replaced", "restored_ns": "all restored"}
    return ", " + ", ".join(f"{words[name]} after {_median(rows[name])}" for name in _TIMES if name in rows)


def _median(row: Evidence) -> str:
    one = row.estimate
    return format_duration(one.median_ns or 0.0, one.median_low_ns, one.median_high_ns, one.resolution_ns)


def _numbers(facts: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: facts.get(name) for name in ("siblings", *_COUNTS)}
    return counts | {name: row.estimate.median_ns for name, row in facts["rows"].items()}


def _ratio(comparer: Comparer, setups: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Compare how long threads and processes take to be as many as before."""
    rows = [setups.get(setup, {}).get("rows", {}).get("restored_ns") for setup in ("thread", "process")]
    comparison = comparer.compare(rows[0], rows[1]) if all(rows) else None
    return {"restored_thread_over_process": comparison.numbers} if comparison else {}
