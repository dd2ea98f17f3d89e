"""Other tools beside ours: a row a figure, why they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.results.peers.rows import PeerFigure, PeerRow, PeersAnswer, spread
from clonometer.units import format_duration
from clonometer.views.document import Commands, CommentedTables, Document, DocumentBlock, Paragraph
from clonometer.views.table import MISSING, Column, Table

_WORDS = {
    "fork": "Fork",
    "vfork": "Vfork",
    "thread": "Thread",
    "exec": "Fork or spawn, and exec",
    "switch": "Round trip between two processes",
    "message": "Message between two processes",
    "system call": "System call",
}


def peers_document(answer: PeersAnswer, *, wide: bool = False) -> Document:
    """Make a document of an answer: rows by word, each with what it measures and its reason.

    Unless ``wide`` those without a figure of the peer are one line a word.
    """
    about = (
        "Clonometer is configured like each peer, and both run alternately. 'ratio' is the peer's figure over "
        "Clonometer's, with its 95% interval."
    )
    by_word = {head: [row for row in answer.rows if row.configuration.word == word] for word, head in _WORDS.items()}
    shown = {head: [row for row in of_word if wide or not _is_folded(row)] for head, of_word in by_word.items()}
    tables = CommentedTables(
        [_peers_table(head, of_word) for head, of_word in shown.items()],
        [[_reasons(row) for row in of_word] for of_word in shown.values()],
        [_folded([row for row in by_word[head] if row not in of_word]) for head, of_word in shown.items()],
    )
    last = (
        "Peers without a figure are not run from here; Clonometer is configured like them."
        if wide
        else "Where the peer is not installed or not run from here, only Clonometer's figure is shown; --wide shows "
        "all."
    )
    commands = list(dict.fromkeys(answer.installs))
    missing = "Not installed; each of these commands adds rows:" if commands else ""
    texts = [*_spread(answer.rows), about]
    groups: list[list[DocumentBlock]] = [[Paragraph(text)] for text in texts]
    groups += [[tables], [Paragraph(last)], [Paragraph(missing), Commands(commands)]]
    return Document("peers", "Other tools and Clonometer, side by side", texts[0], groups)


def _is_folded(row: PeerRow) -> bool:
    """Whether a row has nothing of its peer: no figure, and no failure that has to be seen."""
    return row.status in ("not run", "not installed") and not row.configuration.id.startswith("clonometer.")


def _folded(rows: Sequence[PeerRow]) -> str:
    figures = [f"{row.configuration.peer} {_figure(row.ours)}" for row in rows]
    return f"Clonometer, measuring like others: {', '.join(figures)}" if figures else ""


def _peers_table(head: str, rows: Sequence[PeerRow]) -> Table:
    return Table(
        [
            Column("", [f"  {row.configuration.peer}" for row in rows]),
            Column("peer", [_figure(row.peer) for row in rows], "right"),
            Column("ours", [_figure(row.ours) for row in rows], "right"),
            Column("ratio", [_ratio(row) for row in rows]),
        ],
        head,
    )


def _ratio(row: PeerRow) -> str:
    if row.change.value is not None:
        return row.change.text
    return row.status if row.status in ("failed", "unavailable", "not installed") else ""


def _reasons(row: PeerRow) -> list[str]:
    """What it measures, and why there is no figure or another one than ours."""
    reasons = [row.configuration.measures]
    if row.status in ("failed", "unavailable") and row.reason:
        reasons.append(f"{row.status}: {row.reason}")
    elif row.status == "measured" and row.change.value is not None:
        reasons.append(_verdict(row))
    return reasons


def _verdict(row: PeerRow) -> str:
    if row.alike:
        return "alike"
    lead = "open; expected" if row.alike is None else "because"
    return f"{lead}: {row.reason}" if row.reason else lead


def _figure(figure: PeerFigure) -> str:
    return MISSING if figure.value is None else format_duration(figure.value, figure.low, figure.high)


def _spread(rows: Sequence[PeerRow]) -> Iterator[str]:
    """Say for two words how far apart the figures are that they stand for."""
    for word in ("fork", "thread"):
        ends = spread(rows, word)
        if ends is not None:
            (least, low), (most, high) = ((row, _figure(row.ours)) for row in ends)
            yield (
                f"A {word} takes {low} or {high} on this machine, depending on who defines it: {_meaning(least)}, or "
                f"{_meaning(most)}."
            )


def _meaning(row: PeerRow) -> str:
    return f"{row.configuration.peer} ({row.configuration.measures})"
