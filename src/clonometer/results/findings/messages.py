"""Messages between processes against threads that share memory, by size, and from which size on who is faster (S16)."""

from __future__ import annotations

from typing import Any

from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.switching import Where, way, where_words
from clonometer.results.findings.wording import listed, sentence
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes

THREADS = "ipc.shared_memory"
_QUANTITIES = {"latency_ns": "latency", "stream_ns": "a message of a stream"}
# (task kind, workload) -> size of the messages -> row.
Lines = dict[tuple[str, str], dict[int, Evidence]]


def messages(comparer: Comparer) -> list[Finding]:
    """Say of every way between processes how it compares with threads in shared memory as messages grow."""
    findings = []
    for quantity, words in _QUANTITIES.items():
        for where, lines in _lines(comparer, quantity).items():
            finding = _finding(comparer, quantity, words, where, lines)
            if finding is not None:
                findings.append(finding)
    return findings


def _lines(comparer: Comparer, quantity: str) -> dict[Where, Lines]:
    places: dict[Where, Lines] = {}
    for row in comparer.book.rows:
        estimate = row.estimate
        if estimate.family != "ipc" or estimate.quantity != quantity:
            continue
        free = estimate.condition.get("placement") == "free"
        changes = comparer.book.changes(estimate)
        others = tuple(item for item in changes.items() if item[0] not in ("task_kind", "message_bytes"))
        if free and estimate.placement is None:
            continue
        lines = places.setdefault((others, estimate.placement if free else None), {})
        key = (str(estimate.condition["task_kind"]), estimate.workload)
        lines.setdefault(key, {})[int(estimate.condition["message_bytes"])] = row
    return places


def _finding(comparer: Comparer, quantity: str, what: str, where: Where, lines: Lines) -> Finding | None:
    threads = lines.get(("thread", THREADS), {})
    curves: dict[str, dict[int, Comparison]] = {}
    for (kind, workload), rows in lines.items():
        made = {size: comparer.compare(rows[size], threads[size]) for size in sorted(rows.keys() & threads.keys())}
        curve = {size: comparison for size, comparison in made.items() if comparison is not None}
        if kind == "process" and curve:
            curves[workload] = curve
    if not curves:
        return None
    comparer.claim(
        (row for rows in lines.values() for row in rows.values()), "message_bytes", "task_kind", "partner_cpu"
    )
    words = where_words(comparer, where, next(iter(threads.values())))
    clauses = [f"by {way(workload)} {_curve_text(curve)}" for workload, curve in curves.items()]
    best = _best(lines)
    text = f"{what}, {words}, processes against threads in shared memory: {'; '.join(clauses)}"
    if best:
        text += f"; between processes the fastest is {_best_text(best)}"
    headline = f"{what}, {words}: against threads in shared memory, processes by {_extremes(curves)}"
    entries = [
        comparison.numbers | {"workload": workload, "message_bytes": size, "quantity": quantity}
        for workload, curve in curves.items()
        for size, comparison in curve.items()
    ]
    numbers: dict[str, Any] = entries[0] | {
        "curve": entries,
        "crossovers": {workload: crossover(curve) for workload, curve in curves.items()},
        "fastest_between_processes": [{"message_bytes": size, "workload": workload} for size, workload in best.items()],
        "cells": list(dict.fromkeys(cell for entry in entries for cell in entry["cells"])),
    }
    name = ".".join(["messages", quantity.removesuffix("_ns"), *(str(value) for _, value in where[0])])
    return Finding(name + (f".{where[1]}" if where[1] else ""), sentence(text), numbers, sentence(headline))


def crossover(curve: dict[int, Comparison]) -> int | None:
    """The size from which on processes take longer at every larger size that was measured; None if there is none."""
    smallest = None
    for size in sorted(curve, reverse=True):
        if curve[size].verdict != "longer":
            break
        smallest = size
    return smallest


def _curve_text(curve: dict[int, Comparison]) -> str:
    sizes = sorted(curve)
    ends = sizes if len(sizes) == 1 else [sizes[0], sizes[-1]]
    ratios = listed([f"{curve[size].text} times as long at {approximate_bytes(size)}" for size in ends])
    begin = crossover(curve)
    if begin is None:
        return ratios
    since = "" if begin == sizes[0] else f" from {approximate_bytes(begin)} on"
    return f"{ratios}, longer at every size{since}"


def _best(lines: Lines) -> dict[int, str]:
    """The way between processes with the least median at each size that at least two ways have."""
    best: dict[int, str] = {}
    by_way = {workload: rows for (kind, workload), rows in lines.items() if kind == "process"}
    for size in sorted({size for rows in by_way.values() for size in rows}):
        medians = {workload: rows[size].estimate.median_ns or 0.0 for workload, rows in by_way.items() if size in rows}
        if len(medians) > 1:
            best[size] = min(medians, key=lambda workload: medians[workload])
    return best


def _best_text(best: dict[int, str]) -> str:
    """Say the fastest ways as ranges of sizes."""
    ranges: list[tuple[str, int]] = []
    for size, workload in best.items():
        if not ranges or ranges[-1][0] != workload:
            ranges.append((workload, size))
    texts = [f"{way(ranges[0][0])} at {'every size' if len(ranges) == 1 else f'{approximate_bytes(ranges[0][1])}'}"]
    texts += [f"{way(workload)} from {approximate_bytes(size)} on" for workload, size in ranges[1:]]
    return ", ".join(texts)


def _extremes(curves: dict[str, dict[int, Comparison]]) -> str:
    """The ways that come nearest to threads and furthest from them at the largest size."""
    last = {workload: curve[max(curve)] for workload, curve in curves.items()}
    ordered = sorted(last, key=lambda workload: last[workload].ratio.value)
    chosen = ordered if len(ordered) == 1 else [ordered[0], ordered[-1]]
    size = max(max(curve) for curve in curves.values())
    ratios = listed([f"{way(workload)} take {last[workload].text} times as long" for workload in chosen])
    return f"{ratios} at {approximate_bytes(size)}"


FINDERS = (Finder(messages, 110),)
