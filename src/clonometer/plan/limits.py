"""Limits: how much of a target is measured, and how the limits of several entries meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clonometer.errors import PlanError, unknown
from clonometer.plan.cell import AxisValue
from clonometer.plan.types import Limits

NS_PER_MS = 1_000_000
# Key in a plan file -> field of Limits, how many of the field's unit one of the key's is, the least value.
_KEYS = {
    "processes": ("processes", 1, 1),
    "samples": ("samples", 1, 1),
    "blocks": ("blocks", 1, 1),
    "warmup": ("warmup", 1, 0),
    "block_limit_ms": ("block_limit_ns", NS_PER_MS, 0),
}

# What 32 bits count: twice as many still fit where runs keep them.
_MOST = (1 << 31) - 1

# What launches cost on virtual machines of 2024, good to a factor of some: these keep defaults bearable and let plans
# state their time. Forking with memory costs this much per byte where the pages are written again before each launch
# (1 GiB: 200 to 500 ms), and building the parent this much (1 GiB: 0.4 to 1.2 s).
_LAUNCH_NS_PER_BYTE = 0.3
_LAUNCH_NS = 200_000
_BUILD_NS_PER_BYTE = 0.7
# Pages that fork copies no entries for, or few: less is copied, and writing them again faults in nothing.
_CHEAP_LAUNCH_NS_PER_BYTE = 0.05
_CHEAP_KINDS = ("thp", "hugetlb", "shared", "file_shared", "file_shared_read", "file_private_read", "dontfork")
_PROGRAM_NS = 400_000
# Per thing of an axis: what a launch costs more, and what building it costs once.
_NS_PER_THING: Mapping[str, tuple[float, float]] = {
    "vmas": (1_500.0, 3_000.0),
    "open_files": (30.0, 1_500.0),
    "parent_threads": (0.0, 40_000.0),
    "child_bytes": (0.3, 0.0),
    "copy_bytes": (0.3, 1.0),
    "written_bytes": (0.6, 0.0),
    "zombies": (50_000.0, 0.0),
    "tasks": (300_000.0, 0.0),
    "ring_tasks": (10_000.0, 150_000.0),
    "working_set_bytes": (2.0, 2.0),
    "message_bytes": (6.0, 4.0),
    "launch_number": (0.0, 100_000.0),
}
# What another task takes to walk a byte, a line at a time, and to be seen asleep again.
_WALK_NS_PER_BYTE, _WALK_NS = 0.2, 300_000.0
# A written VMA has page tables of its own.
_TOUCHED_VMA = 5
_CLOSE_NS_PER_DESCRIPTOR = 100.0
# A worker, one trial division, one number that is written to a buffer, and one that is a write() of its own.
_WORKER_NS = 100_000.0
_DIVISION_NS = 2.5
_NUMBER_NS = 100.0
_WRITE_NS = 1_500.0
_START_NS = 15_000_000
_WARMUP_LIMIT_NS = 50_000_000

# What workers that contend are let go and watched for, and an incident of one that fails, with its replacement.
_WINDOW_LEAD_NS, _WINDOW_NS = 3e6, 5e6
_FAULT_NS, _LEAK_NS = 1e6, 15e6


def read_limits(table: Mapping[str, object]) -> dict[str, int]:
    """Check a table of limits of a plan file.

    Returns
    -------
    dict
        Fields of `Limits` that the table sets, in their units: ``block_limit_ms`` becomes ``block_limit_ns``.

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


def make_limits(overrides: Mapping[str, int], base: Limits | None = None) -> Limits:
    """Put what `read_limits` read over the base limits."""
    return replace(base or Limits(), **overrides)


def limits_conflict(first: Mapping[str, int], second: Mapping[str, int]) -> str | None:
    """Name a limit that two entries set to different values, or None."""
    return next((field for field in sorted(first) if field in second and first[field] != second[field]), None)


def sparing(first: Limits, second: Limits) -> Limits:
    """Take the smaller of each limit, but the larger number of processes.

    Where targets fall together the block must suit the dearer one, and the interval the more demanding one.
    """
    limits = [limit for limit in (first.block_limit_ns, second.block_limit_ns) if limit]
    return Limits(
        processes=max(first.processes, second.processes),
        samples=min(first.samples, second.samples),
        blocks=min(first.blocks, second.blocks),
        warmup=min(first.warmup, second.warmup),
        block_limit_ns=min(limits, default=0),  # 0 is no limit
    )


