"""Limits: how much of a target is measured, and how the limits of several entries meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clonometer.errors import PlanError, unknown
from clonometer.families import axis as axis_of
from clonometer.families.types import Cost
from clonometer.plan.cell import AxisValue
from clonometer.plan.types import Limits

NS_PER_MS = 1_000_000
# Key in a plan file -> field of Limits, how many of the field's unit one of the key's is, the least value.
_KEYS = {
    "processes": ("processes", 1, 1),
    "most_processes": ("most_processes", 1, 0),
    "samples": ("samples", 1, 1),
    "blocks": ("blocks", 1, 1),
    "warmup": ("warmup", 1, 0),
    "block_limit_ms": ("block_limit_ns", NS_PER_MS, 0),
    "turn": ("turn", 1, 0),
}

# What 32 bits count: twice as many still fit where runs keep them.
_MOST = (1 << 31) - 1

# What any launch costs, and starting a driver; what a condition adds is said by its axes (`clonometer.families`).
_LAUNCH_NS = 200_000
_START_NS = 15_000_000
_WARMUP_LIMIT_NS = 50_000_000

#: Of what is asked for by name, without a plan. Medians of processes scatter by their layout and their moment far more
#: than by their samples: many short processes narrow an interval sooner than few long ones (T. Kalibera, R. Jones,
#: "Rigorous benchmarking in reasonable time", ISMM 2013).
ASKED = Limits(samples=100, blocks=2)


def read_limits(table: Mapping[str, object]) -> dict[str, int]:
    """Check a table of limits of a plan file.

    Gives the fields of `Limits` that the table sets, in their units: ``block_limit_ms`` becomes ``block_limit_ns``.

    Raises
    ------
    PlanError
        For a key that is no limit, or a value that is no whole number, too small or beyond all measure.

    Examples
    --------
    >>> read_limits({"samples": 50, "block_limit_ms": 100})
    {'samples': 50, 'block_limit_ns': 100000000}
    """
    read = {}
    for key, value in table.items():
        if key not in _KEYS:
            near = unknown("limit", key, _KEYS)
            raise PlanError(near.message, near.hint)
        field, factor, least = _KEYS[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PlanError(f"{key} = {value!r}: {key} takes a whole number from {least}")
        if value > _MOST:
            raise PlanError(f"{key} = {value}: {key} is {_MOST:,} at most")
        read[field] = value * factor
    return read


def limits_conflict(first: Mapping[str, int], second: Mapping[str, int]) -> str | None:
    """Name a limit that two entries set to different values, or None."""
    return next((field for field in sorted(first) if field in second and first[field] != second[field]), None)


def sparing(first: Limits, second: Limits) -> Limits:
    """Take the smaller of each limit, but the larger numbers of processes.

    Where targets fall together the block must suit the dearer one, the interval the more demanding one, and it is the
    turn of the earlier one.
    """
    turns = [limit for limit in (first.turn, second.turn) if limit]
    limits = [limit for limit in (first.block_limit_ns, second.block_limit_ns) if limit]
    most = (first.most_processes, second.most_processes)
    return Limits(
        processes=max(first.processes, second.processes),
        most_processes=max(most) if all(most) else 0,  # 0 is no limit
        samples=min(first.samples, second.samples),
        blocks=min(first.blocks, second.blocks),
        warmup=min(first.warmup, second.warmup),
        block_limit_ns=min(limits, default=0),  # 0 is no limit
        turn=min(turns, default=0),  # 0 is the last one
    )


def estimated_launch_ns(condition: Mapping[str, AxisValue]) -> float:
    """Guess what one launch lasts, from its condition alone; good to a factor of some.

    Each axis says what its things cost (`clonometer.families.types.Axis`); one that nobody has heard of costs nothing.
    """
    costs = _costs(condition)
    launch_ns = _LAUNCH_NS + sum(cost.launch_ns for cost in costs)
    at_once = [value for axis, value in condition.items() if axis_of(axis).multiplies and isinstance(value, int)]
    return launch_ns * max([1, *at_once]) + sum(cost.wait_ns for cost in costs)


def _costs(condition: Mapping[str, AxisValue]) -> list[Cost]:
    costs = []
    for axis, value in condition.items():
        cost = axis_of(axis).cost
        if callable(cost):
            costs.append(cost(condition))
        elif isinstance(value, int):
            costs.append(cost.times(value))
    return costs


def estimated_process_ns(condition: Mapping[str, AxisValue], limits: Limits) -> float:
    """Guess what one start of a driver lasts: building the parent, warm-up and blocks."""
    launch_ns = estimated_launch_ns(condition)
    block_ns: float = limits.samples * launch_ns
    if limits.block_limit_ns:
        block_ns = max(min(block_ns, limits.block_limit_ns), min(3, limits.samples) * launch_ns)
    build_ns = sum(cost.build_ns for cost in _costs(condition))
    warmup_ns = (limits.warmup + min(limits.warmup, 3) * (limits.blocks - 1)) * launch_ns
    return _START_NS + build_ns + warmup_ns + limits.blocks * block_ns


def limits_for(condition: Mapping[str, AxisValue], base: Limits = ASKED) -> Limits:
    """Ease limits for a condition that makes each launch dear: less warm-up, fewer blocks.

    Where a launch is a period in which many things happen, one of them in a process is enough.

    A plan file says its limits itself; this is for what is asked for on the command line.

    Examples
    --------
    >>> limits_for({"parent_bytes": 1 << 30}).warmup, limits_for({"parent_bytes": 0}).warmup
    (1, 20)
    """
    if any(axis_of(axis).period for axis in condition):
        return replace(base, samples=1, blocks=1, warmup=0)
    launch_ns = estimated_launch_ns(condition)
    warmup = min(base.warmup, max(1, int(_WARMUP_LIMIT_NS / launch_ns)))
    dear = launch_ns * 3 > base.block_limit_ns > 0
    return replace(base, warmup=warmup, blocks=1 if dear else base.blocks)
