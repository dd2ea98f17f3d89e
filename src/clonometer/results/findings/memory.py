"""What written memory in the parent does to a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.families.same_image import FORK, PTHREAD
from clonometer.plan.qualifiers import qualified_by
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import duration_words, interval_ends, missing_ends_reason
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, listed, sentence
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Finding
from clonometer.stats.fit import Line, line_through_medians
from clonometer.units import approximate_bytes, format_number
from clonometer.words import axis_words, mechanism_name, until

PAGE_BYTES = 4096
PAGES_PER_GIB = (1 << 30) // PAGE_BYTES
PAGES_PER_HUGE = (2 << 20) // PAGE_BYTES
_OF_HUGE_PAGES = ("thp", "hugetlb")
Changes = dict[str, int | str]
_STAGES = ("reaped", "call_returns")


def memory(comparer: Comparer) -> list[Finding]:
    """What memory in the parent does to launches, by kind of pages: ns per 4 KiB page, and ms per GiB.

    Fork and pthread under the default condition first, then whatever else was scanned.
    """
    asked: list[tuple[str, Changes]] = [(FORK, {}), (PTHREAD, {})]
    for row in comparer.book.rows:
        if row.estimate.stage is None or "parent_bytes" not in comparer.book.changes(row.estimate):
            continue
        others = {axis: value for axis, value in comparer.book.changes(row.estimate).items() if axis != "parent_bytes"}
        if (row.estimate.workload, others) not in asked:
            asked.append((row.estimate.workload, others))
    return [finding for workload, changes in asked for finding in _memory_of(comparer, workload, changes)]


def _memory_of(comparer: Comparer, workload: str, changes: Changes) -> list[Finding]:
    for temperature in TEMPERATURES:
        entries: list[dict[str, Any]] = []
        growth: Comparison | None = None
        for stage in _STAGES:
            points = memory_points(comparer, workload, changes, temperature, stage)
            if len(points) < 2 or not all(point.estimate.rankable for point in points):
                continue
            line = _line(comparer, points)
            grown = comparer.compare(points[-1], points[0])
            growth = growth or grown
            entries.append(_line_numbers(line, points, stage) | {"growth": grown.numbers if grown else None})
        if entries and growth is not None:
            comparer.claim((growth.a, growth.b), "parent_bytes")
            numbers = entries[0] | growth.numbers
            numbers |= {"stages": entries, "temperature": temperature, "workload": workload}
            numbers["cells"] = entries[0]["cells"]
            text = _memory_text(comparer, growth, entries, temperature, changes)
            headline = _memory_in_short(growth, entries[0], temperature, changes)
            name = ".".join([workload.removeprefix("launch."), *map(str, changes.values())])
            return [Finding(f"memory.{name}", sentence(text), numbers, headline)]
    return []


def _memory_in_short(growth: Comparison, entry: dict[str, Any], temperature: str, changes: Changes) -> str:
    name, stage = mechanism_name(growth.a.estimate.workload), until(entry["stage"])
    of_kind = _of_kind(changes)
    if growth.sees_nothing:
        return sentence(f"memory{of_kind} is not seen to change {name} {stage} ({growth.aside})")
    return sentence(f"each GiB{of_kind or ' written'} adds {_per_gib(entry)} to {name} {stage}, {temperature}")


def _of_kind(changes: Changes) -> str:
    words = [axis_words(axis, value) for axis, value in changes.items()]
    return f" ({', '.join(words)})" if words else ""


def _memory_text(
    comparer: Comparer, growth: Comparison, entries: Sequence[dict[str, Any]], temperature: str, changes: Changes
) -> str:
    name, of_kind = mechanism_name(growth.a.estimate.workload), _of_kind(changes)
    sizes = entries[0]["parent_bytes"]
    first, last = (approximate_bytes(size) if size else "none" for size in (sizes[0], sizes[-1]))
    words = condition({}, temperature, comparer.book.default("placement"))
    reaped = until(growth.a.estimate.stage)
    if growth.sees_nothing:
        return (
            f"memory in the parent{of_kind} is not seen to change {name}: at {last} it takes {growth.text} times "
            f"as long {reaped} as at {first}, {words}"
        )
    slopes = listed(
        [f"{_per_gib(entry) if _grows(entry) else 'nothing seen'} {until(entry['stage'])}" for entry in entries]
    )
    return (
        f"each GiB {'' if of_kind else 'written '}in the parent{of_kind} adds to {name} {slopes}, "
        f"{_per_page(entries[0], changes)} {reaped}; "
        f"at {last} it takes {growth.text} times as long {reaped} as at {first}, {words}"
    )


def _grows(entry: dict[str, Any]) -> bool:
    interval = entry["slope_ns_per_page_interval"]
    return bool(interval is None or interval[0] > 0 or interval[1] < 0)


def _per_page(entry: dict[str, Any], changes: Changes) -> str:
    """Say the slope per page: huge ones where the memory is made of them, since those are what is copied."""
    per_page = [entry["slope_ns_per_page"], *(entry["slope_ns_per_page_interval"] or ())]
    if changes.get("page_kind") in _OF_HUGE_PAGES:
        per_page = [number * PAGES_PER_HUGE for number in per_page]
        return f"{format_number(*per_page)} ns per 2 MiB page"
    return f"{format_number(*per_page)} ns per 4 KiB page"


def _per_gib(entry: dict[str, Any]) -> str:
    interval = entry["slope_ns_per_page_interval"]
    scaled = None if interval is None else [number * PAGES_PER_GIB for number in interval]
    return duration_words(entry["slope_ns_per_page"] * PAGES_PER_GIB, scaled)


def memory_points(
    comparer: Comparer, workload: str, changes: Changes, temperature: str | None, stage: str
) -> list[Evidence]:
    """Rows of one workload that differ only in ``parent_bytes``, smallest first."""
    book = comparer.book
    sizes = {row.estimate.condition.get("parent_bytes") for row in book.rows if row.estimate.workload == workload}
    points = []
    for size in sorted(size for size in sizes if isinstance(size, int)):
        plain = {axis: value for axis, value in changes.items() if axis not in qualified_by("parent_bytes")}
        # Where there is no memory, it is of no kind.
        changed = plain if size == book.default("parent_bytes") else {**changes, "parent_bytes": size}
        row = book.main(workload, changed, temperature, stage)
        if row is not None:
            points.append(row)
    return points if sum(_parent_bytes(row) > 0 for row in points) > (1 if changes else 0) else []


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
        "slope_ns_per_page_interval": interval_ends(slope),
        "ms_per_gib": slope.value * PAGES_PER_GIB / 1e6,
        "ms_per_gib_interval": interval_ends(slope, PAGES_PER_GIB / 1e6),
        "interval_reason": missing_ends_reason(slope),
        "intercept_ns": line.intercept.value,
        "largest_miss": line.largest_miss,
        "parent_bytes": [_parent_bytes(row) for row in points],
        "median_ns": [row.estimate.median_ns for row in points],
        "cells": [row.estimate.cell for row in points],
    }


FINDERS = (Finder(memory, 40),)
