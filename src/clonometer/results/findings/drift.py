"""A sentence says so where a median that it rests on drifts: such a median has no interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import Finding

_MARK = " (drifts)."


def with_drift(findings: Iterable[Finding], estimates: RunEstimates) -> tuple[Finding, ...]:
    """Mark the findings that rest on rows that drift, with the word that stands in their tables.

    The rows are those of the finding's cells, at the stages that its numbers name; at all where they name none. What
    cannot tell a difference claims nothing that drift could make wrong.
    """
    return tuple(
        _marked(each) if each.states_difference and any(_drifting(each, estimates)) else each for each in findings
    )


def _marked(finding: Finding) -> Finding:
    headline = finding.headline and finding.headline.removesuffix(".") + _MARK
    return replace(finding, sentence=finding.sentence.removesuffix(".") + _MARK, headline=headline)


def _drifting(finding: Finding, estimates: RunEstimates) -> Iterator[RunEstimate]:
    stages = set(_stages(finding.numbers))
    for cell in finding.numbers.get("cells", ()):
        for row in estimates.cells.get(cell, {}).values():
            if row.drift is not None and not row.detail and (not stages or row.stage in stages):
                yield row


def _stages(numbers: Any) -> Iterator[str | None]:
    """Every ``stage`` that the numbers name, however deep."""
    if isinstance(numbers, Mapping):
        if "stage" in numbers:
            yield numbers["stage"]
        for value in numbers.values():
            yield from _stages(value)
    elif isinstance(numbers, list | tuple):
        for value in numbers:
            yield from _stages(value)
