"""Tables as values: columns of texts, which a terminal, a page and Markdown draw each in their own way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

#: How a column's texts stand: flush left or right, lined up at their decimal points, or at the dash of a range.
Align = Literal["left", "right", "point", "range"]
#: Where a text may be broken; it is a comma wherever it is not.
BREAK = "\n"
MISSING = "-"
INTERVAL_HEADING = "95% interval"
#: Stands in place of an interval of what depends on time.
DRIFTS = "drifts"


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    #: Its heading.
    head: str
    #: A text for each row; `BREAK` is where a long one may be broken.
    texts: Sequence[str]
    align: Align = "left"
    #: Where a terminal is too narrow, columns are left out in this order, 1 first; those with 0 never.
    drop: int = 0
    #: Whether it is left out where no row has anything in it.
    optional: bool = False
    #: A terminal wraps texts where the columns that stay are too wide, to no less than ``least``. Of texts longer than
    #: ``most`` paths are cut, and what stands for several rows runs down these, broken where it may be. 0: neither.
    least: int = 0
    most: int = 0
    #: Whether texts are paths, which are cut at their beginning, as the name is at the end. Nothing else is cut.
    cut_start: bool = False
    #: Whether a text that repeats the one above it is shown once for all these rows.
    once: bool = False
    #: Whether a terminal makes it pale.
    dim: bool = False
    #: Whether its texts are sentences, which a page wraps and does not sort by.
    prose: bool = False
    #: A word by which a page shows a text of prose when it is clicked; empty: the texts stand there.
    folded: str = ""
    #: Whether its texts are code, and whether a page sets them bold.
    code: bool = False
    strong: bool = False
    #: What its figures are.
    about: str = ""
    #: The numbers behind the texts, by which a page sorts; empty: it sorts by the texts, if at all.
    numbers: Sequence[float | None] = ()
    #: For each row what a page says on hover; empty: nothing.
    tips: Sequence[str] = ()
    #: For each row the cells that its text rests on, which a page shows when their count is clicked; empty: none.
    evidence: Sequence[Sequence[str]] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no row has anything in it."""
        return all(text in ("", MISSING) for text in self.texts)


@dataclass(frozen=True)
class Table:
    """A table of columns that all have a text for each row; title and note stand above and below it."""

    columns: Sequence[Column]
    title: str = ""
    note: str = ""
    #: What of the note a first screen keeps where it has no room for all of it.
    brief: str = ""
    #: Whether a terminal leaves out rows that have nothing in the columns for which it has room.
    sparse: bool = False
    #: For each row the style in which a terminal paints it; empty: none.
    row_styles: Sequence[str | None] = ()
    #: For each row what a page says on hover; empty: nothing.
    row_tips: Sequence[str] = ()

    @property
    def shown(self) -> list[Column]:
        """The columns without optional ones in which no row has anything."""
        return [column for column in self.columns if not (column.optional and column.is_empty)]

    @property
    def head(self) -> tuple[str, ...]:
        """The headings."""
        return tuple(column.head for column in self.columns)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The texts row by row, none of them broken."""
        texts = [[text.replace(BREAK, ", ") for text in column.texts] for column in self.columns]
        return list(zip(*texts, strict=True))


def label_column(labels: Iterable[Sequence[str]], *, head: str = "", most: int = 44) -> Column:
    """Make the column that says in phrases what its rows are: said once for rows that share it; runs down them."""
    return Column(head, list(map(BREAK.join, labels)), least=12, most=most, once=True)


def table_of_rows(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
    secondary: Sequence[str] = (),
) -> Table:
    """Make a table of rows that a label begins and figures follow.

    A terminal that is too narrow leaves out ``secondary`` columns, in this order.
    """
    columns = []
    for index, heading in enumerate(head):
        texts = [row[index] for row in rows]
        if index == 0:
            columns.append(Column(heading, texts, least=20))
            continue
        # Texts with an interval are so wide that lining them up at their points would cost too much room.
        align: Align = "right" if any("(" in text for text in texts) else "point"
        drop = list(secondary).index(heading) + 1 if heading in secondary else 0
        columns.append(Column(heading, texts, align, drop=drop))
    return Table(columns, title, note)
