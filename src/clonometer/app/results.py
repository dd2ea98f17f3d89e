"""``show``: what a run says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.plan.names import chosen_cells

if TYPE_CHECKING:
    from clonometer.results.types import Finding, Results


def read_results(path: Path) -> Results:
    """Open a run file and compute its results.

    Raises
    ------
    RunFileError
        If it is not a sound run file.
    """
    from clonometer.results.summary import summarize
    from clonometer.runfile import open_run

    with open_run(path) as run:
        return summarize(run, str(path))


def keep_cells(results: Results, globs: Sequence[str]) -> Results:
    """Keep the rows of cells that match any of the globs; findings rest on the whole run and stay.

    Of the first screen what speaks of such a cell stays.

    Raises
    ------
    UsageError
        If a glob matches no cell of the run.
    """
    if not globs:
        return results
    chosen = set(chosen_cells(globs, [status.cell for status in results.cell_outcomes]))
    cells = {row.cell for row in results.cells} & chosen
    first = results.first

    def about(findings: Sequence[Finding]) -> list[Finding]:
        return [finding for finding in findings if cells & set(finding.numbers["cells"])]

    return replace(
        results,
        first=replace(
            first,
            answer=about(first.answer),
            reasons=about(first.reasons),
            advice=about(first.advice),
            doubts=about(first.doubts),
        ),
        cells=[row for row in results.cells if row.cell in chosen],
        cell_outcomes=[status for status in results.cell_outcomes if status.cell in chosen],
    )
