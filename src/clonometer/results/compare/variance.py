"""How far two runs of a machine are apart, which no run tells by itself: not known, given, or measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean
from typing import Annotated, Literal

from clonometer.errors import InputError
from clonometer.records import Count, Ge
from clonometer.results.types import Estimate, RowName


class NoiseSource(StrEnum):
    """From what it is known how far two runs of the machine are apart."""

    UNKNOWN = "unknown"
    GIVEN = "given"
    MEASURED = "measured"
    STORED_RUNS = "stored runs"
    THESE_RUNS = "these runs"
    ONE_RUN = "one run"
    #: Of a fleet: hosts are the units.
    THESE_HOSTS = "these hosts"


#: First launches of quiet machines differ by so much: a process has one, whose level depends on caches and on memory's
#: layout. Who gives a share for all rows has hardly measured these.
FIRST_SHARE = 0.2
#: Fewer runs do not tell how far runs are apart.
LEAST_RUNS = 3


@dataclass(frozen=True)
class StoredRuns:
    """The runs beside those compared, and which of them told the noise."""

    files: Annotated[Sequence[str], "Those that told it; empty where they could not."]
    boots: Annotated[Count, "How many boots of the machine they are of."]
    span_s: Annotated[float, Ge(0), "Seconds from the first to the last."]
    left_out: Annotated[Mapping[str, Count], "Why others did not count, and how many."]


@dataclass(frozen=True)
class BetweenRunVariance:
    """The standard deviation of rows between runs of a machine, as a share; None where nobody knows.

    Attributes
    ----------
    source
        From what they are known.
    share, first_share
        Of rows that ``rows`` does not have: of warm ones, and of first launches.
    rows
        By cell, quantity and placement.
    degrees, first_degrees
        Degrees of freedom that they rest on; None where they count as known.
    runs, span_s
        How many runs they were measured in, and the seconds from the first of these to the last.
    stored
        The runs that lie beside those compared; None where nobody looked.
    """

    source: NoiseSource = NoiseSource.UNKNOWN
    share: float | None = None
    first_share: float | None = None
    rows: Mapping[RowName, float] = field(default_factory=dict)
    degrees: int | None = None
    first_degrees: int | None = None
    runs: int = 0
    span_s: float = 0.0
    stored: StoredRuns | None = None

    def of(self, estimate: Estimate) -> float | None:
        """The standard deviation of a row; never below that of rows like it, since few runs tell little of a row."""
        typical = self.first_share if estimate.is_first_launch else self.share
        return None if typical is None else max(typical, self.rows.get(estimate.name, 0.0))

    def degrees_of(self, estimate: Estimate) -> int | None:
        """The degrees of freedom of a row."""
        return self.first_degrees if estimate.is_first_launch else self.degrees


@dataclass(frozen=True)
class MeasuredRow:
    """What `compare` and `check` read of a row of `clonometer noise --json`."""

    cell: str
    quantity: str
    placement: str | None = None
    temperature: str | None = None
    between_rounds: Annotated[float | None, Ge(0)] = None


@dataclass(frozen=True)
class MeasuredNoise:
    """What `compare` and `check` read of `clonometer noise --json`."""

    schema: Literal[2]
    rounds: Count
    rows: Sequence[MeasuredRow]


#: Of a machine that nobody has asked: what is compared bounds it (`clonometer.results.compare.between`).
UNKNOWN_VARIANCE = BetweenRunVariance()
#: Both sides ran at the same time.
NO_VARIANCE = BetweenRunVariance(NoiseSource.ONE_RUN, 0.0, 0.0)


def variance_from_share(share: float) -> BetweenRunVariance:
    """What the user says of a machine; first launches are taken to be no quieter than they are elsewhere."""
    return BetweenRunVariance(NoiseSource.GIVEN, share, max(share, FIRST_SHARE))


def variance_from_noise(noise: MeasuredNoise, name: str) -> BetweenRunVariance:
    """What `clonometer noise` has measured.

    Raises
    ------
    InputError
        If it measured fewer than three rounds.
    """
    rows = {(row.cell, row.quantity, row.placement): row for row in noise.rows if row.between_rounds is not None}
    if not rows:
        raise InputError(
            f"{name} does not give the noise between rounds", "clonometer noise --rounds 3 --json, or more"
        )
    by_first = [[row for row in rows.values() if (row.temperature == "cold") is first] for first in (False, True)]
    warm, cold = (root_mean_square([row.between_rounds or 0.0 for row in listed]) for listed in by_first)
    degrees, first_degrees = (
        pooled_degrees(noise.rounds - 1, len({row.cell for row in listed})) for listed in by_first
    )
    shares = {key: row.between_rounds or 0.0 for key, row in rows.items()}
    return BetweenRunVariance(NoiseSource.MEASURED, warm, cold, shares, degrees, first_degrees, noise.rounds)


def pooled_degrees(left: int, kinds: int) -> int:
    """The degrees of freedom of a variance between runs that all kinds of process tell together.

    ``left`` are those of one kind. What the kinds have in common is taken off, which costs one of them.
    """
    return max(1, left) * max(1, kinds - 1)


def root_mean_square(shares: Sequence[float]) -> float | None:
    """The root of the mean square; None of nothing."""
    return math.sqrt(fmean(share**2 for share in shares)) if shares else None
