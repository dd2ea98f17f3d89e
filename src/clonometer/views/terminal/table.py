"""Draws tables as text: columns as wide as they must be, and fewer of them, or shorter labels, where room is short."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby

from clonometer.views.table import BREAK, MISSING, Column, Table
from clonometer.views.terminal.text import elide_left, paint, printable, wrap

GAP = "  "
_DASH = " – "
_INDENT = "  "
_RUN_ON = "    "

#: More than any table takes: nothing is left out or cut.
ANY_WIDTH = 1 << 20
#: One column of several tables that stand below each other: a member for each table.
Layer = Sequence[Column]


@dataclass(frozen=True)
class DrawnTables:
    """Tables, an entry for the heading and each row, and the headings of columns for which there was no room.

    An entry is a line, or several with a break between them where a label is wrapped.
    """

    tables: list[list[str]]
    dropped: tuple[str, ...]


def draw_table(table: Table, width: int, colour: bool, *, names_dropped: bool = False) -> list[str]:
    """Draw a table between its title and its note, in lines of at most ``width``.

    With ``names_dropped`` columns that had no room are named below it. Prose in the last column is wrapped there.
    """
    if table.columns and table.columns[-1].prose:
        # Its entries begin below its heading, however long they are.
        [[heading, *entries]] = _alone(table, ANY_WIDTH, colour=False).tables
        indent = " " * heading.rindex(table.head[-1])
        wrapped = [
            "\n".join(wrap(line[len(indent) :], width, bullet=line[: len(indent)]) or [line])
            for line in (heading, *entries)
        ]
        return _between_title_and_note(table, DrawnTables([wrapped], ()), width)
    drawn = _alone(table, width, colour)
    if table.sparse and drawn.dropped:
        drawn = _alone(_without_empty_rows(table, drawn.dropped), width, colour)
    lines = _between_title_and_note(table, drawn, width)
    dropped = f"(left out at {width} columns: {', '.join(drawn.dropped)})"
    return [*lines, *wrap(dropped if names_dropped and drawn.dropped else "", width)]


def _without_empty_rows(table: Table, dropped: Sequence[str]) -> Table:
    """A table without the columns that had no room, and without rows that have nothing in the others."""
    columns = [column for column in table.columns if column.head not in dropped]
    kept = [
        any(text not in ("", MISSING) for text in texts) for texts in zip(*(c.texts for c in columns[1:]), strict=True)
    ]
    return replace(table, columns=[replace(each, texts=list(compress(each.texts, kept))) for each in columns])


def draw_whole(table: Table, width: int, colour: bool) -> list[str]:
    """Draw a table with all columns, however wide; its title and its note in lines of at most ``width``."""
    return _between_title_and_note(table, _alone(table, ANY_WIDTH, colour), width)


def draw_with(kept: str, forms: Sequence[Table], width: int, colour: bool) -> list[str]:
    """Draw the first of several forms of a table in which a column stays; the last one where none has room for it.

    ``forms`` begin with the widest; ``kept`` is the column's heading.
    """
    for table in forms:
        drawn = _alone(table, width, colour)
        if kept not in drawn.dropped:
            break
    return _between_title_and_note(table, drawn, width)


def _alone(table: Table, width: int, colour: bool) -> DrawnTables:
    return draw_stack([replace(table, title="")], width, colour)


def _between_title_and_note(table: Table, drawn: DrawnTables, width: int) -> list[str]:
    [entries] = drawn.tables
    lines = [line for entry in entries for line in entry.split("\n")]
    return [*wrap(table.title, width), *lines, *wrap(table.note, width)]


def draw_stack(tables: Sequence[Table], width: int, colour: bool) -> DrawnTables:
    """Draw tables that have the same columns below each other, each column as wide in all of them.

    The title of each stands in the line of its headings, above the first columns, which have none. No line is longer
    than ``width``: labels are wrapped, then columns go, then the last columns that stay run on in a line of their own
    below each row. Nothing is cut but paths, at their beginning.
    """
    titles = [table.title for table in tables]
    layers: list[Layer] = list(zip(*(table.columns for table in tables), strict=True))
    layers = [layer for layer in layers if not all(column.optional and column.is_empty for column in layer)]
    dropped = []
    for layer in sorted((layer for layer in layers if layer[0].drop), key=lambda layer: layer[0].drop):
        if _width(_laid(layers, titles)) - _spare(layers[0]) > width:
            layers.remove(layer)
            dropped.append(layer[0].head)
    further: list[list[list[str]]] = [[[]] * len(table.columns[0].texts) for table in tables]
    for index, layer in enumerate(layers):
        laid = _laid(layers, titles)
        if layer[0].least and (over := _width(laid) - width) > 0:
            room = len(laid[index][0][0]) - over
            if layer[0].cut_start:
                room = max(room, layer[0].least)
                layers[index] = [replace(column, most=room) for column in layer]
            elif layer[0].once:
                layers[index] = [replace(column, most=max(room, 1)) for column in layer]
            elif not index:
                wrapped = [_wrapped(column, max(room, _longest_word(layer))) for column in layer]
                layers[0], further = [column for column, _ in wrapped], [rest for _, rest in wrapped]
    laid = _laid(layers, titles)
    dim = [layer[0].dim for layer in layers]
    drawn = []
    for number, table in enumerate(tables):
        entries = _entries(table, [cells[number] for cells in laid], dim, width, colour)
        below = [[], *further[number]]
        drawn.append(["\n".join([first, *rest, *more]) for (first, *more), rest in zip(entries, below, strict=True)])
    return DrawnTables(drawn, tuple(reversed(dropped)))


def _spare(layer: Layer) -> int:
    """How much narrower the labels may become, where they are wrapped, before columns go instead."""
    if layer[0].once or not layer[0].least:
        return 0
    longest = max(len(text) for column in layer for text in column.texts)
    return max(0, longest - max(layer[0].least, _longest_word(layer)))


def _longest_word(layer: Layer) -> int:
    """The least room in which labels can be wrapped without breaking a word."""
    return max((len(word) for column in layer for text in column.texts for word in text.split()), default=0) + len(
        _INDENT
    )


def _wrapped(column: Column, room: int) -> tuple[Column, list[list[str]]]:
    """Break labels between words: the column with their first lines, and each label's further lines."""
    # Blanks within a label stay: they line up what it is made of.
    lines = [
        [text]
        if len(text) <= room
        else textwrap.wrap(text, room - len(_INDENT), break_on_hyphens=False, break_long_words=False)
        for text in map(printable, column.texts)
    ]
    further = [[_INDENT + piece for piece in rest] for _, *rest in lines]
    return replace(column, texts=[first for first, *_ in lines]), further


