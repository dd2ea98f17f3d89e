"""The page of a history: what happened when, a chart a row, all rows in a table."""

from __future__ import annotations

from functools import partial

from clonometer.dataset.history_types import History
from clonometer.views.figures.types import Panel, Section
from clonometer.views.fleet import reading_notes, reading_text
from clonometer.views.history import drawn_rows, event_text, history_table, notes, row_text, verdict_text
from clonometer.views.history_picture import alt, history_panel
from clonometer.views.html.plain import PageSection, render_plain_page

MOST_CHARTS, MOST_ROWS = 40, 1000


def render_history_page(history: History) -> str:
    """Write the page."""
    drawn = drawn_rows(history, MOST_CHARTS)
    several = len({row.series for row in history.rows}) > 1
    panels = [
        Panel(
            f"history-{place}",
            f"{row.series}: {row_text(row)}" if several else row_text(row),
            alt(row),
            partial(history_panel, row),
            tall=False,
        )
        for place, row in enumerate(drawn)
    ]
    sections = [
        PageSection(
            "rows",
            Section("Rows in time", "In time", "A point is the median of a run, a dashed line a change of level."),
            panels,
        ),
        PageSection(
            "all",
            Section("All rows", "All rows", "The level of now, the last change, and all runs from left to right."),
            tables=[history_table(history.rows[:MOST_ROWS])] if history.rows else [],
        ),
    ]
    about = [reading_text(history.reading), *map(event_text, history.events), *notes(history)]
    return render_plain_page(
        f"What changed in {history.reading.folder}",
        "Clonometer: history",
        verdict_text(history),
        [*about, *reading_notes(history.reading)],
        sections,
    )
