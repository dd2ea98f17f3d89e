"""Other tools beside ours on a terminal: a row a figure, why they differ. Returned as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clonometer.results.peers.rows import PeerRow, spread
from clonometer.units import format_duration, format_ratio
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.table import draw_stack
from clonometer.views.terminal.text import rendered, wrap

_WORDS = {
    "fork": "Fork",
    "vfork": "Vfork",
    "thread": "Thread",
    "exec": "Fork or spawn, and exec",
    "switch": "Round trip between two processes",
    "message": "Message between two processes",
    "system call": "System call",
}


@rendered(least_width=40)
def render_peers(
    rows: Sequence[PeerRow], installs: Iterable[str], *, width: int, colour: bool, wide: bool = False
) -> Iterator[str]:
    """Write what one word is taken to mean, then rows by word, each with what it measures and its reason.

    Unless ``wide`` those without a figure of the peer are one line a word. Only commands may be longer than a line.
    """
    yield from _spread(rows, width)
    yield from wrap(
        "Clonometer is configured as each peer measures, and both run in turn. 'ratio' is the peer's figure over ours, "
        "with its 95% interval.",
        width,
    )
    by_word = {head: [row for row in rows if row.configuration.word == word] for word, head in _WORDS.items()}
    shown = {head: [row for row in of_word if wide or not _is_folded(row)] for head, of_word in by_word.items()}
    drawn = draw_stack([_table(head, of_word) for head, of_word in shown.items()], width, colour)
    for (head, of_word), (heading, *lines) in zip(shown.items(), drawn.tables, strict=True):
        yield ""
        yield heading
        for row, line in zip(of_word, lines, strict=True):
            yield line
            yield from _reasons(row, width)
        yield from _folded([row for row in by_word[head] if row not in of_word], width)
    yield ""
    yield from wrap(
        "Peers without a figure are not run from here; ours is configured like them."
        if wide
        else "Clonometer's figures alone stand where the peer is not installed or not run from here; --wide shows all.",
        width,
    )
    yield from _missing(installs)


def _is_folded(row: PeerRow) -> bool:
    """Whether a row has nothing of its peer: no figure, and no failure that has to be seen."""
    return row.status in ("not run", "not installed") and not row.configuration.id.startswith("clonometer.")


def _folded(rows: Sequence[PeerRow], width: int) -> Iterator[str]:
    figures = [f"{row.configuration.peer} {_figure(*_ours(row))}" for row in rows]
    if figures:
        yield from wrap(f"ours, as others measure: {', '.join(figures)}", width, bullet="  ")


def _table(head: str, rows: Sequence[PeerRow]) -> Table:
    return Table(
        [
            Column("", [f"  {row.configuration.peer}" for row in rows]),
            Column("peer", [_figure(row.peer_ns, row.peer_low_ns, row.peer_high_ns) for row in rows], "right"),
            Column("ours", [_figure(*_ours(row)) for row in rows], "right"),
            Column("ratio", [_ratio(row) for row in rows]),
        ],
        head,
    )


def _ratio(row: PeerRow) -> str:
    if row.ratio is not None and row.ratio_low is not None and row.ratio_high is not None:
        return format_ratio(row.ratio, row.ratio_low, row.ratio_high)
    return row.status if row.status in ("failed", "unavailable", "not installed") else ""


def _reasons(row: PeerRow, width: int) -> Iterator[str]:
    """What it measures, and why there is no figure or another one than ours."""
    yield from wrap(row.configuration.measures, width, bullet="    ")
    if row.status in ("failed", "unavailable") and row.reason:
        yield from wrap(f"{row.status}: {row.reason}", width, bullet="    ")
    elif row.status == "measured" and row.ratio is not None:
        yield from wrap(_verdict(row), width, bullet="    ")


def _verdict(row: PeerRow) -> str:
    if row.alike:
        return "alike"
    lead = "cannot tell yet; expected" if row.alike is None else "because"
    return f"{lead}: {row.reason}" if row.reason else lead


def _figure(value_ns: float | None, low_ns: float | None, high_ns: float | None) -> str:
    return MISSING if value_ns is None else format_duration(value_ns, low_ns, high_ns)


def _spread(rows: Sequence[PeerRow], width: int) -> Iterator[str]:
    """Say for two words how far apart the figures are that they stand for."""
    for word in ("fork", "thread"):
        ends = spread(rows, word)
        if ends is not None:
            (least, low), (most, high) = ((row, _figure(*_ours(row))) for row in ends)
            yield from wrap(
                f"A {word} takes {low} or {high} on this machine, depending on who defines it: {_meaning(least)}, or "
                f"{_meaning(most)}.",
                width,
            )
            yield ""


def _meaning(row: PeerRow) -> str:
    return f"{row.configuration.peer} ({row.configuration.measures})"


def _ours(row: PeerRow) -> tuple[float | None, float | None, float | None]:
    return row.ours_ns, row.ours_low_ns, row.ours_high_ns


def _missing(installs: Iterable[str]) -> Iterator[str]:
    commands = list(dict.fromkeys(installs))
    if commands:
        yield ""
        yield "Not installed; each of these commands adds rows:"
        # Not wrapped: they are there to be copied.
        yield from (f"  $ {command}" for command in commands)
