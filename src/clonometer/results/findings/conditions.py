"""What conditions do: the state of the parent's pages, its linkage, and where the new task runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clonometer.families.same_image import FORK, PTHREAD
from clonometer.results.change import Change
from clonometer.results.findings.choices import Choice, scanned
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.wording import condition, headed, several_ratios
from clonometer.results.rows.run_estimates import STAGES, RunEstimate, RunEstimates
from clonometer.results.rows.warnings import RARE_PROCESSES
from clonometer.results.types import Finding
from clonometer.words import axis_words, mechanism_name, until

_PAGES = {
    "clean": "left clean by the last fork",
    "first": "never forked before",
    "rewritten": "written again before each launch",
}


def pages(tests: PairwiseTests) -> list[Finding]:
    """What the state of the parent's pages does, against the default: rewritten before each launch."""
    return _variant_findings(tests, "pages", lambda value: f"pages {_PAGES.get(value, value)}", plural=True)


def linkages(tests: PairwiseTests) -> list[Finding]:
    """What the parent's linkage does to a launch, against the default linkage."""
    return _variant_findings(tests, "linkage", lambda value: f"a {axis_words('linkage', value)} parent", plural=False)


def _variant_findings(tests: PairwiseTests, axis: str, words: Callable[[str], str], *, plural: bool) -> list[Finding]:
    findings: dict[str, Finding] = {}
    for base, value, comparisons in _variants(tests, axis):
        others = tests.estimates.changes(base, axis)
        numbers = numbers_of(comparisons[0]) | {
            axis: value,
            "ratios": [numbers_of(comparison) for comparison in comparisons],
            "cells": list(dict.fromkeys(cells_of(comparisons))),
        }
        id_ = f"{axis}.{base.workload.removeprefix('launch.')}.{value}"
        if id_ in findings:
            # The same value in another condition.
            id_ = ".".join([id_, *map(str, others.values())])
        # The last stage, which contains the others.
        stage = comparisons[0].other.stage
        ratios = several_ratios(
            words(str(value)),
            words(str(base.condition[axis])),
            [comparison for comparison in comparisons if comparison.other.stage == stage],
            plural=plural,
            at=lambda each: each.other.temperature or "in all",
        )
        where = condition(others, None, base.condition.get("placement"))
        head = ", ".join(filter(None, [f"{mechanism_name(base.workload)} {until(stage)}", where]))
        findings[id_] = Finding(id_, headed(head, ratios), numbers)
    return list(findings.values())


def _variants(tests: PairwiseTests, axis: str) -> list[tuple[RunEstimate, int | str, list[Change[RunEstimate]]]]:
    """Conditions that were measured with the default of ``axis`` and with another value.

    Gives the base's row, the other value, and the comparisons of other over base: last stage first, warm before
    cold.
    """
    estimates = tests.estimates
    variants = []
    for choice in scanned(estimates, axis):
        if choice.base == estimates.default(axis):
            comparisons = tests.compare_all(_pairs(estimates, choice))
            if comparisons:
                tests.mark_reported((row for comparison in comparisons for row in comparison.sides), axis)
                variants.append((comparisons[0].base, choice.value, comparisons))
    return variants


def _pairs(estimates: RunEstimates, choice: Choice) -> list[tuple[RunEstimate, RunEstimate]]:
    pairs = []
    for stage in reversed(STAGES):
        for temperature in (*TEMPERATURES, None):
            a, b = (
                estimates.main(choice.workload, choice.changes(estimates, value), temperature, stage)
                for value in (choice.value, choice.base)
            )
            if a is not None and b is not None and a.rankable:
                pairs.append((a, b))
    return pairs


def placements(tests: PairwiseTests) -> Findings:
    """Where tasks ran when they were free to, and what that did to when they ran."""
    for workload in (FORK, PTHREAD):
        placed: list[str] = []
        entries: list[dict[str, Any]] = []
        for temperature in TEMPERATURES:
            rows = tests.estimates.select(workload, {"placement": "free"}, temperature, "task_runs")
            by_placement = {row.placement: row for row in rows if row.placement}
            if by_placement:
                texts, entry = _placed(tests, by_placement, temperature)
                placed += texts
                entries.append(entry)
        if entries:
            name = mechanism_name(workload)
            text = headed(f"{name}, free to run on any CPU", placed)
            cells = list(dict.fromkeys(cell for entry in entries for cell in entry["cells"]))
            numbers = entries[0] | {"temperatures": entries, "workload": workload, "cells": cells}
            yield Finding(f"placement.{name}", text, numbers)


def _placed(
    tests: PairwiseTests, rows: Mapping[str, RunEstimate], temperature: str
) -> tuple[list[str], dict[str, Any]]:
    other, same = rows.get("other_cpu"), rows.get("same_cpu")
    total = sum(row.n_samples for row in rows.values())
    share = other.n_samples / total if other is not None else 0.0
    numbers: dict[str, Any] = {
        "other_cpu_share": share,
        "temperature": temperature,
        "cells": [row.cell for row in rows.values()],
    }
    text = f"{temperature}, {share:.0%} of launches started the task on another CPU"
    comparison = tests.compare(other, same) if other is not None and same is not None else None
    # One or two processes are an accident of scheduling, not a comparison.
    if comparison is None or comparison.n < RARE_PROCESSES:
        return [text], numbers
    (ratio,) = several_ratios("a launch there", "a launch on the same CPU", [comparison])
    return [text, ratio], numbers_of(comparison) | numbers


FINDERS = (
    Finder(linkages, 200),
    Finder(pages, 210),
    Finder(placements, 230),
)
