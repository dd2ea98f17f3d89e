"""What idle tasks hold, and what a process holds more than a thread."""

from __future__ import annotations

from typing import Any

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.wording import listed, sentence
from clonometer.results.rows.evidence import Evidence
from clonometer.results.series.footprints import KERNEL, KERNEL_PARTS, USER, WHOLE
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes, format_bytes_interval, format_duration_interval, format_ratio
from clonometer.words import axis_words

PROCESS, THREAD = "footprint.process", "footprint.thread"
_NAMES = {PROCESS: ("process", "processes"), THREAD: ("thread", "threads")}
_BY_GROUP = {"accounting": "cgroup"}
# Free memory may lose less than what was made for the tasks, where others gave some back meanwhile; no more than this.
_LEAST_SHARE = 0.8
Changes = dict[str, int | str]


def footprints(comparer: Comparer) -> list[Finding]:
    """Say what each of many idle tasks holds, and how many times that of a thread a process holds.

    For each workload and condition the row with most tasks, where what the machine does besides weighs least.
    """
    found = [_footprint(comparer, row) for row in _largest(comparer)]
    return [*_against_threads(comparer), *found]


def _largest(comparer: Comparer) -> list[Evidence]:
    """For each workload and condition but its number of tasks, the row of the whole with most of them."""
    best: dict[tuple[object, ...], Evidence] = {}
    for row in comparer.book.sizes:
        one = row.estimate
        if one.quantity != WHOLE:
            continue
        key = (one.workload, *_others(comparer, row).items())
        if key not in best or int(one.condition["tasks"]) > int(best[key].estimate.condition["tasks"]):
            best[key] = row
    return list(best.values())


def _others(comparer: Comparer, row: Evidence) -> Changes:
    return {axis: value for axis, value in comparer.book.changes(row.estimate).items() if axis != "tasks"}


def _words(changes: Changes) -> str:
    return "".join(f", {axis_words(axis, value)}" for axis, value in changes.items())


def _clause(changes: Changes) -> str:
    words = _words(changes)
    return f"{words}," if words else ""


def _footprint(comparer: Comparer, row: Evidence) -> Finding:
    book, one = comparer.book, row.estimate
    name, many = _NAMES.get(one.workload, (one.workload, one.workload))
    count = int(one.condition["tasks"])
    changes = _others(comparer, row)
    parts = [
        f"{_size(part)} {words}" for key, words in KERNEL_PARTS.items() if (part := book.size(row, key)) is not None
    ]
    kernel, user = book.size(row, KERNEL), book.size(row, USER)
    said = []
    if kernel is not None:
        said.append(f"{_size(kernel)} of the kernel's{f' ({listed(parts)})' if parts else ''}")
    if user is not None:
        said.append(f"{_size(user)} of pages that it wrote")
    text = f"each of {count:,} idle {many}{_clause(changes)} takes {_size(row)}: {' and '.join(said)}"
    virtual, resident = (book.size(row, f"{kind}_each_bytes") for kind in ("virtual", "resident"))
    if virtual is not None and resident is not None:
        text += f"; it has {_size(virtual)} of address space, {_size(resident)} of it in memory"
    times = {kind: _time(comparer, row, f"{kind}_each_ns") for kind in ("create", "reap")}
    if all(times.values()):
        text += f"; to create it takes {times['create']} and to reap it {times['reap']}"
    numbers: dict[str, Any] = {
        "tasks": count,
        **{other.estimate.quantity: other.estimate.value for other in book.sizes_of(row)},
        "whole_each_bytes_interval": [one.value_low, one.value_high],
        "cells": [one.cell],
    }
    headline = f"each idle {name}{_clause(changes)} takes {_size(row)} ({count:,} of them)"
    if _is_drowned(row, kernel, user):
        text = (
            f"what each of {count:,} idle {many}{_clause(changes)} takes is lost in the noise of what else the machine "
            f"allocates and frees: {_size(row)} of free memory, {' and '.join(said)}; make the machine quiet, take "
            "more tasks, or accounting=cgroup"
        )
        headline = ""
    return Finding(
        ".".join([one.workload, *map(str, changes.values())]),
        sentence(text),
        numbers,
        sentence(headline) if headline else "",
    )


def _is_drowned(row: Evidence, kernel: Evidence | None, user: Evidence | None) -> bool:
    """Whether free memory has not even lost what the kernel says that it made."""
    one = row.estimate
    if one.value_low is not None and one.value_low <= 0:
        return True
    made = [part.estimate.value or 0.0 for part in (kernel, user) if part is not None]
    return one.value_high is not None and one.value_high < _LEAST_SHARE * sum(made)


def _is_by_group(row: Evidence) -> bool:
    return row.estimate.condition.get("accounting") == "cgroup"


def _against_threads(comparer: Comparer) -> list[Finding]:
    """Compare processes with threads under the same condition, at the most tasks that both have."""
    book = comparer.book
    rows = [row for row in book.sizes if row.estimate.quantity == WHOLE]
    best: dict[tuple[object, ...], tuple[Evidence, Evidence]] = {}
    for process in rows:
        for thread in rows:
            same = book.changes(process.estimate) == book.changes(thread.estimate)
            if not same or (process.estimate.workload, thread.estimate.workload) != (PROCESS, THREAD):
                continue
            key = tuple(_others(comparer, process).items())
            if key not in best or _tasks(process) > _tasks(best[key][0]):
                best[key] = (process, thread)
    found = []
    by_group = [_others(comparer, process) for process, _ in best.values()]
    for process, thread in best.values():
        # What a group is charged for is no guess: where both accounts are there, the machine's need not be told.
        if {**_others(comparer, process), **_BY_GROUP} in by_group and not _is_by_group(process):
            continue
        compared = comparer.compare(process, thread)
        if compared is None:
            continue
        changes = _others(comparer, process)
        ratio = format_ratio(compared.ratio.value, compared.ratio.low, compared.ratio.high)
        text = (
            f"an idle process takes {ratio} times the memory of an idle thread{_words(changes)}: {_size(process)} "
            f"against {_size(thread)}, {_tasks(process):,} of each"
        )
        name = ".".join(["footprint.process_thread", *map(str, changes.values())])
        found.append(Finding(name, sentence(text), compared.numbers))
    return found


def _tasks(row: Evidence) -> int:
    return int(row.estimate.condition["tasks"])


def _size(row: Evidence) -> str:
    one = row.estimate
    value = one.value or 0.0
    if one.value_low == one.value_high == value and value == int(value):
        return approximate_bytes(value)
    return format_bytes_interval(value, one.value_low, one.value_high)


def _time(comparer: Comparer, row: Evidence, quantity: str) -> str:
    found = comparer.book.main(row.estimate.workload, comparer.book.changes(row.estimate), None, None, quantity)
    if found is None:
        return ""
    one = found.estimate
    median = one.median_ns or 0.0
    low, high = (median if end is None else end for end in (one.median_low_ns, one.median_high_ns))
    return format_duration_interval(median, low, high, one.resolution_ns)
