"""What conditions do: the parent's memory, the state of its pages, linkage, and where the new task runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.results.evidence import STAGES, Evidence
from clonometer.results.findings.comparing import Comparer, Comparison, lead
from clonometer.results.findings.contests import FORK, PTHREAD, TEMPERATURES
from clonometer.results.findings.wording import condition, linkage, listed, mechanism, sentence, until
from clonometer.results.types import Finding
from clonometer.results.warnings import RARE_PROCESSES
from clonometer.stats.fit import Line, line_through_medians
from clonometer.units import approximate_bytes, format_duration_interval, format_number

PAGE_BYTES = 4096
PAGES_PER_GIB = (1 << 30) // PAGE_BYTES
_MEMORY_STAGES = ("reaped", "call_returns")


def memory(comparer: Comparer) -> list[Finding]:
    """What written memory in the parent does to fork and to pthread: ns per 4 KiB page, and ms per GiB."""
    return [finding for workload in (FORK, PTHREAD) for finding in _memory_of(comparer, workload)]


def _memory_of(comparer: Comparer, workload: str) -> list[Finding]:
    for temperature in TEMPERATURES:
        entries: list[dict[str, Any]] = []
        growth: Comparison | None = None
        for stage in _MEMORY_STAGES:
            points = memory_points(comparer, workload, {}, temperature, stage)
            if len(points) < 2:
                continue
            line = _line(comparer, points)
            grown = comparer.compare(points[-1], points[0])
            growth = growth or grown
            entries.append(_line_numbers(line, points, stage) | {"growth": grown.numbers if grown else None})
        if entries and growth is not None:
            numbers = entries[0] | growth.numbers
            numbers |= {"stages": entries, "temperature": temperature, "workload": workload}
            numbers["cells"] = entries[0]["cells"]
            text = _memory_text(comparer, growth, entries, temperature)
            return [Finding(f"memory.{workload.removeprefix('launch.')}", sentence(text), numbers)]
    return []


def _memory_text(
    comparer: Comparer, growth: Comparison, entries: Sequence[dict[str, Any]], temperature: str
) -> str:
    name = mechanism(growth.a.estimate.workload)
    first, last = entries[0]["parent_bytes"][0], entries[0]["parent_bytes"][-1]
    span = f"from {approximate_bytes(first) if first else 'none'} to {approximate_bytes(last)}"
    words = condition({}, temperature, comparer.book.default("placement"))
    if growth.verdict == "same":
        return (
            f"memory in the parent does not change {name}: {span} it takes {growth.text} times as long "
            f"{until(growth.a.estimate.stage)}, {words}"
        )
    slopes = listed([f"{_per_gib(entry)} {until(entry['stage'])}" for entry in entries])
    pages = format_number(entries[0]["slope_ns_per_page"], *entries[0]["slope_ns_per_page_interval"])
    return (
        f"each GiB written in the parent changes {name} by {slopes} ({pages} ns per 4 KiB page "
        f"{until(entries[0]['stage'])}); {span} it takes {growth.text} times as long, {words}"
    )


def _per_gib(entry: dict[str, Any]) -> str:
    numbers = (entry["slope_ns_per_page"], *entry["slope_ns_per_page_interval"])
    value, low, high = (number * PAGES_PER_GIB for number in numbers)
    return format_duration_interval(value, low, high)


def memory_points(
    comparer: Comparer, workload: str, changes: dict[str, int | str], temperature: str | None, stage: str
) -> list[Evidence]:
    """Rows of one workload that differ only in ``parent_bytes``, smallest first."""
    book = comparer.book
    sizes = {
        row.estimate.condition.get("parent_bytes") for row in book.rows if row.estimate.workload == workload
    }
    points = []
    for size in sorted(size for size in sizes if isinstance(size, int)):
        own = dict(changes) if size == book.default("parent_bytes") else {**changes, "parent_bytes": size}
        row = book.main(workload, own, temperature, stage)
        if row is not None:
            points.append(row)
    return points


def _line(comparer: Comparer, points: Sequence[Evidence]) -> Line:
    estimate = points[0].estimate
    seed = comparer.seed_for("line", estimate.cell, estimate.stage)
    return line_through_medians(
        [_parent_bytes(row) / PAGE_BYTES for row in points],
        [row.processes.values for row in points],
        seed=seed,
    )


def _parent_bytes(row: Evidence) -> int:
    return int(row.estimate.condition["parent_bytes"])


def _line_numbers(line: Line, points: Sequence[Evidence], stage: str) -> dict[str, Any]:
    slope = line.slope
    return {
        "stage": stage,
        "slope_ns_per_page": slope.value,
        "slope_ns_per_page_interval": [slope.low, slope.high],
        "ms_per_gib": slope.value * PAGES_PER_GIB / 1e6,
        "ms_per_gib_interval": [slope.low * PAGES_PER_GIB / 1e6, slope.high * PAGES_PER_GIB / 1e6],
        "intercept_ns": line.intercept.value,
        "largest_miss": line.largest_miss,
        "parent_bytes": [_parent_bytes(row) for row in points],
        "median_ns": [row.estimate.median_ns for row in points],
        "cells": [row.estimate.cell for row in points],
    }


def pages(comparer: Comparer) -> list[Finding]:
    """What the state of the parent's pages does, against pages that are rewritten before each launch."""
    findings = []
    for changes, rows in _variants(comparer, "pages"):
        base = rows[0].estimate
        size = base.condition.get("parent_bytes")
        where = f"at {approximate_bytes(size)} " if isinstance(size, int) and size else ""
        entries = _against_base(comparer, rows)
        if not entries:
            continue
        state = {"clean": "left clean by the last fork", "first": "never forked before"}
        said = []
        for value in dict.fromkeys(one.a.estimate.condition["pages"] for one in entries):
            own = [one for one in entries if one.a.estimate.condition["pages"] == value]
            said.append(f"with pages {state.get(str(value), value)} {_as_long(own)}")
        words = condition(changes, base.temperature, base.condition.get("placement"))
        text = (
            f"{where}{mechanism(base.workload)} takes {'; '.join(said)}, "
            f"against pages {base.condition['pages']}, {words}"
        )
        name = f"pages.{base.workload.removeprefix('launch.')}.{base.temperature}"
        findings.append(Finding(name, sentence(text), _numbers(entries, rows)))
    return findings


