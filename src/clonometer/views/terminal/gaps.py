"""Tables of texts on a terminal: ablations and fitted curves."""

from __future__ import annotations

from clonometer.views.gaps import TextTable
from clonometer.views.terminal.columns import draw_table, numbers, words
from clonometer.views.terminal.text import wrap

_LABEL_LEAST = 12


def text_table(table: TextTable, width: int, colour: bool) -> list[str]:
    """Draw a table of texts: its title, its columns, its note.

    Columns of secondary interest go where ``width`` is too small.
    """
    columns = {}
    for place, head in enumerate(table.head):
        texts = [row[place] for row in table.rows]
        columns["label" if place == 0 else head] = (
            words(head, texts) if place == 0 or _has_intervals(texts) else numbers(head, texts)
        )
    drawn = draw_table(columns, width, table.secondary, _LABEL_LEAST, colour)
    return [*wrap(table.title, width), *drawn, *(wrap(table.note, width) if table.note else [])]


def _has_intervals(texts: list[str]) -> bool:
    """Whether a column's texts are wide apart, so that lining them up at their points would cost too much room."""
    return any("(" in text for text in texts)
