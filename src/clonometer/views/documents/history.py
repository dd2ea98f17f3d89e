"""A history: the verdict, what happened when, a table with a line of values for each row, and charts of them."""

from __future__ import annotations

from clonometer.dataset.history_types import History
from clonometer.units import format_share
from clonometer.views.document import (
    BulletList,
    Document,
    DocumentBlock,
    FigureBlock,
    Heading,
    Hint,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.fleet import reading_notes, reading_text
from clonometer.views.history import drawn_rows, event_text, history_table, notes, verdict_text
from clonometer.views.history_picture import history_panels
from clonometer.views.terminal.text import wide_adds

SHORT_ROWS, SHORT_EVENTS = 11, 5
MOST_CHARTS = 40


def history_document(history: History, *, wide: bool = False) -> Document:
    """Make a document of the history of a folder; ``wide``: every row and every event, and charts."""
    lead = verdict_text(history)
    events = history.events if wide else history.events[:SHORT_EVENTS]
    shown = list(history.rows) if wide else drawn_rows(history, SHORT_ROWS)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(lead, "bad" if history.counts.regressions else "bold"), Paragraph(reading_text(history.reading))],
        [BulletList([*map(event_text, events)])],
        _charts(history) if wide else [],
    ]
    groups[0] += map(Note, reading_notes(history.reading))
    for name in dict.fromkeys(row.series for row in history.rows):
        rows = [row for row in shown if row.series == name]
        if rows:
            runs = max(len(row.values) for row in rows)
            groups.append([Heading(f"{name}: {runs:,} runs"), TableBlock(history_table(rows))])
    hidden = wide_adds((len(history.events) - len(events), "event"), (len(history.rows) - len(shown), "row"))
    least = f"Steps below {format_share(history.minimum_effect)} are not shown. See docs/history.md for false alarms."
    groups += [[*map(Note, notes(history))], [*map(Hint, hidden)], [Paragraph(least if history.rows else "")]]
    return Document("history", f"What changed in {_name(history.reading.folder)}", lead, groups, least_width=60)


def _name(folder: str) -> str:
    """The last part of a folder's path: a heading has no room for all of it."""
    return folder.rstrip("/").rpartition("/")[2] or folder


def _charts(history: History) -> list[DocumentBlock]:
    about = (
        "Each point is the median of a run; a line through points is their level. A dashed line is a change of "
        "level; a dotted grey one is only suspected."
    )
    return [FigureBlock("Rows in time", about, history_panels(history, MOST_CHARTS))]
