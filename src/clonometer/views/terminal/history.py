"""History on a terminal: the verdict, what happened when, a table with a line of values for each row."""

from __future__ import annotations

from clonometer.dataset.history_types import History
from clonometer.units import format_share
from clonometer.views.history import drawn_rows, event_text, history_table, notes, verdict_text
from clonometer.views.terminal.fleet import reading_lines
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import painted, rendered, wide_adds, wrap, wrap_each

SHORT_ROWS, SHORT_EVENTS = 11, 5


@rendered(least_width=60)
def render_history(history: History, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write the history of a folder; ``wide``: every row and every event."""
    style = "bad" if history.counts["regressions"] else "bold"
    lines = painted(wrap(verdict_text(history), width), style, colour)
    lines += reading_lines(history.reading, width)
    events = history.events if wide else history.events[:SHORT_EVENTS]
    lines += ["", *wrap_each(map(event_text, events), width, bullet="- ")] if events else []
    names = list(dict.fromkeys(row.series for row in history.rows))
    shown = list(history.rows) if wide else drawn_rows(history, SHORT_ROWS)
    for name in names:
        rows = [row for row in shown if row.series == name]
        if rows:
            runs = max(len(row.values) for row in rows)
            heading = painted(wrap(f"{name}: {runs:,} runs", width), "bold", colour)
            lines += ["", *heading, *draw_table(history_table(rows), width, colour)]
    lines += ["", *wrap_each(notes(history), width, bullet="! ")] if notes(history) else []
    hidden = wide_adds((len(history.events) - len(events), "event"), (len(history.rows) - len(shown), "row"))
    lines += ["", *hidden] if hidden else []
    if history.rows:
        least = format_share(history.minimum_effect)
        lines += ["", *wrap(f"Steps below {least} are not shown. See docs/history.md for false alarms.", width)]
    return lines
