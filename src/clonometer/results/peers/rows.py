"""What a comparison with other tools consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.peers.configurations import PeerConfiguration


@dataclass(frozen=True)
class PeerRow:
    """A peer's figure beside ours, in ns; None for what there is not.

    ``ratio`` is the peer's figure over ours. ``alike`` is whether its interval lies within `ALIKE`; None where that
    cannot be told. ``status`` is ``measured``, ``not run`` (nothing of it is started from here), ``not installed``,
    ``unavailable`` (its version lacks this) or ``failed``, the last two with the ``reason``; of a measured figure that
    is not alike ``reason`` says why.
    """

    configuration: PeerConfiguration
    status: str
    peer_ns: float | None = None
    peer_low_ns: float | None = None
    peer_high_ns: float | None = None
    peer_runs: int = 0
    ours_ns: float | None = None
    ours_low_ns: float | None = None
    ours_high_ns: float | None = None
    ours_processes: int = 0
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    alike: bool | None = None
    reason: str | None = None


def spread(rows: Sequence[PeerRow], word: str) -> tuple[PeerRow, PeerRow] | None:
    """The rows in which our own figure for a word is smallest and largest: one machine, one word.

    None where fewer than two rows have a figure.
    """
    measured = [row for row in rows if row.configuration.word == word and row.ours_ns is not None]
    if len(measured) < 2:
        return None
    measured.sort(key=lambda row: row.ours_ns or 0.0)
    return measured[0], measured[-1]
