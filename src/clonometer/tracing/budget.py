"""The budget: mean time of each part over a central band of launches, which sums to their mean duration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from clonometer.stats.interval import Interval
from clonometer.stats.means import mean_intervals
from clonometer.tracing.partition import TracedLaunch
from clonometer.tracing.parts import ORDER, UNEXPLAINED
from clonometer.tracing.types import Against, BudgetPart, Explanation, IntervalEstimate, RatioPart, Versus

BAND = (0.25, 0.75)
SEED = 5


def central(launches: Sequence[TracedLaunch]) -> list[TracedLaunch]:
    """Launches of one process whose duration lies within its `BAND`, at least one.

    The band keeps disturbed launches, which are other stories, out of the mean; it is symmetric in ranks, so that it
    moves the mean towards the median.
    """
    ordered = sorted(launches, key=lambda traced: traced.launch.reaped_ns)
    first = round(BAND[0] * (len(ordered) - 1))
    last = round(BAND[1] * (len(ordered) - 1))
    return ordered[first : last + 1]


def budget_of(
    processes: Sequence[Sequence[TracedLaunch]],
) -> tuple[IntervalEstimate, tuple[BudgetPart, ...], IntervalEstimate]:
    """Add up the parts.

    Gives what a launch takes, its parts and what is unexplained: means over the processes of their means over the band.
    Parts without time are left out.

    Raises
    ------
    ValueError
        If there is no launch.
    """
    names = [*ORDER, UNEXPLAINED]
    table = np.array(
        [means_of([launch.totals() for launch in central(launches)], names) for launches in processes if launches]
    )
    if table.size == 0:
        raise ValueError("no launch was traced")
    whole = table.sum(axis=1, keepdims=True)
    *parts, unexplained, reaped = [
        interval_estimate(interval) for interval in mean_intervals(np.hstack([table, whole]), seed=SEED)
    ]
    shares = tuple(
        BudgetPart(name, mean_ns, mean_ns.value / reaped.value)
        for name, mean_ns in zip(ORDER, parts, strict=True)
        if mean_ns.value > 0
    )
    return reaped, shares, unexplained


def means_of(tables: Sequence[Mapping[str, float]], names: Iterable[str]) -> list[float]:
    """Means over tables of what they have under each name, which is 0 where one has nothing."""
    return [sum(table.get(name, 0) for table in tables) / len(tables) for name in names]


def interval_estimate(interval: Interval) -> IntervalEstimate:
    """Keep of an interval what an explanation tells."""
    return IntervalEstimate(*interval.ends)


def set_beside(first: Explanation, second: Explanation) -> Versus:
    """Say which parts make the ratio of two mechanisms.

    The reasons are every part of either, greatest difference first, and what is unexplained last where there is any;
    their differences sum to that of the whole.
    """
    sides = [{share.part: share.mean_ns.value for share in side.budget} for side in (first, second)]
    whole = first.reaped_ns.value - second.reaped_ns.value
    reasons = [
        _reason(part, sides[0].get(part, 0.0), sides[1].get(part, 0.0), whole)
        for part in ORDER
        if part in sides[0] or part in sides[1]
    ]
    reasons.sort(key=lambda reason: -abs(reason.difference_ns))
    if first.unexplained_ns.value > 0 or second.unexplained_ns.value > 0:
        reasons.append(_reason(UNEXPLAINED, first.unexplained_ns.value, second.unexplained_ns.value, whole))
    ratio = first.reaped_ns.value / second.reaped_ns.value
    return Versus(first, Against(second, ratio, whole, tuple(reasons)))


def _reason(part: str, first_ns: float, second_ns: float, whole_ns: float) -> RatioPart:
    difference = first_ns - second_ns
    return RatioPart(part, first_ns, second_ns, difference, difference / whole_ns if whole_ns else 0.0)
