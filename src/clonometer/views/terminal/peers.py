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
def render_peers(rows: Sequence[PeerRow], installs: Iterable[str], *, width: int, colour: bool) -> Iterator[str]:
    """Write rows by word, each with what it measures and its reason; only commands may be longer than a line."""
    yield from wrap(
        "Clonometer configured as each peer measures, and the peers that are installed, in turn. 'ratio' is the peer's "
        "figure over ours, with its 95% interval.",
        width,
    )
    by_word = {head: [row for row in rows if row.configuration.word == word] for word, head in _WORDS.items()}
    drawn = draw_stack([_table(head, of_word) for head, of_word in by_word.items()], width, colour)
    for of_word, (heading, *lines) in zip(by_word.values(), drawn.tables, strict=True):
        yield ""
        yield heading
        for row, line in zip(of_word, lines, strict=True):
            yield line
            yield from _reasons(row, width)
    yield from _spread(rows, width)
    yield ""
    yield from wrap("Peers without a figure or a reason are not run from here; ours is configured like them.", width)
    yield from _missing(installs)


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
    for word in ("fork", "thread"):
        ends = spread(rows, word)
        if ends is None:
            continue
        least, most = ends
        low, high = _figure(*_ours(least)), _figure(*_ours(most))
        yield ""
        yield from wrap(
            f"One machine, one minute, one word: '{word}' is {low} as {least.configuration.peer} means it "
            f"({least.configuration.measures}) and {high} as {most.configuration.peer} means it "
            f"({most.configuration.measures}).",
            width,
        )


def _ours(row: PeerRow) -> tuple[float | None, float | None, float | None]:
    return row.ours_ns, row.ours_low_ns, row.ours_high_ns


def _missing(installs: Iterable[str]) -> Iterator[str]:
    commands = list(dict.fromkeys(installs))
    if commands:
        yield ""
        yield "Not installed; each of these commands adds rows:"
        # Not wrapped: they are there to be copied.
        yield from (f"  $ {command}" for command in commands)
