"""Explanations as sections of a run's report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.families import END
from clonometer.results.types import Estimate
from clonometer.tracing.work.types import AnyExplanation
from clonometer.views.documents.explain import explanation_document
from clonometer.views.html.document import document_sections
from clonometer.views.plots import interval_text


def explained_sections(
    explanations: Sequence[AnyExplanation], cells: Sequence[Estimate]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Gather what a report shows of explanations, and all of their charts; no two elements share an id.

    What the run's ``cells`` say of the very cell that is explained stands beside it.
    """
    explained: list[dict[str, Any]] = []
    charts: list[dict[str, Any]] = []
    for number, explanation in enumerate(explanations):
        document = explanation_document(explanation)
        sections, drawn = document_sections(document, f"-explained-{number}")
        in_run = [_in_run(side.cell, cells) for side in getattr(explanation, "mechanisms", ())]
        about = {"id": f"explained-{number}", "title": document.title, "lead": document.lead, "in_run": in_run}
        explained.append({**about, "sections": sections})
        charts += drawn
    return explained, charts


def _in_run(cell: str, cells: Sequence[Estimate]) -> str:
    """Say what the run has measured of the same cell."""
    rows = [row for row in cells if row.cell == cell and row.stage == END and row.median_ns is not None]
    if not rows:
        return f"The run has no cell {cell}."
    row = max(rows, key=lambda row: row.n_samples)
    return f"In the run, the median of {cell} is {interval_text(row)}."
