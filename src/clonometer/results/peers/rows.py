"""What a comparison with other tools consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import As, Count, Ge, Gt, Mark, OneOf, Only, computed_field, version
from clonometer.results.change import Change
from clonometer.results.peers.configurations import PeerConfiguration
from clonometer.verdicts import Direction

PEERS_SCHEMA = 1

_RATIO = Only("peer_ratio", (As("value", "ratio"), As("low", "ratio_low"), As("high", "ratio_high")))


@dataclass(frozen=True)
class PeerFigure:
    """A median in ns with the ends of its interval, and how many runs or processes it is of; None and 0 for none."""

    value: Annotated[float | None, Gt(0)] = None
    low: Annotated[float | None, Gt(0)] = None
    high: Annotated[float | None, Gt(0)] = None
    n: Count = 0


def _named(side: str, counted: str) -> Only:
    keys = {"value": "ns", "low": "low_ns", "high": "high_ns", "n": counted}
    return Only(side, tuple(As(name, f"{side}_{key}") for name, key in keys.items()))


@dataclass(frozen=True)
class PeerRow:
    """A peer's figure and ours: ratios are the peer's over ours, with their 95% interval."""

    configuration: Annotated[PeerConfiguration, Mark.MERGED]
    status: Annotated[
        str,
        OneOf(("measured", "not installed", "not run", "unavailable", "failed")),
        "not run: it is never started from here; unavailable: its version lacks this.",
    ]
    change: Annotated[Change[PeerFigure], Mark.MERGED, _RATIO, Gt(0)]
    reason: Annotated[str | None, "Why it is unavailable, failed or not alike."] = None

    @computed_field(after="status")
    def peer(self) -> Annotated[PeerFigure, Mark.MERGED, _named("peer", "runs")]:
        """The peer's figure."""
        return self.change.other

    @computed_field(after="peer")
    def ours(self) -> Annotated[PeerFigure, Mark.MERGED, _named("ours", "processes")]:
        """Our own."""
        return self.change.base

    @computed_field("Whether the interval lies within 0.8 to 1.25; null: unclear.", after="change")
    def alike(self) -> bool | None:
        """Whether both are the same, give or take a quarter; None where that cannot be told."""
        return {Direction.EQUAL: True, Direction.UNKNOWN: None}.get(self.change.direction, False)


@dataclass(frozen=True)
class PeerInstallation:
    """A program that takes figures of the rows."""

    name: str
    figures: Annotated[Sequence[str], "Ids of rows."]
    installed: bool
    install: Annotated[str, "The command that installs it."]


@dataclass(frozen=True)
class PeersAnswer:
    """What other tools measured, and Clonometer configured like each of them."""

    schema = version(PEERS_SCHEMA)

    status: Annotated[str, OneOf(("complete", "partial", "failed")), "Of our own run."]
    rows: Annotated[Sequence[PeerRow], Ge(1)]
    programs: Sequence[PeerInstallation]
    #: How our own run ended, as the exit status of a command.
    exit_status: Annotated[int, Mark.UNWRITTEN] = 0

    @property
    def installs(self) -> list[str]:
        """The commands that install what is not here."""
        return [program.install for program in self.programs if not program.installed]


def spread(rows: Sequence[PeerRow], word: str) -> tuple[PeerRow, PeerRow] | None:
    """The rows in which our own figure for a word is smallest and largest: one machine, one word.

    None where fewer than two rows have a figure.
    """
    measured = [row for row in rows if row.configuration.word == word and row.ours.value is not None]
    if len(measured) < 2:
        return None
    measured.sort(key=lambda row: row.ours.value or 0.0)
    return measured[0], measured[-1]
