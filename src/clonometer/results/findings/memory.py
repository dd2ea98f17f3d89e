"""What written memory in the parent does to a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.families.same_image import FORK, PTHREAD
from clonometer.plan.qualifiers import qualified_by
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import interval_ends, missing_ends_reason
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.growth import Growth, Trend, Words, growth_of, growth_texts, trend_of
from clonometer.results.findings.wording import condition, sentence
from clonometer.results.rows.run_estimates import Changes, RunEstimate
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes, bytes_in, bytes_unit, format_number
from clonometer.words import mechanism_name

PAGE_BYTES = 4096
PAGES_PER_GIB = (1 << 30) // PAGE_BYTES
PAGES_PER_HUGE = (2 << 20) // PAGE_BYTES
_OF_HUGE_PAGES = ("thp", "hugetlb")
_STAGES = ("reaped", "call_returns")


def memory(tests: PairwiseTests) -> Findings:
    """What memory in the parent does to launches, by kind of pages: ns per 4 KiB page, and ms per GiB.

    Fork and pthread under the default condition first, then whatever else was scanned.
    """
    asked: list[tuple[str, Changes]] = [(FORK, {}), (PTHREAD, {})]
    for row in tests.estimates.rows:
        if row.stage is None or "parent_bytes" not in tests.estimates.changes(row):
            continue
        entry = (row.workload, tests.estimates.changes(row, "parent_bytes"))
        if entry not in asked:
            asked.append(entry)
    return (_memory_of(tests, workload, changes) for workload, changes in asked)


def _memory_of(tests: PairwiseTests, workload: str, changes: Changes) -> Finding | None:
    for temperature in TEMPERATURES:
        entries: list[dict[str, Any]] = []
        growths: list[Growth] = []
        for stage in _STAGES:
            points = memory_points(tests, workload, changes, temperature, stage)
            if len(points) < 2 or not all(point.rankable for point in points):
                continue
            estimate = points[0]
            trend = trend_of(tests, points, [_pages(row) for row in points], "line", estimate.cell, estimate.stage)
            growth = growth_of(tests, points, trend)
            growths += [growth] if growth is not None else []
            entries.append(_numbers(trend, points, stage) | {"growth": numbers_of(growth.ends) if growth else None})
        if growths:
            tests.mark_reported((growths[0].ends.other, growths[0].ends.base), "parent_bytes")
            numbers = entries[0] | numbers_of(growths[0].ends)
            numbers |= {"stages": entries, "temperature": temperature, "workload": workload}
            numbers["cells"] = entries[0]["cells"]
            text, headline = _texts(growths, temperature, changes)
            name = ".".join([workload.removeprefix("launch."), *map(str, changes.values())])
            return Finding(f"memory.{name}", text, numbers, headline)
    return None


def _texts(growths: Sequence[Growth], temperature: str, changes: Changes) -> tuple[str, str]:
    """Say what the largest of the units adds that was measured: never what lies beyond the data."""
    largest = growths[0].points[-1]
    unit = bytes_unit([_parent_bytes(largest)])
    words = Words(
        name=mechanism_name(largest.workload),
        thing=(thing := f"{unit} {'in the parent' if changes else 'the parent has written'}"),
        of_x=PAGE_BYTES / bytes_in(unit),
        place=_size,
        where=condition(changes, temperature, largest.condition.get("placement")),
        at="with",
        brief=(thing, condition(changes, temperature)),
    )
    text, headline = growth_texts(growths, words)
    if growths[0].is_line:
        text += " " + sentence(f"that is {_per_page(growths[0], changes)}")
    return text, headline


def _size(row: RunEstimate) -> str:
    size = _parent_bytes(row)
    return approximate_bytes(size) if size else "no memory"


def _per_page(growth: Growth, changes: Changes) -> str:
    """Say the slope per page: huge ones where the memory is made of them, since those are what is copied."""
    slope = (growth.trend.straight or growth.trend.line).slope
    per_page = [slope.value, *(interval_ends(slope) or ())]
    if changes.get("page_kind") in _OF_HUGE_PAGES:
        per_page = [number * PAGES_PER_HUGE for number in per_page]
        return f"{format_number(*per_page)} ns for each 2 MiB page"
    return f"{format_number(*per_page)} ns for each 4 KiB page"


def memory_points(
    tests: PairwiseTests, workload: str, changes: Changes, temperature: str | None, stage: str
) -> list[RunEstimate]:
    """Rows of one workload that differ only in ``parent_bytes``, smallest first."""
    estimates = tests.estimates
    sizes = {row.condition.get("parent_bytes") for row in estimates.rows_of(workload)}
    points = []
    for size in sorted(size for size in sizes if isinstance(size, int)):
        plain = {axis: value for axis, value in changes.items() if axis not in qualified_by("parent_bytes")}
        # Where there is no memory, it is of no kind.
        changed = plain if size == estimates.default("parent_bytes") else {**changes, "parent_bytes": size}
        row = estimates.main(workload, changed, temperature, stage)
        if row is not None:
            points.append(row)
    return points if sum(_parent_bytes(row) > 0 for row in points) > (1 if changes else 0) else []


def _parent_bytes(row: RunEstimate) -> int:
    return int(row.condition["parent_bytes"])


def _pages(row: RunEstimate) -> float:
    return _parent_bytes(row) / PAGE_BYTES


def _numbers(trend: Trend, points: Sequence[RunEstimate], stage: str) -> dict[str, Any]:
    line = trend.line
    return {
        "stage": stage,
        "slope_ns_per_page": line.slope.value,
        "slope_ns_per_page_interval": interval_ends(line.slope),
        "ms_per_gib": line.slope.value * PAGES_PER_GIB / 1e6,
        "ms_per_gib_interval": interval_ends(line.slope, PAGES_PER_GIB / 1e6),
        "interval_reason": missing_ends_reason(line.slope),
        "intercept_ns": line.coefficients[0].value,
        "largest_miss": trend.largest_miss,
        "straight_upto_bytes": None if trend.straight is None else _parent_bytes(points[trend.upto]),
        "straight_slope_ns_per_page": None if trend.straight is None else trend.straight.slope.value,
        "parent_bytes": [_parent_bytes(row) for row in points],
        "median_ns": [row.median_ns for row in points],
        "cells": [row.cell for row in points],
    }


FINDERS = (Finder(memory, 40),)
