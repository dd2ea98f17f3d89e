"""How far two moments of a machine are apart, which no run tells by itself: assumed, given or measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Literal

from clonometer.errors import InputError
from clonometer.records import Count, Least
from clonometer.results.types import Estimate, RowName

ASSUMED, GIVEN, MEASURED, OF_RUNS, NO_MOMENTS = "assumed", "given", "measured", "these runs", "one run"
#: Of a fleet: hosts are the units.
OF_HOSTS = "these hosts"
SOURCES = (ASSUMED, GIVEN, MEASURED, OF_RUNS, NO_MOMENTS, OF_HOSTS)
#: Standard deviation of a row between moments of a quiet machine, where nobody measured it (docs/methods.md).
SHARE = 0.02
#: The same of first launches: a process has one, whose level depends on caches and on memory's layout.
FIRST_SHARE = 0.2


@dataclass(frozen=True)
class Moments:
    """The standard deviation of rows between moments of a machine, as a share.

    Attributes
    ----------
    source
        One of `SOURCES`.
    share, first_share
        Of rows that ``rows`` does not have: of warm ones, and of first launches.
    rows
        By cell, quantity and placement.
    """

    source: str = ASSUMED
    share: float = SHARE
    first_share: float = FIRST_SHARE
    rows: Mapping[RowName, float] = field(default_factory=dict)

    def of(self, estimate: Estimate) -> float:
        """The standard deviation of a row; never below that of rows like it, since few rounds tell little of a row."""
        typical = self.first_share if estimate.is_first_launch else self.share
        return max(typical, self.rows.get(estimate.name, 0.0))


@dataclass(frozen=True)
class MeasuredRow:
    """What `compare` and `check` read of a row of `clonometer noise --json`."""

    cell: str
    quantity: str
    placement: str | None = None
    temperature: str | None = None
    between_rounds: Annotated[float | None, Least(0)] = None


@dataclass(frozen=True)
class MeasuredNoise:
    """What `compare` and `check` read of `clonometer noise --json`."""

    schema: Literal[2]
    rounds: Count
    rows: Sequence[MeasuredRow]


#: What is assumed of a machine that nobody has asked.
ASSUMED_MOMENTS = Moments()
#: Both sides ran in the same moments.
SAME_MOMENTS = Moments(NO_MOMENTS, 0.0, 0.0)


def given_moments(share: float) -> Moments:
    """What the user says of a machine; first launches are assumed to be no quieter than they are elsewhere."""
    return Moments(GIVEN, share, max(share, FIRST_SHARE))


def measured_moments(noise: MeasuredNoise, name: str) -> Moments:
    """What `clonometer noise` has measured.

    Raises
    ------
    InputError
        If it measured fewer than three rounds.
    """
    rows = {(row.cell, row.quantity, row.placement): row for row in noise.rows if row.between_rounds is not None}
    if not rows:
        raise InputError(f"{name} does not say how far rounds are apart", "clonometer noise --rounds 3 --json, or more")
    first = [row.between_rounds or 0.0 for row in rows.values() if row.temperature == "cold"]
    others = [row.between_rounds or 0.0 for row in rows.values() if row.temperature != "cold"]
    return Moments(
        MEASURED,
        _root_mean_square(others) if others else SHARE,
        _root_mean_square(first) if first else FIRST_SHARE,
        {key: row.between_rounds or 0.0 for key, row in rows.items()},
    )


def _root_mean_square(shares: Sequence[float]) -> float:
    return math.sqrt(fmean(share**2 for share in shares))
