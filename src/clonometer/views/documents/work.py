"""A program's explanation: the conclusion, the gap part by part, what the CPUs did, what delays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.tracing.work.types import WorkExplanation
from clonometer.views.document import (
    BulletList,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.explain_panels import legend
from clonometer.views.explain_texts import capitalized, why_no_closer
from clonometer.views.figures.types import Panel
from clonometer.views.fitted import ablation_panel, ablation_title
from clonometer.views.gaps import ablation_table
from clonometer.views.work_picture import kinds_of_work, work_panels
from clonometer.views.work_texts import (
    about,
    count_table,
    cpu_table,
    footnotes,
    life_table,
    meanings_table,
    sentences,
    sums,
)

_POINT = "Point at a bar to see what it means. Right of zero is where threads take more. All charts share one time "
"axis."


def work_document(explanation: WorkExplanation) -> Document:
    """Make a document of why threads and processes take different times."""
    title = "Threads against processes at work"
    cautions = filter(None, (why_no_closer(explanation.tier), *explanation.notes))
    panels = work_panels(explanation)
    shown = [panel for panel in panels if panel.id != "cpus"]
    counts = [TableBlock(count_table(explanation))] if explanation.thread.counts else []
    groups: list[list[DocumentBlock]] = [
        [Paragraph(title, "bold"), Paragraph(explanation.conclusion), *map(Note, map(capitalized, cautions))],
        [Heading("What differs"),
         FigureBlock("", _POINT, shown, legend(kinds_of_work(explanation)), True),
         TableBlock(life_table(explanation))],
        [Paragraph(sums(explanation))],
        _meanwhile(explanation, [panel for panel in panels if panel.id == "cpus"]),
        [Fold("What each part means", [TableBlock(meanings_table(explanation))])],
        [Heading("What else is known"), BulletList(list(sentences(explanation))), *counts],
        _ablation(explanation),
        [Heading("How it was measured"), Paragraph(f"{explanation.condition}: {about(explanation)}"),
         *map(Paragraph, footnotes(explanation))],
    ]  # fmt: skip
    return Document("explain", title, explanation.conclusion, groups)


def _meanwhile(explanation: WorkExplanation, panels: Sequence[Panel]) -> list[DocumentBlock]:
    if not panels:
        return []
    table = cpu_table(explanation)
    figure = FigureBlock("", "", panels, legend(kinds_of_work(explanation)), True)
    return [Fold(table.title, [figure, TableBlock(replace(table, title=""))], True)]


def _ablation(explanation: WorkExplanation) -> list[DocumentBlock]:
    ablation = explanation.ablation
    if ablation is None:
        return []
    alt = "The gap left after each removal; the table has the numbers."
    panel = Panel("ablation", ablation_title(ablation), alt, lambda: ablation_panel(ablation), tall=False)
    return [Heading("Without what they share"), FigureBlock("", "", [panel]), TableBlock(ablation_table(ablation))]
