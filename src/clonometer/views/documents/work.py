"""A program's explanation: the conclusion, the gap part by part, what the CPUs did, what delays it."""

from __future__ import annotations

from clonometer.tracing.work.types import WorkExplanation
from clonometer.views.document import BulletList, Document, DocumentBlock, Note, Paragraph, TableBlock
from clonometer.views.explain_texts import why_no_closer
from clonometer.views.gaps import ablation_table
from clonometer.views.terminal.text import clean
from clonometer.views.work_texts import about, count_table, cpu_table, footnotes, life_table, sentences, sums


def work_document(explanation: WorkExplanation) -> Document:
    """Make a document of why threads and processes take different times."""
    title = "Threads against processes at work"
    ablation = explanation.ablation
    groups: list[list[DocumentBlock]] = [
        [
            Paragraph(f"{title}: {clean(explanation.condition)}", "bold"),
            Note(why_no_closer(explanation.tier) or ""),
            Paragraph(about(explanation)),
        ],
        [Paragraph(explanation.conclusion, "bold")],
        [TableBlock(life_table(explanation))],
        [Paragraph(sums(explanation))],
        [TableBlock(cpu_table(explanation))] if explanation.cpu_reasons else [],
        [TableBlock(count_table(explanation))] if explanation.thread.counts else [],
        [BulletList(list(sentences(explanation)))],
        [TableBlock(ablation_table(ablation))] if ablation is not None else [],
        [*map(Paragraph, footnotes(explanation)), *map(Note, explanation.notes)],
    ]
    return Document("explain", title, explanation.conclusion, groups)
