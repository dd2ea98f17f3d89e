"""A run in short, as a notebook shows it: the answer, a table of each family, why, what to do, what disturbs trust."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clonometer.results.types import Results
from clonometer.views.document import Document, DocumentBlock, NamedText, NamedTexts, Note, Paragraph, TableBlock
from clonometer.views.figures import figures
from clonometer.views.first_table import first_tables, glosses, lines_of
from clonometer.views.rows import failures, host_phrases, make_rows
from clonometer.views.table import Table


def short_run_document(results: Results) -> Document:
    """Make a short document of a run: all of its conditions, and of its findings those that answer."""
    first = results.first
    lead = " ".join(f"{finding.sentence} {finding.tag}".rstrip() for finding in first.answer)
    points = [("Why", first.reasons), ("Do", first.advice)]
    named = [NamedText(name, each.sentence) for name, findings in points for each in findings]
    doubts = "; ".join(doubt.sentence for doubt in first.doubts)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead, "bold")],
        [*_tables(results)],
        [Note(text) for text in _troubles(results)],
        [NamedTexts(named, 6)] if named else [],
        [Note(f"{doubts[0].upper()}{doubts[1:]}.", "warn")] if doubts else [],
    ]
    return Document("run", ", ".join(host_phrases(results)[:3]), lead, groups)


def _tables(results: Results) -> Iterator[DocumentBlock]:
    """The table that sums up what was measured, if it has one, else the rows; and what the headings mean."""
    rows = make_rows(results.cells)
    measured = [row for row in rows if not row.is_instrument] or list(rows)
    shown = [row for row in measured if not row.any_estimate.detail] or measured
    workloads = {row.workload for row in shown}
    if summaries := next((made for figure in figures() if (made := figure.sums_up(results, workloads))), ()):
        yield from map(TableBlock, summaries)
    elif shown:
        lines = lines_of(shown)
        yield from (TableBlock(_filled(table)) for table in first_tables(lines, best=results.is_disturbed))
        yield Paragraph("; ".join(glosses(lines, ())))
    else:
        yield Paragraph("Nothing was measured.")


def _filled(table: Table) -> Table:
    """A table without the columns that stand empty, so that those of all families line up on a terminal."""
    return replace(table, columns=[each for each in table.columns if each.head or not each.is_empty])


def _troubles(results: Results) -> Iterator[str]:
    """Why a run is not complete, and which cells have no result."""
    if results.status != "complete":
        yield f"This run is {results.status}: {results.status_reason or 'the reason is not known'}."
    for reason, statuses in failures(results):
        yield f"{', '.join(status.cell for status in statuses)}: {reason}."
