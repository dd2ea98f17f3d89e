"""Where not sharing wins: workers that are threads against workers that are processes, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.families import workload_words
from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import headed, listed, sentence, sentences, several_ratios, verdict
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.series.kinds import pairs_of_kinds
from clonometer.results.series_types import SIDES, TASK_KIND
from clonometer.results.types import Finding
from clonometer.verdicts import Direction
from clonometer.words import axis_words

FAMILY = "contend"
COUNTER, LAYOUT = "contend.counter", "counter_layout"
QUANTITY = "op_ns"
CPU_QUANTITY = "cpu_op_ns"
#: An operation, by its workload and its condition, and comparisons by the number of workers, the fewest first.
_Operation = tuple[str, tuple[tuple[str, int | str], ...]]
_ByWorkers = Mapping[int, Change[RunEstimate]]


def contention(tests: PairwiseTests) -> Findings:
    """Say of each operation how much longer it takes threads than processes, for each number of workers.

    The first finding sums up: what sharing costs, with the most workers that a run has both of.
    """
    operations, cpu = (_operations(tests, quantity) for quantity in (QUANTITY, CPU_QUANTITY))
    if len(operations) > 1:
        yield _summary(operations)
    for (workload, changes), by_workers in operations.items():
        made = by_workers.values()
        tests.mark_reported((row for comparison in made for row in comparison.sides), "workers", TASK_KIND)
        yield _contention_finding(workload, dict(changes), by_workers, cpu.get((workload, changes), {}))


def false_sharing(tests: PairwiseTests) -> Findings:
    """Say what it costs that the workers' counters lie side by side, or are one."""
    estimates = tests.estimates
    counters = estimates.rows_of(COUNTER)
    # One worker shares its counter with nobody, so that there is nothing to tell of it.
    tests.mark_reported(counters, LAYOUT)
    for layout in ("packed", "one"):
        pairs = []
        for kind in SIDES:
            for changes in estimates.conditions([COUNTER]):
                several = int(changes.get("workers", 1)) > 1
                if LAYOUT in changes or changes.get(TASK_KIND, SIDES[0]) != kind or not several:
                    continue
                padded = estimates.main(COUNTER, changes, None, None, QUANTITY)
                near = estimates.main(COUNTER, {**changes, LAYOUT: layout}, None, None, QUANTITY)
                pairs += [(near, padded)] if near and padded else []
        comparisons = tests.compare_all(pairs)
        if comparisons:
            yield _sharing_finding(layout, comparisons)


def operation(workload: str, changes: Mapping[str, int | str]) -> str:
    """Name an operation with its condition.

    Examples
    --------
    >>> operation("contend.open", {"opened": "same"})
    'opening and closing a file (the same file)'
    """
    name = workload_words(workload).doing or workload
    words = [axis_words(axis, value) for axis, value in changes.items()]
    return f"{name} ({', '.join(words)})" if words else name


def _operations(tests: PairwiseTests, quantity: str) -> dict[_Operation, _ByWorkers]:
    """Threads against processes at each operation of a run, those without a ratio left out."""
    rows = [row for row in tests.estimates.rows if (row.family, row.quantity) == (FAMILY, quantity)]
    operations: dict[_Operation, dict[int, Change[RunEstimate]]] = {}
    for comparison in tests.compare_all(pairs_of_kinds(rows)):
        estimate = comparison.other
        key = estimate.workload, tuple(tests.estimates.changes(estimate, TASK_KIND, "workers").items())
        operations.setdefault(key, {})[_workers(comparison)] = comparison
    return {operation: dict(sorted(by_workers.items())) for operation, by_workers in operations.items()}


def _workers(comparison: Change[RunEstimate]) -> int:
    return int(comparison.other.condition["workers"])


def _count(comparison: Change[RunEstimate]) -> str:
    return axis_words("workers", _workers(comparison))


