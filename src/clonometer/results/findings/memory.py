"""What written memory in the parent does to a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.results.evidence import Evidence
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.contests import FORK, PTHREAD, TEMPERATURES
from clonometer.results.findings.wording import condition, listed, mechanism, sentence, until
from clonometer.results.types import Finding
from clonometer.stats.fit import Line, line_through_medians
from clonometer.units import approximate_bytes, format_duration_interval, format_number

PAGE_BYTES = 4096
PAGES_PER_GIB = (1 << 30) // PAGE_BYTES
_STAGES = ("reaped", "call_returns")


def memory(comparer: Comparer) -> list[Finding]:
    """What written memory in the parent does to fork and to pthread: ns per 4 KiB page, and ms per GiB."""
    return [finding for workload in (FORK, PTHREAD) for finding in _memory_of(comparer, workload)]


def _memory_of(comparer: Comparer, workload: str) -> list[Finding]:
    for temperature in TEMPERATURES:
        entries: list[dict[str, Any]] = []
        growth: Comparison | None = None
        for stage in _STAGES:
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
            headline = _memory_in_short(growth, entries[0], temperature)
            return [Finding(f"memory.{workload.removeprefix('launch.')}", sentence(text), numbers, headline)]
    return []


def _memory_in_short(growth: Comparison, entry: dict[str, Any], temperature: str) -> str:
    name, stage = mechanism(growth.a.estimate.workload), until(entry["stage"])
    if growth.sees_nothing:
        return sentence(f"memory is not seen to change {name} {stage} ({growth.aside})")
    return sentence(f"each GiB written adds {_per_gib(entry)} to {name} {stage}, {temperature}")


def _memory_text(comparer: Comparer, growth: Comparison, entries: Sequence[dict[str, Any]], temperature: str) -> str:
    name = mechanism(growth.a.estimate.workload)
    sizes = entries[0]["parent_bytes"]
    first, last = (approximate_bytes(size) if size else "none" for size in (sizes[0], sizes[-1]))
    words = condition({}, temperature, comparer.book.default("placement"))
    reaped = until(growth.a.estimate.stage)
    if growth.sees_nothing:
        return (
            f"memory in the parent is not seen to change {name}: at {last} it takes {growth.text} times "
            f"as long {reaped} as at {first}, {words}"
        )
    slopes = listed([f"{_per_gib(entry)} {until(entry['stage'])}" for entry in entries])
    pages = format_number(entries[0]["slope_ns_per_page"], *entries[0]["slope_ns_per_page_interval"])
    return (
        f"each GiB written in the parent adds to {name} {slopes}, {pages} ns per 4 KiB page {reaped}; "
        f"at {last} it takes {growth.text} times as long {reaped} as at {first}, {words}"
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
    sizes = {row.estimate.condition.get("parent_bytes") for row in book.rows if row.estimate.workload == workload}
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
