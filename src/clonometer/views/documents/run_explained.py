"""Explanations in the report of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from clonometer.families import END
from clonometer.results.types import Estimate
from clonometer.tracing.work.types import AnyExplanation
from clonometer.views.document import (
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Paragraph,
    Subheading,
)
from clonometer.views.documents.explain import explanation_document
from clonometer.views.plots import interval_text

_SEPARATE = (
    "Where the time goes, measured by clonometer explain in separate, traced launches, not in those of this run."
)


def explained_groups(explanations: Sequence[AnyExplanation], cells: Sequence[Estimate]) -> list[list[DocumentBlock]]:
    """Make sections of explanations; no two of their charts share an id.

    What the run's ``cells`` say of the very cell that is explained stands beside it.
    """
    groups: list[list[DocumentBlock]] = []
    for number, explanation in enumerate(explanations):
        document = explanation_document(explanation)
        in_run = [Paragraph(_in_run(side.cell, cells)) for side in getattr(explanation, "mechanisms", ())]
        heading = Heading(document.title, anchor=f"explained-{number}")
        groups.append([heading, Paragraph(document.lead, "lead"), *in_run])
        groups += [
            [each for block in group if not document.repeats(block) for each in _inside(block, f"-explained-{number}")]
            for group in document.groups
        ]
    return [[Heading("Why", anchor="why"), Paragraph(_SEPARATE)], *groups] if groups else []


def _inside(block: DocumentBlock, mark: str) -> Iterator[DocumentBlock]:
    """A block of a document inside another one: headings are a level lower, and ids of charts end in ``mark``."""
    match block:
        case Heading(text):
            yield Subheading(text)
        case FigureBlock(heading):
            panels = [replace(panel, id=f"{panel.id}{mark}") for panel in block.panels]
            yield from [Subheading(heading)] if heading else []
            yield replace(block, heading="", panels=panels)
        case Fold(_, blocks):
            yield replace(block, blocks=[each for inner in blocks for each in _inside(inner, mark)])
        case _:
            yield block


def _in_run(cell: str, cells: Sequence[Estimate]) -> str:
    """Say what the run has measured of the same cell."""
    rows = [row for row in cells if row.cell == cell and row.stage == END and row.median_ns is not None]
    if not rows:
        return f"The run has no cell {cell}."
    row = max(rows, key=lambda row: row.n_samples)
    return f"In the run, the median of {cell} is {interval_text(row)}."