def _contention_finding(
    workload: str, changes: Mapping[str, int | str], by_workers: _ByWorkers, cpu: _ByWorkers
) -> Finding:
    name = operation(workload, changes)
    made = list(by_workers.values())
    clauses = several_ratios("threads", "processes", made, plural=True, at=lambda each: f"with {_count(each)}")
    most, last = max(by_workers), made[-1]
    clauses += [_cpu_clause(cpu[most])] if most in cpu else []
    numbers: dict[str, Any] = numbers_of(last) | {
        "workload": workload,
        "of": "threads over processes",
        "workers": list(by_workers),
        "by_workers": [numbers_of(comparison) for comparison in made],
        "cpu_by_workers": [numbers_of(cpu[workers]) for workers in by_workers if workers in cpu],
        "cells": cells_of(made),
    }
    id_ = ".".join(["contention", workload.removeprefix("contend."), *map(str, changes.values())])
    return Finding(id_, headed(name, clauses), numbers, sentence(f"{name}, {_count(last)}: {_verdict(last)}"))


def _cpu_clause(comparison: Change[RunEstimate]) -> str:
    """Say what it costs in CPU time, which other programs' turns do not blur: waiting asleep is not part of it."""
    return f"in CPU time, with {_count(comparison)}, {_verdict(comparison)}"


def _verdict(comparison: Change[RunEstimate]) -> str:
    return verdict("threads", "processes", comparison, plural=True)


def _summary(operations: Mapping[_Operation, _ByWorkers]) -> Finding:
    """Say in one sentence where not sharing wins."""
    groups: dict[str, list[str]] = {Direction.MORE: [], Direction.LESS: [], Direction.UNKNOWN: []}
    # The verdict of the most workers, since one worker shares with nobody.
    last = [by_workers[max(by_workers)] for by_workers in operations.values()]
    for (workload, changes), comparison in zip(operations, last, strict=True):
        groups[comparison.direction].append(operation(workload, dict(changes)))
    clauses = []
    if groups[Direction.MORE]:
        clauses.append(f"processes, which share less, are faster at {listed(groups[Direction.MORE])}")
    if groups[Direction.LESS]:
        clauses.append(f"threads are faster at {listed(groups[Direction.LESS])}")
    if groups[Direction.UNKNOWN]:
        clauses.append(f"a difference is open at {listed(groups[Direction.UNKNOWN])}")
    most = sorted(set(map(_workers, last)))
    many = f"{most[0]}" if len(most) == 1 else f"{most[0]} to {most[-1]}"
    words = f"{many} worker{'' if many == '1' else 's'}"
    numbers = {
        "unshared_wins": groups[Direction.MORE],
        "shared_wins": groups[Direction.LESS],
        "cannot_tell": groups[Direction.UNKNOWN],
        "workers": most,
        "cells": cells_of(last),
    }
    return Finding("contention", headed(f"threads and processes, {words}", clauses), numbers)


def _sharing_finding(layout: str, made: Sequence[Change[RunEstimate]]) -> Finding:
    what = {
        "packed": "an addition to counters side by side (false sharing)",
        "one": "an addition to one counter for all",
    }[layout]
    padded = "to counters on separate cache lines"
    texts = several_ratios(what, padded, made, at=_with_whom)
    apart = [comparison for comparison in made if comparison.direction == Direction.MORE]
    strongest = max(apart or made, key=lambda comparison: comparison.value or 0.0)
    numbers = numbers_of(strongest) | {
        "layout": layout,
        "each": [numbers_of(comparison) | {"workers": _workers(comparison)} for comparison in made],
        "cells": cells_of(made),
    }
    most = "up to " if len(apart) > 1 else ""
    headline = (
        f"{what} takes {most}{strongest.text} times as long as {padded}, {_with_whom(strongest)}"
        if apart
        else f"{verdict(what, padded, strongest)}, {_with_whom(strongest)}"
    )
    return Finding(f"contention.{layout}_against_padded", sentences(*texts), numbers, sentence(headline))


def _with_whom(comparison: Change[RunEstimate]) -> str:
    kind = "threads" if comparison.other.condition[TASK_KIND] == SIDES[0] else "processes"
    return f"with {_workers(comparison)} {kind}"


FINDERS = (
    Finder(contention, 140),
    Finder(false_sharing, 150),
)