def _laid(layers: Sequence[Layer], titles: Sequence[str]) -> list[list[list[str]]]:
    """The cells of each layer, of each table in it, all of one width; headings first."""
    laid = [_cells(layer) for layer in layers]
    lead = _lead(layers)
    missing = max(map(len, titles)) - _width(laid[:lead])
    if lead and missing > 0:
        laid[lead - 1] = [[cell + " " * missing for cell in cells] for cells in laid[lead - 1]]
    return laid


def _lead(layers: Sequence[Layer]) -> int:
    """How many of the first columns have no heading."""
    headed = [any(column.head for column in layer) for layer in layers]
    return headed.index(True) if True in headed else len(headed)


def _width(laid: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(len(cells[0][0]) + len(GAP) for cells in laid) - len(GAP)


def _cells(layer: Layer) -> list[list[str]]:
    shortened = [_shortened(column) for column in layer]
    aligned = iter(_aligned([text for texts in shortened for text in texts], layer[0].align))
    columns = [[column.head, *(next(aligned) for _ in column.texts)] for column in layer]
    wide = max(len(text) for texts in columns for text in texts)
    right = layer[0].align in ("right", "point")
    return [[f"{text:>{wide}}" if right else f"{text:<{wide}}" for text in texts] for texts in columns]


def _shortened(column: Column) -> list[str]:
    """A column's texts, said once and run down where that is wanted, and cut to the most that it may take."""
    texts = list(column.texts)
    if column.once:
        groups = [(text, len(list(rows))) for text, rows in groupby(texts)]
        texts = [line for text, count in groups for line in _run_down(text, count, column.most)]
    texts = [printable(text.replace(BREAK, ", ")) for text in texts]
    return [elide_left(text, column.most) for text in texts] if column.cut_start and column.most else texts


def _run_down(text: str, count: int, most: int) -> list[str]:
    """Say a text once for ``count`` rows; a long one runs down these, its last line with all that is left."""
    pieces = text.split(BREAK)
    if count == 1 or len(pieces) == 1 or not 0 < most < len(", ".join(pieces)):
        return [text, *[""] * (count - 1)]
    first, *rest = pieces
    lines = [first, *(_INDENT + piece for piece in rest[: count - 2])]
    lines += [_INDENT + BREAK.join(rest[count - 2 :])] if rest[count - 2 :] else []
    return [*lines, *[""] * count][:count]


def _aligned(texts: Sequence[str], align: str) -> list[str]:
    """Texts with their decimal points, or the dashes of their ranges, below each other."""
    if align == "point":
        tails = [len(text.partition(".")[1] + text.partition(".")[2]) for text in texts]
        longest = max(tails, default=0)
        return [text + " " * (longest - tail) if text else "" for text, tail in zip(texts, tails, strict=True)]
    if align == "range":
        longest = max((text.find(_DASH) for text in texts), default=0)
        return [" " * (longest - text.find(_DASH)) + text if _DASH in text else text for text in texts]
    return list(texts)


def _entries(
    table: Table, laid: Sequence[Sequence[str]], dim: Sequence[bool], width: int, colour: bool
) -> list[list[str]]:
    """The lines of the heading and of each row: one each, or more where the last columns have no room beside others.

    A table's title stands in the place of the first headings.
    """
    head, *rows = zip(*laid, strict=True)
    beside = max(1, sum(_width([[[cell]] for cell in head[:count]]) <= width for count in range(1, len(head) + 1)))
    heading = table.title + GAP.join(head[:beside])[len(table.title) :]
    entries = [[paint(line, "bold", colour) for line in _with_rest(heading, head[beside:], width)]]
    for number, cells in enumerate(rows):
        style = table.row_styles[number] if table.row_styles else None
        pale = zip(cells[:beside], dim, strict=False)
        line = GAP.join(cell if style else paint(cell, "dim", colour and dimmed) for cell, dimmed in pale)
        whole = len(GAP.join(cells[:beside]).rstrip()) <= width
        lines = [line.rstrip(), *_run_on(cells[beside:], width)] if whole else _with_rest(line, cells[beside:], width)
        entries.append([paint(each, style, colour) for each in lines] if style else lines)
    return entries


def _with_rest(line: str, cells: Sequence[str], width: int) -> list[str]:
    """A line that is broken between words where it is too long, and the cells that run on below it."""
    line = line.rstrip()
    return [*([line] if len(line) <= width else wrap(line, width)), *_run_on(cells, width)]


def _run_on(cells: Sequence[str], width: int) -> list[str]:
    text = GAP.join(cell.strip() for cell in cells if cell.strip())
    if len(text) + len(_RUN_ON) <= width:
        return [_RUN_ON + text] if text else []
    return wrap(text, width, bullet=_RUN_ON)
