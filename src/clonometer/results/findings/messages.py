"""Messages between processes against threads that share memory, by size, and from which size on who is faster (S16)."""

from __future__ import annotations

from typing import Any

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.switching import Where, way, where_of, where_words
from clonometer.results.findings.wording import headed, several_ratios, verdict
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.series_types import TASK_KIND
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes
from clonometer.verdicts import Direction

THREADS = "ipc.shared_memory"
_THREADS = "threads in shared memory"
_QUANTITIES = {"latency_ns": "latency", "stream_ns": "a message of a stream"}
# (task kind, workload) -> size of the messages -> row.
LinesBySize = dict[tuple[str, str], dict[int, RunEstimate]]


def messages(tests: PairwiseTests) -> Findings:
    """Say of every way between processes how it compares with threads in shared memory as messages grow."""
    for quantity, words in _QUANTITIES.items():
        for where, lines in _lines(tests, quantity).items():
            yield _messages_finding(tests, quantity, words, where, lines)


def _lines(tests: PairwiseTests, quantity: str) -> dict[Where, LinesBySize]:
    places: dict[Where, LinesBySize] = {}
    for row in tests.estimates.rows:
        if row.family != "ipc" or row.quantity != quantity:
            continue
        where = where_of(tests.estimates, row, TASK_KIND, "message_bytes")
        if where is not None:
            key = (str(row.condition[TASK_KIND]), row.workload)
            places.setdefault(where, {}).setdefault(key, {})[_size(row)] = row
    return places


def _size(row: RunEstimate) -> int:
    return int(row.condition["message_bytes"])


def _messages_finding(
    tests: PairwiseTests, quantity: str, what: str, where: Where, lines: LinesBySize
) -> Finding | None:
    threads = lines.get(("thread", THREADS), {})
    curves: dict[str, dict[int, Change[RunEstimate]]] = {}
    for (kind, workload), rows in lines.items():
        if kind != "process":
            continue
        sizes = sorted(rows.keys() & threads.keys())
        made = tests.compare_all((rows[size], threads[size]) for size in sizes)
        curve = {_size(comparison.other): comparison for comparison in made}
        if curve:
            curves[workload] = curve
    if not curves:
        return None
    tests.mark_reported(
        (row for rows in lines.values() for row in rows.values()), "message_bytes", TASK_KIND, "partner_cpu"
    )
    words = where_words(where, next(iter(threads.values())))
    head = f"{what}, {words}"
    clauses = [clause for workload, curve in curves.items() for clause in _curve_texts(workload, curve)]
    best = _best(tests, lines)
    clauses += _best_texts(best)
    entries = [
        numbers_of(comparison) | {"workload": workload, "message_bytes": size, "quantity": quantity}
        for workload, curve in curves.items()
        for size, comparison in curve.items()
    ]
    numbers: dict[str, Any] = entries[0] | {
        "curve": entries,
        "crossovers": {workload: crossover(curve) for workload, curve in curves.items()},
        "fastest_between_processes": [
            {"message_bytes": size, "workload": ways[0] if len(ways) == 1 else None, "tied": ways}
            for size, ways in best.items()
        ],
        "cells": list(dict.fromkeys(cell for entry in entries for cell in entry["cells"])),
    }
    name = ".".join(["messages", quantity.removesuffix("_ns"), *(str(value) for _, value in where[0])])
    id_ = name + (f".{where[1]}" if where[1] else "")
    return Finding(id_, headed(head, clauses), numbers, headed(head, _extremes(curves)))


def crossover(curve: dict[int, Change[RunEstimate]]) -> int | None:
    """The size from which on processes take longer at every larger size that was measured; None if there is none."""
    smallest = None
    for size in sorted(curve, reverse=True):
        if curve[size].direction != Direction.MORE:
            break
        smallest = size
    return smallest


def _curve_texts(workload: str, curve: dict[int, Change[RunEstimate]]) -> list[str]:
    sizes = sorted(curve)
    ends = sizes if len(sizes) == 1 else [sizes[0], sizes[-1]]
    name = f"processes by {way(workload)}"
    texts = several_ratios(
        name,
        _THREADS,
        [curve[size] for size in ends],
        plural=True,
        at=lambda each: f"at {approximate_bytes(_size(each.other))}",
    )
    begin = crossover(curve)
    if begin is not None and len(sizes) > 1:
        since = "" if begin == sizes[0] else f" from {approximate_bytes(begin)} on"
        texts.append(f"{name} take longer at every size measured{since}")
    return texts


def _best(tests: PairwiseTests, lines: LinesBySize) -> dict[int, list[str]]:
    """The ways between processes that may be fastest at each size that at least two ways have."""
    best: dict[int, list[str]] = {}
    by_way = {workload: rows for (kind, workload), rows in lines.items() if kind == "process"}
    for size in sorted({size for rows in by_way.values() for size in rows}):
        rows = [rows[size] for rows in by_way.values() if size in rows]
        compared = tests.best(rows)
        if compared:
            tied = [comparison.other for comparison in compared if comparison.direction == Direction.UNKNOWN]
            best[size] = [row.workload for row in (compared[0].base, *tied)]
    return best


def _best_texts(best: dict[int, list[str]]) -> list[str]:
    """Say the fastest ways as ranges of sizes."""
    ranges: list[tuple[list[str], int]] = []
    for size, ways in best.items():
        if not ranges or ranges[-1][0] != ways:
            ranges.append((ways, size))
    texts = []
    for index, (ways, size) in enumerate(ranges):
        since = f"at {approximate_bytes(size)}" if index == 0 else f"from {approximate_bytes(size)} on"
        where = "at every size measured" if len(ranges) == 1 else since
        names = [way(each) for each in ways]
        if len(ways) == 1:
            texts.append(f"between processes, {names[0]} is fastest {where}")
        else:
            texts.append(f"between processes, which is fastest {where} is open: {' or '.join(names)}")
    return texts


def _extremes(curves: dict[str, dict[int, Change[RunEstimate]]]) -> list[str]:
    """The ways that come nearest to threads and furthest from them at the largest size."""
    last = {workload: curve[max(curve)] for workload, curve in curves.items()}
    ordered = sorted(last, key=lambda workload: last[workload].value or 0.0)
    chosen = ordered if len(ordered) == 1 else [ordered[0], ordered[-1]]
    return [
        f"at {approximate_bytes(max(curves[workload]))}, "
        + verdict(f"processes by {way(workload)}", _THREADS, last[workload], plural=True)
        for workload in chosen
    ]


FINDERS = (Finder(messages, 110),)
