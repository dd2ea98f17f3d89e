"""What idle tasks hold, and what a process holds more than a thread."""

from __future__ import annotations

from typing import Any

from clonometer.families import workload_words
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import in_doubt, listed, median_with_ends, sentence, sentences
from clonometer.results.rows.run_estimates import Changes, RunEstimate
from clonometer.results.series.footprints import Footprint, footprints_of
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import axis_words

PROCESS, THREAD = "footprint.process", "footprint.thread"
_BY_GROUP = {"accounting": "cgroup"}
# Free memory may lose less than what was made for the tasks, where others gave some back meanwhile; no more than this.
_LEAST_SHARE = 0.8
# A task holds no more than its pages in memory, shared ones too, and the kernel's. The rest is what others took.
_MOST_SHARE = 1.5


def footprints(tests: PairwiseTests) -> Findings:
    """Say what each of many idle tasks holds, and how many times that of a thread a process holds.

    For each workload and condition the cell with most tasks, where what the machine does besides weighs least.
    """
    yield from _against_threads(tests)
    for footprint, whole in _largest(tests):
        yield _footprint_finding(tests, footprint, whole)


def _largest(tests: PairwiseTests) -> list[tuple[Footprint, RunEstimate]]:
    """For each workload and condition but its number of tasks, the footprint and its whole with most of them."""
    best: dict[tuple[object, ...], tuple[Footprint, RunEstimate]] = {}
    for footprint in footprints_of(tests.estimates):
        whole = footprint.whole
        if whole is not None:
            key = (whole.workload, *_others(tests, whole).items())
            if key not in best or _tasks(whole) > _tasks(best[key][1]):
                best[key] = (footprint, whole)
    return list(best.values())


def _others(tests: PairwiseTests, row: RunEstimate) -> Changes:
    return tests.estimates.changes(row, "tasks")


def _words(changes: Changes) -> str:
    return "".join(f", {axis_words(axis, value)}" for axis, value in changes.items())


def _clause(changes: Changes) -> str:
    words = _words(changes)
    return f"{words}," if words else ""


def _footprint_finding(tests: PairwiseTests, footprint: Footprint, whole: RunEstimate) -> Finding:
    estimates, estimate = tests.estimates, whole
    names = workload_words(estimate.workload)
    name, many = names.thing or estimate.workload, names.things or estimate.workload
    count = _tasks(whole)
    changes = _others(tests, whole)
    shares = _shares(footprint)
    texts = [f"each of {count:,} idle {many}{_clause(changes)} takes {_size(whole)}", *shares]
    virtual, resident = (estimates.find(whole.cell, f"{kind}_each_bytes") for kind in ("virtual", "resident"))
    if virtual is not None and resident is not None:
        texts.append(f"it has {_size(virtual)} of address space, {_size(resident)} of it in memory")
    times = {kind: _time(tests, whole, f"{kind}_each_ns") for kind in ("create", "reap")}
    if all(times.values()):
        texts.append(f"creating it takes {times['create']}, reaping it {times['reap']}")
    numbers: dict[str, Any] = {
        "tasks": count,
        **{row.quantity: row.value for row in estimates.cells[whole.cell].values() if row.unit == "bytes"},
        "whole_each_bytes_interval": [estimate.value_low, estimate.value_high],
        "cells": [estimate.cell],
    }
    headline = sentence(f"each idle {name}{_clause(changes)} takes {_size(whole)} ({count:,} of them)")
    if _is_drowned(tests, footprint, whole):
        texts = [
            f"how much memory each of {count:,} idle {many}{_clause(changes)} takes is not known: free memory changed "
            f"by {_size(whole)} for each, because other programs also allocate and free memory",
            *shares,
            "use a quieter machine, more tasks, or accounting=cgroup",
        ]
        headline = ""
    return Finding(".".join([estimate.workload, *map(str, changes.values())]), sentences(*texts), numbers, headline)


def _shares(footprint: Footprint) -> list[str]:
    """Say the kernel's share with its parts, and the task's own."""
    parts = [f"{_size(part)} {words}" for words, part in footprint.kernel_parts.items()]
    shares = []
    if footprint.kernel is not None:
        shares.append(f"the kernel holds {_size(footprint.kernel)} for it{f' ({listed(parts)})' if parts else ''}")
    if footprint.user is not None:
        shares.append(f"the pages that it wrote take {_size(footprint.user)}")
    return shares


def _is_drowned(tests: PairwiseTests, footprint: Footprint, whole: RunEstimate) -> bool:
    """Whether free memory has not even lost what the kernel says that it made, or more than a task can hold.

    Where there are too few processes for an interval the value decides.
    """
    low, high = (whole.value if end is None else end for end in (whole.value_low, whole.value_high))
    if low is None or high is None:
        return False
    made = [part.value or 0.0 for part in (footprint.kernel, footprint.user) if part is not None]
    if low <= 0 or high < _LEAST_SHARE * sum(made):
        return True
    resident = tests.estimates.find(whole.cell, "resident_each_bytes")
    if resident is None or footprint.kernel is None or _is_by_group(whole):
        return False
    return low > _MOST_SHARE * sum(part.value or 0.0 for part in (resident, footprint.kernel))


def _is_by_group(row: RunEstimate) -> bool:
    return row.condition.get("accounting") == "cgroup"


def _against_threads(tests: PairwiseTests) -> Findings:
    """Compare processes with threads under the same condition, at the most tasks that both have."""
    estimates = tests.estimates
    wholes = [footprint.whole for footprint in footprints_of(estimates) if footprint.whole is not None]
    processes, threads = (
        {tuple(estimates.changes(row).items()): row for row in wholes if row.workload == workload}
        for workload in (PROCESS, THREAD)
    )
    best: dict[tuple[object, ...], tuple[RunEstimate, RunEstimate]] = {}
    for condition, process in processes.items():
        key = tuple(_others(tests, process).items())
        if condition in threads and (key not in best or _tasks(process) > _tasks(best[key][0])):
            best[key] = (process, threads[condition])
    by_group = [_others(tests, process) for process, _ in best.values()]
    for process, thread in best.values():
        # What a group is charged for is no guess: where both accounts are there, the machine's need not be told.
        if {**_others(tests, process), **_BY_GROUP} in by_group and not _is_by_group(process):
            continue
        compared = tests.compare(process, thread)
        if compared is None:
            continue
        changes = _others(tests, process)
        sizes = f"{_size(process)} against {_size(thread)}, {_tasks(process):,} of each{_words(changes)}"
        if compared.direction == Direction.UNKNOWN:
            text = f"{in_doubt('between the memory of an idle process and of an idle thread', compared)}: {sizes}"
        else:
            more, less = ("process", "thread") if compared.direction == Direction.MORE else ("thread", "process")
            text = f"an idle {more} takes {compared.upward.text} times the memory of an idle {less}: a process {sizes}"
        name = ".".join(["footprint.process_thread", *map(str, changes.values())])
        yield Finding(name, sentence(text), numbers_of(compared))


def _tasks(row: RunEstimate) -> int:
    return int(row.condition["tasks"])


def _size(row: RunEstimate) -> str:
    written = row.figures()
    return "" if written is None else written.text


def _time(tests: PairwiseTests, row: RunEstimate, quantity: str) -> str:
    total = tests.estimates.find(row.cell, quantity)
    return "" if total is None else median_with_ends(total)


FINDERS = (Finder(footprints, 120),)
