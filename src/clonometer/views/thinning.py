"""Long timelines, drawn with no more marks than an eye can tell apart: what is drawn is bounded, sums stay exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.tracing.types import Moment

#: Pieces and marks of a lane that a picture of 720 pixels can show.
MOST_DRAWN = 1500
#: Rows of a table on a page; half of them from the beginning and half from the end.
MOST_ROWS = 1000


@dataclass(frozen=True)
class DrawnPiece:
    """A bar that stands for ``pieces`` neighbours, of which most of the time went to ``part``."""

    start_ns: int
    end_ns: int
    part: str
    pieces: int


def thinned(pieces: Sequence[tuple[int, int, str]], whole_ns: int, most: int = MOST_DRAWN) -> list[DrawnPiece]:
    """Join neighbours that are too short to be seen.

    Together they last as long as the pieces.

    Examples
    --------
    >>> thinned([(0, 1, "a"), (1, 3, "b"), (3, 100, "a")], 100, most=2)
    [DrawnPiece(start_ns=0, end_ns=3, part='b', pieces=2), DrawnPiece(start_ns=3, end_ns=100, part='a', pieces=1)]
    """
    if len(pieces) <= most:
        return [DrawnPiece(start, end, part, 1) for start, end, part in pieces]
    least_ns = whole_ns / most
    drawn: list[DrawnPiece] = []
    short: list[tuple[int, int, str]] = []
    for piece in pieces:
        start, end, _ = piece
        if short and (start != short[-1][1] or end - short[0][0] > least_ns):
            drawn.append(_joined(short))
            short = []
        if end - start > least_ns:
            drawn.append(DrawnPiece(*piece, 1))
        else:
            short.append(piece)
    return [*drawn, _joined(short)] if short else drawn


def _joined(pieces: Sequence[tuple[int, int, str]]) -> DrawnPiece:
    sums: dict[str, int] = {}
    for start, end, part in pieces:
        sums[part] = sums.get(part, 0) + end - start
    return DrawnPiece(pieces[0][0], pieces[-1][1], max(sums, key=lambda part: sums[part]), len(pieces))


def marked(moments: Sequence[Moment], whole_ns: int, most: int = MOST_DRAWN) -> list[Moment]:
    """Leave out marks that would lie on another one of the same task; stamps (on no CPU) always stay."""
    if len(moments) <= most:
        return list(moments)
    taken: set[tuple[str, int]] = set()
    shown = []
    for moment in moments:
        place = (moment.who, moment.time_ns * most // max(1, whole_ns))
        if moment.cpu < 0 or place not in taken:
            taken.add(place)
            shown.append(moment)
    return shown


def ends(count: int, most: int = MOST_ROWS) -> tuple[int, int]:
    """How many rows of a long table to show from its beginning, and how many to leave out then.

    Examples
    --------
    >>> ends(7, 4), ends(4, 4)
    ((2, 3), (4, 0))
    """
    return (count, 0) if count <= most else (most // 2, count - 2 * (most // 2))
