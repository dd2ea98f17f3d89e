"""What a switch costs: between threads and between processes, and indirectly, by the caches that it leaves cold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, from_few, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, listed, several_ratios
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.kinds import pairs_of_kinds
from clonometer.results.series.scans import Scan, scans_of
from clonometer.results.series_types import TASK_KIND
from clonometer.results.types import Finding
from clonometer.units import approximate_bytes, format_duration, format_duration_interval
from clonometer.verdicts import Direction
from clonometer.words import axis_words

_FAMILY = "switch"
_HANDOVER, _SWITCH = "handover_ns", "switch_ns"
_OF_LARGE_CELLS = frozenset(("ring_tasks", "working_set_bytes"))
Where = tuple[tuple[tuple[str, int | str], ...], str | None]


def way(workload: str) -> str:
    """Say by what a task is woken or a message carried.

    Examples
    --------
    >>> way("switch.unix_socket")
    'unix socket'
    """
    return workload.partition(".")[2].replace("_", " ")


def where_of(estimates: RunEstimates, row: RunEstimate, *left_out: str) -> Where | None:
    """What is off its default but these axes, and where tasks ran if they were free; None where nobody saw that."""
    if row.condition.get("placement") == "free" and row.placement is None:
        return None
    return tuple(estimates.changes(row, *left_out).items()), row.free_placement


def where_words(where: Where, row: RunEstimate) -> str:
    """Say where tasks ran: pinned to one CPU or two, or free with what was observed, and what else was changed."""
    changes = {axis: value for axis, value in where[0] if axis != "partner_cpu"}
    words = [condition(changes, None, row.condition.get("placement"))]
    if where[1] is not None:
        words.append({"same_cpu": "on one CPU", "other_cpu": "on two CPUs"}.get(where[1], where[1]))
    elif "partner_cpu" in row.condition:
        words.append(axis_words("partner_cpu", row.condition["partner_cpu"]))
    return ", ".join(filter(None, words))


def _pairs(estimates: RunEstimates) -> dict[Where, list[tuple[RunEstimate, RunEstimate]]]:
    """Hand-overs between threads and between processes that differ in nothing else, by where they ran."""
    rows = [row for row in estimates.rows if (row.family, row.quantity) == (_FAMILY, _HANDOVER)]
    pairs: dict[Where, list[tuple[RunEstimate, RunEstimate]]] = {}
    for thread, process in pairs_of_kinds(rows):
        where = where_of(estimates, process, TASK_KIND)
        if where is not None and not _OF_LARGE_CELLS & dict(where[0]).keys():
            pairs.setdefault(where, []).append((process, thread))
    return pairs


def kinds(tests: PairwiseTests) -> Findings:
    """Whether handing over to another process takes longer than to another thread, by each way (S17, B10)."""
    for where, pairs in _pairs(tests.estimates).items():
        made = tests.compare_all(pairs)
        if not made:
            continue
        tests.mark_reported((row for comparison in made for row in comparison.sides), TASK_KIND, "partner_cpu")
        words = where_words(where, made[0].other)
        clauses = _clauses(made)
        least, entries = _least(tests, made)
        text = headed(words, [*clauses, *least])
        headline = headed(words, [*clauses[:1], *least])
        numbers = numbers_of(made[0]) | {
            "of": "processes over threads, a handover",
            "ways": entries,
            "cells": cells_of(made),
        }
        name = ".".join(["switch.kinds", *(str(value) for _, value in where[0]), *filter(None, [where[1]])])
        yield Finding(name, text, numbers, headline)


def _clauses(made: list[Change[RunEstimate]]) -> list[str]:
    return several_ratios(
        "a handover between processes",
        "a handover between threads",
        made,
        at=lambda each: f"by {way(each.other.workload)}",
    )


def _least(tests: PairwiseTests, made: list[Change[RunEstimate]]) -> tuple[list[str], list[dict[str, Any]]]:
    """Say the switch itself, without the calls, by the way that makes it cheapest; and give the numbers of all."""
    entries, spoken = [], []
    for comparison in made:
        switches = []
        entry: dict[str, Any] = numbers_of(comparison) | {"workload": comparison.other.workload}
        for side, row in (("process", comparison.other), ("thread", comparison.base)):
            itself = tests.estimates.placements(row.cell, _SWITCH).get(row.placement)
            switches.append(itself)
            entry[f"{side}_handover_ns"] = row.median_ns
            entry[f"{side}_switch_ns"] = None if itself is None else itself.median_ns
        entries.append(entry)
        process, thread = switches
        # A task that yields sleeps never: it is less than a switch to a task that has to be woken.
        if process is not None and thread is not None and comparison.other.workload != "switch.yield":
            spoken.append((thread, process))
    if not spoken:
        return [], entries
    thread, process = min(spoken, key=lambda pair: pair[0].median_ns or 0.0)
    costs = f"{_cost(thread)} between threads, {_cost(process)} between processes"
    return [f"the switch itself, by {way(thread.workload)}: {costs}"], entries


def _cost(row: RunEstimate) -> str:
    median, low, high = row.median_with_ends
    if row.median_ends is None:
        return format_duration(median)
    return below(high) if low <= 0 else format_duration_interval(median, low, high)


def below(most_ns: float) -> str:
    """Write what is not seen: less than the most that its interval allows."""
    return f"< {format_duration(most_ns)}" if most_ns > 0 else "< 1 ns"


def indirect(tests: PairwiseTests) -> Findings:
    """What a switch costs more where the tasks have memory to work on: caches found cold (Li, Ding and Shen 2007)."""
    for scan in scans_of(tests.estimates):
        first = scan.points[0]
        of_a_switch = first.quantity == _SWITCH and TASK_KIND in first.condition
        if of_a_switch and scan.axis == "working_set_bytes" and first.condition[scan.axis] == 0:
            tests.mark_reported(scan.points, "working_set_bytes")
            yield _indirect(tests, scan)


def _indirect(tests: PairwiseTests, scan: Scan) -> Finding:
    none, first = scan.points[0], scan.points[0]
    entries = [_entry(tests, point, none) for point in scan.points[1:]]
    seen = [entry for entry in entries if entry["verdict"] == Direction.MORE]
    # Said first, whether it is the default or not.
    kind = axis_words(TASK_KIND, first.condition[TASK_KIND])
    where: Where = (tuple(item for item in scan.condition.items() if item[0] != TASK_KIND), first.free_placement)
    words = f"{way(first.workload)}, {kind}, {where_words(where, none)}"
    if seen:
        most = max(seen, key=lambda entry: entry["indirect_ns"])
        named = [seen[0], most] if most is not seen[0] else [most]
        amounts = listed([f"{_amount(entry)} with {approximate_bytes(entry['bytes'])}" for entry in named])
        texts = [
            f"a switch takes {_cost(none)}",
            f"with work in each task, the caches left cold add {amounts}",
        ]
    else:
        texts = []
    unseen = [entry for entry in entries if entry["verdict"] == Direction.UNKNOWN]
    if unseen:
        asides = [f"{approximate_bytes(entry['bytes'])} ({_below(entry)})" for entry in unseen]
        texts.append(f"whether a switch has an indirect cost is open with {listed(asides)} of work in each task")
    faster = [
        f"{_amount(entry)} with {approximate_bytes(entry['bytes'])}"
        for entry in entries
        if entry["verdict"] == Direction.LESS
    ]
    texts += [f"a switch takes less with work in each task, which is no cost: {listed(faster)}"] if faster else []
    headline = headed(words, texts[: 2 if seen else 1])
    name = ".".join(["switch.indirect", way(first.workload), *(str(value) for value in scan.condition.values())])
    numbers: Mapping[str, Any] = {
        "workload": first.workload,
        "direct_ns": first.median_ns,
        "sizes": entries,
        "cells": [point.cell for point in scan.points],
    }
    return Finding(name, headed(words, texts), numbers, headline)


def _entry(tests: PairwiseTests, point: RunEstimate, none: RunEstimate) -> dict[str, Any]:
    more = tests.difference(point, none)
    return {
        "bytes": int(point.condition["working_set_bytes"]),
        "indirect_ns": more.value,
        "indirect_low_ns": more.low,
        "indirect_high_ns": more.high,
        "below_ns": max((abs(end) for end in (more.low, more.high, more.value) if end is not None), default=None),
        "confidence": more.confidence,
        "n_processes": more.n,
        "verdict": more.direction,
    }


def _below(entry: Mapping[str, Any]) -> str:
    least = entry["below_ns"]
    return from_few(entry["n_processes"]).removeprefix(", ") if least is None else below(least)


def _amount(entry: Mapping[str, Any]) -> str:
    return format_duration_interval(entry["indirect_ns"], entry["indirect_low_ns"], entry["indirect_high_ns"])


FINDERS = (
    Finder(kinds, 90),
    Finder(indirect, 100),
)
