"""The one comparison of two rows: whether there is a ratio, its interval, its seed, and from when on it counts."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TypeVar

from clonometer.results.change import Change
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.bootstrap import Processes, ratio_of_medians
from clonometer.stats.interval import Interval

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


def seed_of(*rows: RunEstimate, seed: int = 0) -> int:
    """The seed of what rows are resampled with: the same rows give the same numbers."""
    names = [name for row in rows for name in (row.cell, row.stage, row.placement)]
    return seed_for(*names, seed=seed)


def ratio_of(a: RunEstimate, b: RunEstimate, *, seed: int = 0, same_run: bool = True) -> Interval:
    """How many times as much ``a`` is as ``b``, by the medians of their processes, where it is one (`no_ratio_of`).

    ``seed`` is that of the run. ``same_run``: processes of both that started near each other are neighbours in time. Of
    two runs they are not: what is left is the order of time in each.
    """
    sides = [row.processes if same_run else _in_order_of_time(row.processes) for row in (a, b)]
    return ratio_of_medians(sides[0], sides[1], seed=seed_of(a, b, seed=seed))


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


def _in_order_of_time(processes: Processes) -> Processes:
    """Put processes into the order in which they ran, and forget when that was."""
    if processes.starts is None:
        return processes
    return replace(processes.at(processes.starts.argsort(kind="stable").tolist()), starts=None)
