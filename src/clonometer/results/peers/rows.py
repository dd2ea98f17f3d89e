"""What a comparison with other tools consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import As, Count, Mark, Only, computed_field
from clonometer.results.change import Change
from clonometer.results.peers.configurations import PeerConfiguration
from clonometer.verdicts import Direction

_RATIO = Only("peer_ratio", (As("value", "ratio"), As("low", "ratio_low"), As("high", "ratio_high")))


@dataclass(frozen=True)
class PeerFigure:
    """A median in ns with the ends of its interval, and how many runs or processes it is of; None and 0 for none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: Count = 0


def _named(side: str, counted: str) -> Only:
    keys = {"value": "ns", "low": "low_ns", "high": "high_ns", "n": counted}
    return Only(side, tuple(As(name, f"{side}_{key}") for name, key in keys.items()))


@dataclass(frozen=True)
class PeerRow:
    """A peer's figure beside ours, which is the base of ``change``.

    It is equal where its interval lies within `ALIKE`. ``status`` is ``measured``, ``not run`` (nothing of it is
    started from here), ``not installed``, ``unavailable`` (its version lacks this) or ``failed``, the last two with the
    ``reason``; of a measured figure that is not alike ``reason`` says why.
    """

    configuration: Annotated[PeerConfiguration, Mark.MERGED]
    status: str
    change: Annotated[Change[PeerFigure], Mark.MERGED, _RATIO]
    reason: str | None = None

    @computed_field(after="status")
    def peer(self) -> Annotated[PeerFigure, Mark.MERGED, _named("peer", "runs")]:
        """The peer's figure."""
        return self.change.other

    @computed_field(after="peer")
    def ours(self) -> Annotated[PeerFigure, Mark.MERGED, _named("ours", "processes")]:
        """Our own."""
        return self.change.base

    @computed_field(after="change")
    def alike(self) -> bool | None:
        """Whether both are the same, give or take a quarter; None where that cannot be told."""
        return {Direction.EQUAL: True, Direction.UNKNOWN: None}.get(self.change.direction, False)


def spread(rows: Sequence[PeerRow], word: str) -> tuple[PeerRow, PeerRow] | None:
    """The rows in which our own figure for a word is smallest and largest: one machine, one word.

    None where fewer than two rows have a figure.
    """
    measured = [row for row in rows if row.configuration.word == word and row.ours.value is not None]
    if len(measured) < 2:
        return None
    measured.sort(key=lambda row: row.ours.value or 0.0)
    return measured[0], measured[-1]
