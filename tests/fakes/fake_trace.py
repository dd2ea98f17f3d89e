"""Traces made by hand: a probe, a child, and events at chosen moments; and a tracer that hands them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from clonometer.protocol.trace import EVENT_FIELDS

PARENT, CHILD = 100, 101
KINDS = (
    "call_enter",
    "call_exit",
    "new_task",
    "wake",
    "wake_new",
    "switch",
    "fault_user",
    "fault_kernel",
    "exec",
    "exit",
    "minor_fault",
    "major_fault",
    "sample",
    "switched_out",
    "switched_in",
    "futex",
    "lock_wanted",
    "lock_got",
    "memory",
    "faults_left_out",
    "counts",
    "mark",
)
CALLS = {56: "clone", 61: "wait4", 231: "exit_group", 202: "futex", 59: "execve", 14: "rt_sigprocmask"}
NUMBERS = {name: number for number, name in CALLS.items()}
MAPS = """\
00400000-00500000 r-xp 00000000 fe:00 12 /opt/probe
00500000-00600000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 ---p 00000000 00:00 0
7f0000001000-7f0000100000 rw-p 00000000 00:00 0
7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0 [stack]
"""
ASLEEP, ZOMBIE, READY = 1, 0x20, 0

# A fork of 100 ns on one CPU: who, when, kind, values.
FORK: list[tuple[int, int, str, tuple[int, ...]]] = [
    (5, PARENT, "call_enter", (56, 0)),
    (20, PARENT, "new_task", (CHILD, 0x1200000)),
    (22, PARENT, "wake_new", (CHILD, 1)),
    (25, PARENT, "call_exit", (-1, CHILD)),
    (27, PARENT, "fault_user", (0x7FFC00000010, 0, 7)),
    (30, PARENT, "minor_fault", (0x7FFC00000010,)),
    (33, PARENT, "call_enter", (61, CHILD)),
    (37, PARENT, "switch", (PARENT, ASLEEP, CHILD)),
    (40, CHILD, "call_exit", (-1, 0)),
    (45, CHILD, "fault_user", (0x401000, 0, 20)),
    (50, CHILD, "minor_fault", (0x401000,)),
    (55, CHILD, "call_enter", (231, 0)),
    (60, CHILD, "exit", (CHILD,)),
    (80, CHILD, "wake", (PARENT, 1)),
    (88, CHILD, "switch", (CHILD, ZOMBIE, PARENT)),
    (95, PARENT, "call_exit", (-1, CHILD)),
]
FORK_PARTS = {
    "parent_user": 5 + 2 + 3 + 5,
    "launch_call": 20,
    "parent_faults": 3,
    "wait_begins": 4,
    "child_starts": 3,
    "child_user": 5 + 5,
    "child_file": 5,
    "child_exit": 33,
    "reaping": 7,
}


@dataclass(frozen=True)
class FakeTrace:
    """A trace with the members that explaining needs; its clock and the probe's are the same."""

    how: str
    events: Any
    blocks: Sequence[Any]
    refused: str | None = None
    task: int = PARENT
    lost: int = 0
    whole: tuple[int | None, int | None] = (None, None)
    kinds: tuple[str, ...] = KINDS
    texts: bytes = b"/bin/true"
    stacks: Any = field(default_factory=lambda: np.zeros(0, np.uint64))
    maps: str = MAPS
    calls: Mapping[int, str] = field(default_factory=lambda: CALLS)
    counters: Sequence[str] = ()
    counters_refused: Mapping[str, str] = field(default_factory=dict)
    windows: Sequence[tuple[int, int, bool]] = ()

    def event_time_ns(self, ticks: int) -> int:
        """The same."""
        return ticks


def events_array(events: Sequence[tuple[int, int, str, tuple[int, ...]]]) -> Any:
    """Events as the tracer sends them."""
    rows = [
        (when, task, task, task, 1, KINDS.index(kind), (*values, *[0] * (7 - len(values))))
        for when, task, kind, values in events
    ]
    return np.array(rows, dtype=np.dtype(list(EVENT_FIELDS)))


def launches_block(
    starts: Sequence[int], reaped: Sequence[int], began: int = 1000, *, wall_ns: int = 10**9, **columns: Sequence[int]
) -> Any:
    """A block of launches, whose call returns after 26 and whose task runs after 52; by default too long for turns."""
    n = len(starts)
    return SimpleNamespace(
        columns={
            "start_ns": np.array(starts, np.int64),
            "call_returns_ns": np.full(n, 26, np.int64),
            "task_runs_ns": np.full(n, 52, np.int64),
            "image_runs_ns": np.full(n, -(2**63), np.int64),
            "reaped_ns": np.array(reaped, np.int64),
            "errno": np.zeros(n, np.int32),
            **{name: np.array(values) for name, values in columns.items()},
        },
        facts={"start_ticks": began, "wall_ns": wall_ns},
        temperature="warm",
    )


def fork_trace(how: str = "fast", launches: int = 3, **changed: Any) -> FakeTrace:
    """Launches of 100 ns, one every 1000 ns; ``changed`` replaces members."""
    starts = [1000 * number for number in range(launches)]
    events = [(1000 + start + when, task, kind, values) for start in starts for when, task, kind, values in FORK]
    given: dict[str, Any] = {
        "events": events_array(events if how not in ("none", "own") else []),
        "blocks": (launches_block(starts, [100] * launches),),
        **changed,
    }
    return FakeTrace(how, **given)


@dataclass
class FakeTracer:
    """Hands out traces by how they are asked for; remembers what was asked."""

    traces: Mapping[str, Any]
    grown: int = 0
    asked: list[str] = field(default_factory=list)
    events: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def trace(
        self,
        target: Any,
        how: str,
        events: Sequence[str] = (),
        *,
        period_ns: int = 1,
        counters: str | None = None,
        window_ns: int | None = None,
        fault_run: int | None = None,
    ) -> Any:
        """Hand out the trace for ``how``; one that is missing was refused."""
        how = f"{how} with {counters} counters" if counters is not None else how
        how = f"{how} in turns" if window_ns is not None else how
        self.asked.append(how)
        self.events.append((how, tuple(events)))
        return self.traces.get(how) or FakeTrace(how, events_array([]), (), refused=f"no {how} here")
