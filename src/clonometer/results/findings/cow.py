"""What fork postpones: the writes that copy, and what other threads of the parent notice of a fork."""

from __future__ import annotations

from typing import Any

from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, in_doubt, median_with_ends, short_median
from clonometer.results.rows.run_estimates import Changes, RunEstimate, RunEstimates
from clonometer.results.types import Estimate, Finding
from clonometer.units import approximate_bytes, format_duration
from clonometer.verdicts import Direction
from clonometer.words import axis_words

PARENT, CHILD, FRESH, STALL = "cow.parent", "cow.child", "cow.fresh", "cow.stall"
PAGE_BYTES = 4096
_GONE = {"other_process": "gone"}
_WRITE, _AGAIN = "write_each_ns", "again_each_ns"


def first_writes(tests: PairwiseTests) -> Findings:
    """Say what the first write to a page after a fork costs, for parent and child, as a copy and as no copy.

    One finding for each condition that both sides of `PARENT` or `CHILD` were measured in.
    """
    estimates = tests.estimates
    rows = [row for row in estimates.rows if row.workload in (PARENT, CHILD)]
    bases: list[Changes] = []
    for estimate in rows:
        changes = estimates.changes(estimate, "other_process")
        if changes not in bases:
            bases.append(changes)
    return (_first_write(tests, changes) for changes in bases)


def _first_write(tests: PairwiseTests, changes: Changes) -> Finding | None:
    estimates = tests.estimates
    writes: dict[tuple[str, str], RunEstimate] = {}
    for workload in (PARENT, CHILD):
        for other, more in (("alive", {}), ("gone", _GONE)):
            row = estimates.main(workload, {**changes, **more}, None, None, _WRITE)
            if row is not None:
                writes[workload, other] = row
    floor = next((again for row in writes.values() if (again := estimates.find(row.cell, _AGAIN)) is not None), None)
    fresh = estimates.main(FRESH, changes, None, None, _WRITE)
    if not writes or floor is None:
        return None
    page = _page(changes)
    texts = [text for workload in (PARENT, CHILD) for text in _side(tests, workload, page, writes)]
    first = next(iter(writes.values()))
    words = condition(changes, None, first.condition.get("placement"))
    if fresh is not None:
        texts.append(f"{page} of new memory costs {median_with_ends(fresh)}")
    texts.append(f"a write that needs no fault costs {median_with_ends(floor)}")
    head = f"after a fork, {words}" if words else "after a fork"
    rows = [*writes.values(), *([fresh] if fresh is not None else [])]
    numbers = _numbers(tests, writes) | {
        "writes": [_entry(row) for row in rows],
        "no_fault_ns": floor.median_ns,
        "cells": [row.cell for row in rows],
    }
    name = ".".join(["cow.first_write", *map(str, changes.values())])
    return Finding(name, headed(head, texts), numbers, _headline(tests, head, writes, page))


def _page(changes: Changes) -> str:
    """What is written: a page, or a part of one."""
    if changes.get("page_kind", "4k") == "4k":
        return "a page"
    return "4 KiB of a huge page" if changes.get("write_step") == "small_page" else "a huge page"


def _reuse(estimates: RunEstimates, row: RunEstimate) -> str:
    """What becomes of pages that are no longer shared: huge ones are taken over whole, or split all the same."""
    faults, split = (estimates.find(row.cell, quantity) for quantity in ("faults", "split_pages"))
    if row.condition.get("write_step") != "small_page" or faults is None or split is None:
        return "the page is reused, not copied"
    written = approximate_bytes(int(row.condition["written_bytes"]))
    taken = f"{faults.value:g} {'fault' if faults.value == 1 else 'faults'} in {written}"
    if split.value:
        return f"the kernel still splits {split.value:g} of the huge pages: {taken}"
    return f"the whole huge page is reused: {taken}"


def _side(tests: PairwiseTests, workload: str, page: str, writes: dict[tuple[str, str], RunEstimate]) -> list[str]:
    """What one side pays, as a copy and without one."""
    alive, gone = writes.get((workload, "alive")), writes.get((workload, "gone"))
    side, other = ("parent", "child") if workload == PARENT else ("child", "parent")
    texts = []
    if alive is not None:
        texts.append(
            f"while the {other} lives, the {side}'s first write to {page} copies it: {median_with_ends(alive)}"
        )
    if gone is not None:
        kept = _reuse(tests.estimates, gone)
        texts.append(f"once the {other} has exited, it costs the {side} {median_with_ends(gone)} ({kept})")
    if alive is not None and gone is not None:
        texts += _unsure(tests, alive, gone)
    return texts


def _unsure(tests: PairwiseTests, alive: RunEstimate, gone: RunEstimate) -> list[str]:
    compared = tests.compare(alive, gone)
    if compared is None or compared.direction != Direction.UNKNOWN:
        return []
    return [in_doubt("between the two", compared)]


