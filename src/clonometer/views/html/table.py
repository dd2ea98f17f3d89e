"""What a page's tables need beside their texts: cells that span rows, and digits that align decimal points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from clonometer.views.table import BREAK, Column, Table

# Letters of a text that stays on one line.
_LONGEST_FIGURE = 32
# About how wide a letter is, and what is between columns.
_LETTER_PX, _GAP_PX = 7.5, 14
#: Sizes of tables: from how many columns on, and below how many pixels they are folded.
_SIZES = {"wide": (7, 960), "middle": (4, 680), "narrow": (0, 340)}
_CLASSES = {"left": "", "right": "number", "point": "number", "range": "interval"}


@dataclass(frozen=True)
class PageCell:
    """One cell of a column; ``tip`` and ``evidence`` are as the column's for its row."""

    column: Column
    text: str
    #: Whether it is in the first column, which names the rows.
    names_row: bool
    #: Its class.
    kind: str
    #: Digits that are set invisibly after it, so that decimal points are below each other.
    padding: str
    #: For how many rows it stands; 0: one above it stands for its row too.
    span: int
    tip: str
    evidence: Sequence[str]
    #: The number that it is sorted by; empty where it has none.
    sort_by: str


def css_class(column: Column) -> str:
    """The classes of a column's cells; long texts are wrapped, whatever they are."""
    if column.prose:
        return "notes"
    wrapped = max(map(len, column.texts), default=0) > _LONGEST_FIGURE
    return " ".join(filter(None, ["long" if wrapped else _CLASSES[column.align], "strong" if column.strong else ""]))


def table_size(table: Table) -> str:
    """How much room a table needs: a class, by which it is folded where it has less.

    Examples
    --------
    >>> table_size(Table([Column("a", ()), Column("b", ())])), table_size(Table([Column("a", ())] * 6))
    ('narrow', 'middle')
    """
    # Texts that are wrapped need more room than figures.
    wrapped = any(css_class(column) in ("long", "notes") for column in table.columns)
    least = _SIZES["middle"][0] if wrapped and len(table.columns) > 1 else 0
    needed_px = sum(_letters(column) * _LETTER_PX + _GAP_PX for column in table.columns)
    sizes = [
        next(size for size, (columns, _) in _SIZES.items() if max(len(table.columns), least) >= columns),
        next((size for size, (_, px) in reversed(_SIZES.items()) if needed_px <= px), "wide"),
    ]
    return min(sizes, key=list(_SIZES).index)


def _letters(column: Column) -> int:
    """The letters of its longest line, if sentences and long texts are wrapped."""
    is_wrapped = css_class(column) in ("long", "notes")
    return max(len(column.head), *(_LONGEST_FIGURE if is_wrapped else len(text) for text in column.texts), 0)


def folding_style(fold: str) -> str:
    """Style that folds tables of each size where they have too little room; ``fold`` is what then holds for a table."""
    return "\n".join(
        f"@container (max-width: {width}px) {{ .{size} {{ {fold} }} }}" for size, (_, width) in _SIZES.items()
    )


def page_rows(table: Table) -> Iterator[list[PageCell]]:
    """The cells of a table row by row, without those for which one above them stands."""
    columns = [_cells(column, index == 0) for index, column in enumerate(table.columns)]
    for cells in zip(*columns, strict=True):
        yield [cell for cell in cells if cell.span]


def _cells(column: Column, names_row: bool) -> Iterator[PageCell]:
    decimals = ["".join(text.partition(".")[1:]) if column.align == "point" else "" for text in column.texts]
    longest = max(decimals, key=len, default="")
    spans, kind = _spans(column), css_class(column)
    for index, text in enumerate(column.texts):
        number = column.numbers[index] if column.numbers else None
        yield PageCell(
            column,
            text.replace(BREAK, ", "),
            names_row,
            kind,
            longest[len(decimals[index]) :],
            spans[index],
            column.tips[index] if column.tips else "",
            column.evidence[index] if column.evidence else (),
            "" if number is None else f"{number:.9g}",
        )


def _spans(column: Column) -> list[int]:
    if not column.once:
        return [1] * len(column.texts)
    counts = (len(list(rows)) for _, rows in groupby(column.texts))
    return [span for count in counts for span in (count, *[0] * (count - 1))]