def estimated_launch_ns(condition: Mapping[str, AxisValue]) -> float:
    """Guess what one launch lasts, from its condition alone; good to a factor of some."""
    launch_ns = _LAUNCH_NS + _launch_ns_per_byte(condition) * _number(condition, "parent_bytes")
    launch_ns += sum(_number(condition, axis) * costs[0] for axis, costs in _NS_PER_THING.items())
    if "program" in condition:
        launch_ns += _PROGRAM_NS
    if condition.get("vma_kind") == "touched":
        launch_ns += (_TOUCHED_VMA - 1) * _NS_PER_THING["vmas"][0] * _number(condition, "vmas")
    if condition.get("close_files") == "close":
        launch_ns += _CLOSE_NS_PER_DESCRIPTOR * _number(condition, "nofile")
    return launch_ns * max(1, _number(condition, "concurrency")) + _workers_ns(condition) + _cooling_ns(condition)


def _cooling_ns(condition: Mapping[str, AxisValue]) -> float:
    """What goes by before each launch until the caches are as they shall be; launchers idle all at once."""
    if condition.get("caches") == "idle":
        return float(_number(condition, "idle_ns"))
    if condition.get("caches") == "thrashed":
        return _WALK_NS + _WALK_NS_PER_BYTE * _number(condition, "thrash_bytes")
    return 0.0


def _workers_ns(condition: Mapping[str, AxisValue]) -> float:
    """Guess what workers take at their work, on two CPUs; 0 where there are none."""
    if "fault" in condition:
        return _LEAK_NS if condition["fault"] == "leak" else _FAULT_NS
    if "workers" in condition and "numbers" not in condition:
        return _WINDOW_LEAD_NS + _WINDOW_NS * max(1, _number(condition, "workers") // 2)
    if "numbers" not in condition:
        return 0.0
    numbers, workers = _number(condition, "numbers"), _number(condition, "workers")
    divisions = numbers**1.5 / 4 if condition.get("cutoff") == "sqrt" else numbers**2 / 10
    each_ns = _WORKER_NS + divisions * _DIVISION_NS + numbers * _NUMBER_NS
    if condition.get("writing") == "each_number":
        each_ns += numbers * _WRITE_NS
    return workers * each_ns / max(1, min(workers, 2))


def estimated_process_ns(condition: Mapping[str, AxisValue], limits: Limits) -> float:
    """Guess what one start of a driver lasts: building the parent, warm-up and blocks."""
    launch_ns = estimated_launch_ns(condition)
    block_ns: float = limits.samples * launch_ns
    if limits.block_limit_ns:
        block_ns = max(min(block_ns, limits.block_limit_ns), min(3, limits.samples) * launch_ns)
    warmup_ns = (limits.warmup + min(limits.warmup, 3) * (limits.blocks - 1)) * launch_ns
    return _START_NS + _build_ns(condition) + warmup_ns + limits.blocks * block_ns


def _launch_ns_per_byte(condition: Mapping[str, AxisValue]) -> float:
    if condition.get("page_kind") == "untouched":
        return 0.0
    if condition.get("page_kind") in _CHEAP_KINDS or condition.get("pages") == "clean":
        return _CHEAP_LAUNCH_NS_PER_BYTE
    return _LAUNCH_NS_PER_BYTE + (_BUILD_NS_PER_BYTE if condition.get("pages") == "first" else 0.0)


def _build_ns(condition: Mapping[str, AxisValue]) -> float:
    per_byte = 0.0 if condition.get("page_kind") == "untouched" else _BUILD_NS_PER_BYTE
    things_ns = sum(_number(condition, axis) * costs[1] for axis, costs in _NS_PER_THING.items())
    walked = _number(condition, "thrash_bytes") if condition.get("caches") == "thrashed" else 0
    return per_byte * _number(condition, "parent_bytes") + _BUILD_NS_PER_BYTE * walked + things_ns


def limits_for(condition: Mapping[str, AxisValue], base: Limits | None = None) -> Limits:
    """Ease limits for a condition that makes each launch dear: less warm-up, fewer blocks.

    A plan file says its limits itself; this is for what is asked for on the command line.

    Examples
    --------
    >>> limits_for({"parent_bytes": 1 << 30}).warmup, limits_for({"parent_bytes": 0}).warmup
    (1, 20)
    """
    base = base or Limits()
    launch_ns = estimated_launch_ns(condition)
    warmup = min(base.warmup, max(1, int(_WARMUP_LIMIT_NS / launch_ns)))
    dear = launch_ns * 3 > base.block_limit_ns > 0
    return replace(base, warmup=warmup, blocks=1 if dear else base.blocks)


def _number(condition: Mapping[str, AxisValue], axis: str) -> int:
    value = condition.get(axis, 0)
    return value if isinstance(value, int) else 0