def linkages(comparer: Comparer) -> list[Finding]:
    """What the parent's linkage does to a launch, against the default linkage."""
    findings = []
    for changes, rows in _variants(comparer, "linkage"):
        base = rows[0].estimate
        entries = _against_base(comparer, rows)
        if not entries:
            continue
        said = []
        for value in dict.fromkeys(one.a.estimate.condition["linkage"] for one in entries):
            own = [one for one in entries if one.a.estimate.condition["linkage"] == value]
            said.append(f"from a {linkage(value)} parent {_as_long(own)}")
        words = condition(changes, base.temperature, base.condition.get("placement"))
        text = (
            f"{mechanism(base.workload)} takes {'; '.join(said)}, "
            f"against a {linkage(base.condition['linkage'])} one, {words}"
        )
        name = f"linkage.{base.workload.removeprefix('launch.')}.{base.temperature}"
        findings.append(Finding(name, sentence(text), _numbers(entries, rows)))
    return findings


def _as_long(comparisons: Sequence[Comparison]) -> str:
    first, *others = comparisons
    said = [f"{first.text} times as long {until(first.a.estimate.stage)}"]
    return listed(said + [f"{one.text} {until(one.a.estimate.stage)}" for one in others])


def _numbers(entries: Sequence[Comparison], rows: Sequence[Evidence]) -> dict[str, Any]:
    cells = list(dict.fromkeys(row.estimate.cell for row in rows))
    return lead(entries).numbers | {"ratios": [one.numbers for one in entries], "cells": cells}


def _against_base(comparer: Comparer, rows: Sequence[Evidence]) -> list[Comparison]:
    """Compare the rows after the first with the first, at each stage that both have, ``reaped`` last."""
    book, base = comparer.book, rows[0].estimate
    found = []
    for row in rows[1:]:
        for stage in STAGES:
            one, other = (
                book.main(side.workload, book.changes(side), side.temperature, stage)
                for side in (row.estimate, base)
            )
            if one is not None and other is not None and one.estimate.rankable:
                comparison = comparer.compare(one, other)
                if comparison is not None:
                    found.append(comparison)
    return found


def _variants(comparer: Comparer, axis: str) -> list[tuple[dict[str, int | str], list[Evidence]]]:
    """Conditions measured with the default of ``axis`` and with other values: the default's row first."""
    book = comparer.book
    found = []
    for row in book.rows:
        estimate = row.estimate
        changes = book.changes(estimate)
        if estimate.stage != "reaped" or axis in changes or axis not in estimate.condition:
            continue
        if book.main(estimate.workload, changes, estimate.temperature, "reaped") is not row:
            continue
        values = dict.fromkeys(
            other.estimate.condition.get(axis)
            for other in book.rows
            if other.estimate.workload == estimate.workload
        )
        others = [
            book.main(estimate.workload, {**changes, axis: value}, estimate.temperature, "reaped")
            for value in values
            if value is not None and value != estimate.condition[axis]
        ]
        present = [other for other in others if other is not None]
        if present:
            found.append((changes, [row, *present]))
    return found


def placements(comparer: Comparer) -> list[Finding]:
    """Where tasks ran when they were free to, and what that did to when they ran."""
    found = [_placement_of(comparer, workload, one) for workload in (FORK, PTHREAD) for one in TEMPERATURES]
    return [finding for finding in found if finding is not None]


def _placement_of(comparer: Comparer, workload: str, temperature: str) -> Finding | None:
    rows = comparer.book.select(workload, {"placement": "free"}, temperature, "task_runs")
    by_placement = {row.estimate.placement: row for row in rows if row.estimate.placement is not None}
    if not by_placement:
        return None
    other, same = by_placement.get("other_cpu"), by_placement.get("same_cpu")
    total = sum(row.estimate.n_samples for row in by_placement.values())
    share = other.estimate.n_samples / total if other is not None else 0.0
    name = mechanism(workload)
    text = f"left free, {temperature}, {name} started its task on another CPU in {share:.0%} of launches"
    numbers: dict[str, Any] = {
        "other_cpu_share": share,
        "temperature": temperature,
        "workload": workload,
        "cells": sorted({row.estimate.cell for row in rows}),
    }
    comparison = comparer.compare(other, same) if other is not None and same is not None else None
    # One or two processes are an accident of scheduling, not a comparison.
    if comparison is not None and comparison.ratio.n >= RARE_PROCESSES:
        numbers = comparison.numbers | numbers
        text += f"; it took {comparison.text} times as long {until('task_runs')} there as on the same CPU"
    return Finding(f"placement.{workload.removeprefix('launch.')}.{temperature}", sentence(text), numbers)