def _headline(tests: PairwiseTests, head: str, writes: dict[tuple[str, str], RunEstimate], page: str) -> str:
    alive, gone = writes.get((PARENT, "alive")), writes.get((PARENT, "gone"))
    if alive is None or gone is None:
        return ""
    costs = f"the parent pays {median_with_ends(alive)} for the first write to {page}"
    return headed(
        head,
        [f"{costs}, {median_with_ends(gone)} once the child has exited", *_unsure(tests, alive, gone)],
    )


def _numbers(tests: PairwiseTests, writes: dict[tuple[str, str], RunEstimate]) -> dict[str, Any]:
    """The ratio of a copy to a page that is taken over, where both were measured."""
    for workload in (PARENT, CHILD):
        alive, gone = writes.get((workload, "alive")), writes.get((workload, "gone"))
        compared = tests.compare(alive, gone) if alive is not None and gone is not None else None
        if compared is not None:
            return numbers_of(compared)
    return {}


def _entry(row: RunEstimate) -> dict[str, Any]:
    return {
        "workload": row.workload,
        "other_process": row.condition.get("other_process"),
        "write_each_ns": row.median_ns,
        "write_each_ns_interval": [row.median_low_ns, row.median_high_ns],
    }


def stalls(tests: PairwiseTests) -> Findings:
    """Tell a fork as one story, for the largest parent of each condition: the call, the stall, the aftermath."""
    estimates = tests.estimates
    largest: dict[tuple[object, ...], Estimate] = {}
    for estimate in estimates.rows_of(STALL):
        key = tuple(estimates.changes(estimate, "parent_bytes").items())
        if key not in largest or _size(estimate) > _size(largest[key]):
            largest[key] = estimate
    return (_story(tests, estimate) for estimate in largest.values())


def _size(estimate: Estimate) -> int:
    return int(estimate.condition["parent_bytes"])


def _story(tests: PairwiseTests, estimate: Estimate) -> Finding | None:
    estimates, cell, size = tests.estimates, estimate.cell, _size(estimate)
    names = ("fork_call", "quiet_stall", "call_stall", "aftermath_stall", "quiet_pass", "aftermath_pass")
    known = {name: row for name in names if (row := estimates.find(cell, f"{name}_ns")) is not None}
    if len(known) < len(names):
        return None
    # It tells what memory adds, by the largest parent: its phases are no scans of their own.
    tests.mark_reported(known.values(), "parent_bytes")
    slower = tests.difference(known["aftermath_pass"], known["quiet_pass"])
    memory = approximate_bytes(size) if size else "little memory"
    others = estimates.changes(estimate, "parent_bytes")
    words = "".join(f", {axis_words(axis, value)}" for axis, value in others.items())
    times = {name: median_with_ends(row) for name, row in known.items()}
    brief = {name: short_median(row) for name, row in known.items()}
    if slower.direction == Direction.MORE:
        more = f"afterwards, writing all of it once takes that thread {slower.text} longer than before"
        more += f", {format_duration((slower.value or 0.0) / (size / PAGE_BYTES))} for each 4 KiB page" if size else ""
    else:
        more = f"whether writing all of it once takes that thread longer afterwards is {slower.word} ({slower.aside})"
    head = f"fork of a parent with {memory}{words}"
    text = headed(
        head,
        [
            f"the call takes {times['fork_call']}",
            f"another thread that writes to that memory stands still for {times['call_stall']}",
            f"its longest gap without a fork is {times['quiet_stall']}",
            more,
            f"its longest gap afterwards is {times['aftermath_stall']}",
            *_tail(estimates, cell),
        ],
    )
    headline = headed(
        head,
        [
            f"{brief['fork_call']} for the call, {brief['call_stall']} that another thread stands still, "
            f"{brief['aftermath_pass']} to write it all again"
        ],
    )
    numbers: dict[str, Any] = {f"{name}_ns": row.median_ns for name, row in known.items()}
    numbers |= {
        "parent_bytes": size,
        "aftermath_extra_ns": slower.value,
        "aftermath_extra_ns_interval": slower.interval,
        "cells": [cell],
    }
    name = ".".join(["cow.story", *map(str, others.values())])
    return Finding(name, text, numbers, headline)


def _tail(estimates: RunEstimates, cell: str) -> list[str]:
    """Set the gaps after the fork beside those before it: the middle one, and what one in a hundred reaches."""
    steps = [f"{phase}_gap_{step}_ns" for step in ("p50", "p99") for phase in ("aftermath", "quiet")]
    rows = [row for step in steps if (row := estimates.find(cell, step)) is not None]
    if len(rows) < len(steps):
        return []
    middle, usual, tail, before = map(short_median, rows)
    return [
        f"half of its gaps are longer than {middle} ({usual} before the fork), 1 in 100 longer than {tail} ({before})"
    ]


FINDERS = (
    Finder(stalls, 70),
    Finder(first_writes, 80),
)
