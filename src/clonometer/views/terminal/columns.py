"""Tables made of columns: each a list of cells of one width, the heading first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clonometer.views.terminal.tables import GAP, align
from clonometer.views.terminal.text import elide, paint


def words(head: str, texts: Sequence[str]) -> list[str]:
    """Make a column of texts, flush left."""
    wide = max(map(len, (head, *texts)))
    return [f"{text:<{wide}}" for text in (head, *texts)]


def numbers(head: str, texts: Sequence[str]) -> list[str]:
    """Make a column of figures, lined up at their points."""
    return align(["", *texts], [head, *[""] * len(texts)])


def said_once(labels: Sequence[str]) -> list[str]:
    """Leave out a label that repeats the one before it."""
    return [label if not place or labels[place - 1] != label else "" for place, label in enumerate(labels)]


def fit_lines(
    columns: dict[str, list[str]],
    width: int,
    droppable: Iterable[str],
    label_least: int,
    *,
    cut: Callable[[str, int], str] = elide,
) -> list[str]:
    """Draw the lines of a table; columns in ``droppable`` go where ``width`` is too small, then ``label`` is cut."""
    kept = dict(columns)
    for name in droppable:
        if _width(kept) > width:
            del kept[name]
    over = _width(kept) - width
    if over > 0:
        room = max(len(kept["label"][0]) - over, label_least)
        kept["label"] = [f"{cut(label.rstrip(), room):<{room}}" for label in kept["label"]]
    return [elide(GAP.join(cells).rstrip(), width) for cells in zip(*kept.values(), strict=True)]


def draw_table(
    columns: dict[str, list[str]],
    width: int,
    droppable: Iterable[str],
    label_least: int,
    colour: bool,
    *,
    cut: Callable[[str, int], str] = elide,
) -> list[str]:
    """Draw a table as `fit_lines` fits it, its heading bold."""
    head, *lines = fit_lines(columns, width, droppable, label_least, cut=cut)
    return [paint(head, "bold", colour), *lines]


def _width(columns: dict[str, list[str]]) -> int:
    return sum(len(column[0]) + len(GAP) for column in columns.values()) - len(GAP)
