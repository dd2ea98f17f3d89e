"""Where not sharing wins: workers that are threads against workers that are processes, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.families import workload_words
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import headed, listed, sentence, sentences, several_ratios, verdict
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Finding
from clonometer.words import axis_words

FAMILY = "contend"
COUNTER, LAYOUT = "contend.counter", "counter_layout"
QUANTITY = "op_ns"
CPU_QUANTITY = "cpu_op_ns"
_KINDS = ("thread", "process")
# An operation's condition without the kind and the number of its workers.
Changes = Mapping[str, int | str]


def contention(comparer: Comparer) -> list[Finding]:
    """Say of each operation how much longer it takes threads than processes, for each number of workers.

    The first finding sums up: what sharing costs, with the most workers that a run has both of.
    """
    operations: list[tuple[str, Changes, list[Comparison]]] = []
    for workload, changes in _conditions(comparer):
        made = [
            comparison for comparison in _by_workers(comparer, workload, changes, QUANTITY) if comparison is not None
        ]
        if made:
            comparer.claim((row for comparison in made for row in (comparison.a, comparison.b)), "workers", "task_kind")
            operations.append((workload, changes, made))
    findings = [_finding(comparer, *contested) for contested in operations]
    return [_summary(operations), *findings] if len(operations) > 1 else findings


def false_sharing(comparer: Comparer) -> list[Finding]:
    """Say what it costs that the workers' counters lie side by side, or are one."""
    book = comparer.book
    counters = [row for row in book.rows if row.estimate.workload == COUNTER]
    # One worker shares its counter with nobody, so that there is nothing to tell of it.
    comparer.claim(counters, LAYOUT)
    findings = []
    for layout in ("packed", "one"):
        comparisons = []
        for kind in _KINDS:
            for changes in book.conditions([COUNTER]):
                several = int(changes.get("workers", 1)) > 1
                if LAYOUT in changes or changes.get("task_kind", "thread") != kind or not several:
                    continue
                padded = book.main(COUNTER, changes, None, None, QUANTITY)
                near = book.main(COUNTER, {**changes, LAYOUT: layout}, None, None, QUANTITY)
                comparison = comparer.compare(near, padded) if near and padded else None
                if comparison is not None:
                    comparisons.append(comparison)
        if comparisons:
            findings.append(_sharing_finding(layout, comparisons))
    return findings


def operation(workload: str, changes: Changes) -> str:
    """Name an operation with its condition.

    Examples
    --------
    >>> operation("contend.open", {"opened": "same"})
    'opening and closing a file (the same file)'
    """
    name = workload_words(workload).doing or workload
    words = [axis_words(axis, value) for axis, value in changes.items()]
    return f"{name} ({', '.join(words)})" if words else name


def _conditions(comparer: Comparer) -> list[tuple[str, dict[str, int | str]]]:
    """The operations of a run, each once."""
    conditions: list[tuple[str, dict[str, int | str]]] = []
    for row in comparer.book.rows:
        if row.estimate.family != FAMILY:
            continue
        entry = (row.estimate.workload, comparer.book.changes(row.estimate, "task_kind", "workers"))
        if entry not in conditions:
            conditions.append(entry)
    return conditions


def _by_workers(comparer: Comparer, workload: str, changes: Changes, quantity: str) -> list[Comparison | None]:
    sides: dict[str, dict[int, Evidence]] = {kind: {} for kind in _KINDS}
    for row in comparer.book.rows:
        estimate = row.estimate
        others = comparer.book.changes(estimate, "task_kind", "workers")
        if (estimate.workload, estimate.quantity, others) == (workload, quantity, changes):
            sides[str(estimate.condition["task_kind"])][int(estimate.condition["workers"])] = row
    threads, processes = (sides[kind] for kind in _KINDS)
    counts = [count for count in sorted(threads) if count in processes]
    return [comparer.compare(threads[count], processes[count]) for count in counts]


def _workers(comparison: Comparison) -> int:
    return int(comparison.a.estimate.condition["workers"])


def _count(comparison: Comparison) -> str:
    return axis_words("workers", _workers(comparison))


