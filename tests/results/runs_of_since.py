"""Runs in memory beside one of days before: for tests of what changed since then, and for the golden file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK, PTHREAD, scaled

from clonometer.results.compare.sides import read_side
from clonometer.results.compare.since import SinceLastRun, since
from clonometer.results.rows.run_estimates import RunEstimates

#: Every answer of this module by its function's name, in the order of the golden file.
SINCE: dict[str, Callable[[], SinceLastRun]] = {}


def listed(make: Callable[[], SinceLastRun]) -> Callable[[], SinceLastRun]:
    """Add an answer to the golden file."""
    SINCE[make.__name__] = make
    return make


def side(factor: float = 1.0, days: int = 0, **host: Any) -> RunEstimates:
    """Give a run of fork, which takes so many times as long as usual, and of pthread, so many days later."""
    builder = RunBuilder(seed=days + 1)
    builder.cell("launch.fork", scaled(FORK, factor))
    builder.cell("launch.pthread", PTHREAD)
    metadata = builder.run.metadata
    metadata["host"] = metadata["host"] | host
    metadata["environment"] = {"names": ["PATH"], "hash": "0123456789abcdef"}
    metadata["started"] = (datetime.fromisoformat(metadata["started"]) + timedelta(days=days)).isoformat()
    return read_side(builder.run, f"day {days}")


@listed
def slower_since_three_days() -> SinceLastRun:
    """Fork takes 1.5 times as long as 3 days ago, pthread as long."""
    return since(side(), side(1.5, days=3))


@listed
def as_yesterday() -> SinceLastRun:
    """Fork and pthread take as long as the day before."""
    return since(side(), side(days=1))


@listed
def another_kernel_than_yesterday() -> SinceLastRun:
    """Fork takes twice as long as the day before, of which the kernel was another."""
    return since(side(**{"kernel.release": "6.1"}), side(2.0, days=1, **{"kernel.release": "6.2"}))
