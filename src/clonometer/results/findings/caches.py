"""What a launch costs with cold caches, as a server has them that launches now and then, beside a tight loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.plan.qualifiers import qualified_by
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import duration_words
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, listed, short_median, verdict
from clonometer.results.rows.run_estimates import Changes, RunEstimate
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes, format_duration
from clonometer.verdicts import Direction
from clonometer.words import mechanism_name, until

PAGE_BYTES = 4096
_AXES = frozenset(("caches",)) | qualified_by("caches")
_OF_MEMORY = frozenset(("parent_bytes",)) | qualified_by("parent_bytes")
# A live server notices the call; of what sleeps until another program has begun only the whole counts.
_STAGES = ("call_returns", "reaped")


@dataclass(frozen=True)
class _Figure:
    """One side: its row, and what a page of the parent's memory costs there, where one costs anything."""

    row: RunEstimate
    ns_per_page: Change[RunEstimate] | None


def caches(tests: PairwiseTests) -> Findings:
    """Say what each launch costs with cold caches and in a tight loop: for each page where there is memory.

    One finding for each condition that was measured with hot caches and with others.
    """
    asked: dict[tuple[str, tuple[tuple[str, int | str], ...]], list[Changes]] = {}
    for row in tests.estimates.rows:
        changes = tests.estimates.changes(row)
        if "caches" in changes and row.stage is not None:
            base = tests.estimates.changes(row, *_AXES)
            colds_of_base = asked.setdefault((row.workload, tuple(base.items())), [])
            cold = {axis: value for axis, value in changes.items() if axis in _AXES}
            if cold not in colds_of_base:
                colds_of_base.append(cold)
    return (_caches_finding(tests, workload, dict(base), colds) for (workload, base), colds in asked.items())


def _caches_finding(tests: PairwiseTests, workload: str, base: Changes, colds: Sequence[Changes]) -> Finding | None:
    for stage in _STAGES:
        for temperature in TEMPERATURES[::-1]:
            hot = _figure(tests, workload, base, {}, (temperature, stage))
            if hot is None or not hot.row.rankable:
                continue
            sides = [(cold, _figure(tests, workload, base, cold, (temperature, stage))) for cold in colds]
            measured = [(cold, side) for cold, side in sides if side is not None]
            ratios = tests.compare_all((side.row, hot.row) for _, side in measured)
            if measured and len(ratios) == len(measured):
                # What a page costs is told as well.
                tests.mark_reported((side.row for _, side in measured), *_AXES, "parent_bytes")
                return _cold_finding(tests, base, hot, measured, ratios)
    return None


def _cold_finding(
    tests: PairwiseTests,
    base: Changes,
    hot: _Figure,
    colds: Sequence[tuple[Changes, _Figure]],
    ratios: Sequence[Change[RunEstimate]],
) -> Finding:
    first = hot.row
    name = mechanism_name(first.workload)
    by_page = hot.ns_per_page is not None and all(side.ns_per_page is not None for _, side in colds)
    words = condition(base, first.temperature, first.condition.get("placement"))
    a_page = " a page" if by_page else ""
    head = ", ".join(filter(None, [f"{name} {until(first.stage)}", words]))
    tight = "in a tight loop"
    costs = [f"{_cost(side, by_page=by_page)}{a_page} {_why(tests, cold)}" for cold, side in colds]
    whole = [
        verdict(f"a launch {_why(tests, cold)}", "in a tight loop", ratio)
        for (cold, _), ratio in zip(colds, ratios, strict=True)
    ]
    text = headed(head, [f"{listed(costs)}, {_cost(hot, by_page=by_page)}{a_page} {tight}", *whole])
    short = [f"{_short(side, by_page=by_page)}{a_page} {_why(tests, cold)}" for cold, side in colds]
    headline = headed(head, [f"{', '.join(short)}, {_short(hot, by_page=by_page)}{a_page} {tight}"])
    if all(ratio.direction == Direction.UNKNOWN for ratio in ratios):
        headline = headed(head, whole)
    numbers: dict[str, Any] = numbers_of(ratios[0]) | {
        "workload": first.workload,
        "hot": _numbers(hot),
        "cold": [_numbers(side) | {"caches": cold} for cold, side in colds],
        "ratios": [numbers_of(ratio) for ratio in ratios],
        "cells": [hot.row.cell, *(side.row.cell for _, side in colds)],
    }
    parts = [first.workload.removeprefix("launch."), *(f"{axis}={value}" for axis, value in base.items())]
    return Finding(".".join(["caches", *parts]), text, numbers, headline)


def _why(tests: PairwiseTests, cold: Changes) -> str:
    """What was done to the caches, with the amounts."""
    if cold["caches"] == "idle":
        return f"after {format_duration(float(_amount(tests, cold, 'idle_ns')))} idle"
    where = "another CPU" if cold.get("thrash_cpu") == "other" else "its CPU"
    return f"after another task walked {approximate_bytes(_amount(tests, cold, 'thrash_bytes'))} on {where}"


def _amount(tests: PairwiseTests, cold: Changes, axis: str) -> int:
    return int(cold.get(axis, tests.estimates.default(axis) or 0))


def _cost(side: _Figure, *, by_page: bool) -> str:
    """What it costs with its interval: of a page, or the whole."""
    if by_page and side.ns_per_page is not None:
        return side.ns_per_page.text
    estimate = side.row
    if estimate.drift is not None:
        return short_median(side.row)
    return duration_words(estimate.median_ns or 0.0, estimate.median_ends)


def _short(side: _Figure, *, by_page: bool) -> str:
    if by_page and side.ns_per_page is not None:
        each = side.ns_per_page
        return format_duration(each.value or 0.0, each.low, each.high)
    return short_median(side.row)


def _figure(tests: PairwiseTests, workload: str, base: Changes, cold: Changes, at: tuple[str, str]) -> _Figure | None:
    """One side at a temperature and a stage; None where it was not measured."""
    row = tests.estimates.main(workload, {**base, **cold}, *at)
    if row is None:
        return None
    size = base.get("parent_bytes")
    bare = {axis: value for axis, value in base.items() if axis not in _OF_MEMORY}
    without = tests.estimates.main(workload, {**bare, **cold}, *at)
    # Of huge pages the number of 4 KiB ones says nothing.
    if not isinstance(size, int) or without is None or "page_kind" in base:
        return _Figure(row, None)
    difference = tests.difference(row, without)
    each = difference.over(size / PAGE_BYTES)
    return _Figure(row, each if difference.direction == Direction.MORE else None)


def _numbers(side: _Figure) -> dict[str, Any]:
    each = side.ns_per_page
    return {
        "median_ns": side.row.median_ns,
        "median_low_ns": side.row.median_low_ns,
        "median_high_ns": side.row.median_high_ns,
        "ns_per_page": None if each is None else each.value,
        "ns_per_page_interval": None if each is None else each.interval,
        "cell": side.row.cell,
    }


FINDERS = (Finder(caches, 50),)
