"""Results with distributions of gaps and failing workers, for tests of views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.results.series_types import IsolationRow, LadderSeries, LadderStep
from clonometer.results.types import Results

GIB = 1 << 30
LADDER_STEPS = (LadderStep(2, 50, 49, 51), LadderStep(1000, 7e3, 6e3, 8e3), LadderStep(0, 2e6, 1e6, 3e6))


def ladder(name: str, size: int, steps: Sequence[LadderStep] = LADDER_STEPS, **condition: str) -> LadderSeries:
    return LadderSeries(
        "cow.stall", f"cow.stall[parent_bytes={size}]", "gaps between writes", name,
        {"parent_bytes": size, **condition}, 5_000, steps,
    )  # fmt: skip


def with_tails(results: Results) -> Results:
    """Add gaps of a fork and failing workers."""
    names = ("before the fork", "during the call")
    ladders = [ladder(name, size) for size in (GIB, 0) for name in names]
    ladders.append(ladder(names[0], 0, LADDER_STEPS[:1], other_process="gone"))
    rows = [
        IsolationRow("segfault", "thread", 3, 0, 0, False, 11, {"known": (9e4, 8e4, 1e5)}),
        IsolationRow("overrun_neighbour", "process", 3, 3, 0, True, 0, {}),
    ]
    return replace(results, series={**results.series, "ladders": ladders, "isolation": rows})
