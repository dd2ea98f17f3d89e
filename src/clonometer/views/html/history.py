"""The page of a history: what happened when, a chart a row, all rows in a table."""

from __future__ import annotations

from clonometer.dataset.history_types import History
from clonometer.views.figures.types import Section
from clonometer.views.fleet import reading_notes, reading_text
from clonometer.views.history import event_text, history_table, notes, verdict_text
from clonometer.views.history_picture import history_panels
from clonometer.views.html.plain import page_section, render_plain_page

MOST_CHARTS, MOST_ROWS = 40, 1000


def render_history_page(history: History) -> str:
    """Write the page."""
    sections = [
        page_section(
            "rows",
            Section(
                "Rows in time",
                "In time",
                "A point is the median of a run, a line along them their level. A dashed line is a change of level; a "
                "dotted grey one is only suspected.",
            ),
            charts=history_panels(history, MOST_CHARTS),
        ),
        page_section(
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