def _finding(comparer: Comparer, workload: str, changes: Changes, made: Sequence[Comparison]) -> Finding:
    name = operation(workload, changes)
    clauses = several_ratios("threads", "processes", made, plural=True, at=lambda each: f"with {_count(each)}")
    cpu = {
        _workers(comparison): comparison
        for comparison in _by_workers(comparer, workload, changes, CPU_QUANTITY)
        if comparison is not None
    }
    last = made[-1]
    clauses += [_cpu_clause(cpu[_workers(last)])] if _workers(last) in cpu else []
    numbers: dict[str, Any] = last.numbers | {
        "workload": workload,
        "of": "threads over processes",
        "workers": [_workers(comparison) for comparison in made],
        "by_workers": [comparison.numbers for comparison in made],
        "cpu_by_workers": [cpu[_workers(comparison)].numbers for comparison in made if _workers(comparison) in cpu],
        "cells": [cell for comparison in made for cell in comparison.numbers["cells"]],
    }
    id_ = ".".join(["contention", workload.removeprefix("contend."), *map(str, changes.values())])
    return Finding(id_, headed(name, clauses), numbers, sentence(f"{name}, {_count(last)}: {_verdict(last)}"))


def _cpu_clause(comparison: Comparison) -> str:
    """Say what it costs in CPU time, which other programs' turns do not blur: waiting asleep is not part of it."""
    return f"in CPU time, with {_count(comparison)}, {_verdict(comparison)}"


def _verdict(comparison: Comparison) -> str:
    return verdict("threads", "processes", comparison, plural=True)


def _summary(operations: Sequence[tuple[str, Changes, list[Comparison]]]) -> Finding:
    """Say in one sentence where not sharing wins."""
    groups: dict[str, list[str]] = {"longer": [], "shorter": [], "same": []}
    cells = []
    for workload, changes, made in operations:
        # The verdict of the most workers, since one worker shares with nobody.
        groups[made[-1].verdict].append(operation(workload, changes))
        cells += made[-1].numbers["cells"]
    clauses = []
    if groups["longer"]:
        clauses.append(f"processes, which share less, are faster at {listed(groups['longer'])}")
    if groups["shorter"]:
        clauses.append(f"threads are faster at {listed(groups['shorter'])}")
    if groups["same"]:
        clauses.append(f"could not tell a difference at {listed(groups['same'])}")
    most = sorted({_workers(made[-1]) for _, _, made in operations})
    many = f"{most[0]}" if len(most) == 1 else f"{most[0]} to {most[-1]}"
    words = f"{many} worker{'' if many == '1' else 's'}"
    numbers = {
        "unshared_wins": groups["longer"],
        "shared_wins": groups["shorter"],
        "cannot_tell": groups["same"],
        "workers": most,
        "cells": cells,
    }
    return Finding("contention", headed(f"threads and processes, {words}", clauses), numbers)


def _sharing_finding(layout: str, made: Sequence[Comparison]) -> Finding:
    what = {
        "packed": "an addition to counters side by side (false sharing)",
        "one": "an addition to one counter for all",
    }[layout]
    padded = "to counters on separate cache lines"
    texts = several_ratios(what, padded, made, at=_who)
    apart = [comparison for comparison in made if comparison.verdict == "longer"]
    strongest = max(apart or made, key=lambda comparison: comparison.ratio.value)
    numbers = strongest.numbers | {
        "layout": layout,
        "each": [comparison.numbers | {"workers": _workers(comparison)} for comparison in made],
        "cells": [cell for comparison in made for cell in comparison.numbers["cells"]],
    }
    most = "up to " if len(apart) > 1 else ""
    headline = (
        f"{what} takes {most}{strongest.text} times as long as {padded}, {_who(strongest)}"
        if apart
        else f"{verdict(what, padded, strongest)}, {_who(strongest)}"
    )
    return Finding(f"contention.{layout}_against_padded", sentences(*texts), numbers, sentence(headline))


def _who(comparison: Comparison) -> str:
    kind = "threads" if comparison.a.estimate.condition["task_kind"] == "thread" else "processes"
    return f"with {_workers(comparison)} {kind}"


FINDERS = (
    Finder(contention, 140),
    Finder(false_sharing, 150),
)
