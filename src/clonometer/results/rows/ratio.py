"""The one comparison of two rows: whether there is a ratio, its interval, and the change that it is."""

from __future__ import annotations

import zlib
from typing import TypeVar

from clonometer.results.change import Change
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.interval import Interval
from clonometer.stats.rank_sum import ratio_interval

_Side = TypeVar("_Side")


def no_ratio_of(*rows: RunEstimate) -> str | None:
    """Say why rows have no ratio to each other; None where they may have one."""
    if all(row.processes.least > 0 for row in rows):
        return None
    return "there is no ratio to a median of zero or below"


def seed_for(*names: str | None, seed: int = 0) -> int:
    """Derive a seed of its own for each thing that is resampled, from its names and the seed of the run."""
    text = "|".join(name or "" for name in names)
    return zlib.crc32(text.encode()) ^ (seed & 0xFFFFFFFF)


def ratio_of(a: RunEstimate, b: RunEstimate) -> Interval:
    """How many times as much ``a`` is as ``b``, by their processes, where it is one (`no_ratio_of`)."""
    return ratio_interval(a.processes.values, b.processes.values)


def change_of(base: _Side, other: _Side, interval: Interval) -> Change[_Side]:
    """Give the change that an interval is of, a ratio unless the caller says otherwise; of one process without ends."""
    low, high, confidence = interval.low, interval.high, interval.confidence
    known = (None, None, None) if interval.n < 2 else (low, high, confidence)
    return Change(
        base=base,
        other=other,
        value=interval.value,
        low=known[0],
        high=known[1],
        confidence=known[2],
        method=interval.method,
        n=interval.n,
    )
