"""Programs of workers made by hand: traces of executions with chosen durations, and a tracer that hands them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from clonometer.tracing.work.measure import WorkWish, explain_work, work_sides
from clonometer.tracing.work.types import WorkExplanation
from tests.catalogue import CATALOGUE
from tests.fakes.fake_trace import ASLEEP, CALLS, PARENT, ZOMBIE, FakeTrace, events_array

WRITE = 1
LOCK = 0x500010
NULL = -(2**63)


def execution_events(begin: int, workers: int, each: int, blocked: int) -> list[tuple[int, int, str, tuple[int, ...]]]:
    """One worker after the other on one CPU: ``each`` in user code, then ``blocked`` in futex, 10 in exit."""
    events: list[tuple[int, int, str, tuple[int, ...]]] = []
    at = begin
    for worker in range(workers):
        task = begin + worker
        events += [
            (at, PARENT, "new_task", (task, 0)),
            (at, PARENT, "wake_new", (task, 0)),
            (at, PARENT, "switch", (PARENT, ASLEEP, task)),
            (at, task, "call_exit", (-1, 0)),
            *(_sleep(at + each, task, blocked) if blocked else []),
            (at + each + blocked, task, "call_enter", (231, 0)),
            (at + each + blocked + 10, task, "switch", (task, ZOMBIE, PARENT)),
        ]
        at += each + blocked + 10
    return events


def _sleep(at: int, task: int, lasts: int) -> list[tuple[int, int, str, tuple[int, ...]]]:
    return [
        (at, task, "call_enter", (202, 0)),
        (at, task, "futex", (LOCK, 128, 2)),
        (at, task, "switch", (task, ASLEEP, 0)),
        (at + lasts, 0, "wake", (task, 0)),
        (at + lasts, 0, "switch", (0, 0, task)),
        (at + lasts, task, "call_exit", (-1, 0)),
    ]


def work_block(wholes: Sequence[int], starts: Sequence[int], workers: int, *, errno: int = 0, mhz: float = 3000) -> Any:
    """A block of executions, with what the workers recorded."""
    rows = len(wholes) * workers
    first = [row % workers == 0 for row in range(rows)]
    whole = [wholes[row // workers] if first[row] else NULL for row in range(rows)]
    each = [wholes[row // workers] // workers for row in range(rows)]
    return SimpleNamespace(
        columns={
            "start_ns": np.repeat(np.array(starts, np.int64), workers),
            "execution": np.repeat(np.arange(len(wholes)), workers),
            "worker": np.tile(np.arange(workers), len(wholes)),
            "whole_ns": np.array(whole, np.int64),
            "worker_begins_ns": np.full(rows, 5, np.int64),
            "worker_ends_ns": np.array([wholes[row // workers] - 20 for row in range(rows)], np.int64),
            "worker_cpu_ns": np.array(each, np.int64),
            "run_queue_wait_ns": np.full(rows, 30, np.int64),
            "voluntary_switches": np.full(rows, 2, np.int64),
            "involuntary_switches": np.full(rows, 1, np.int64),
            "minor_faults": np.full(rows, 4, np.int64),
            "migrations": np.full(rows, 0, np.int64),
            "errno": np.full(rows, errno, np.int32),
        },
        facts={"start_ticks": 0, "effective_mhz": {"0": mhz}},
        temperature=None,
    )


def work_trace(how: str, *, workers: int, each: int, blocked: int, executions: int = 4, **others: Any) -> FakeTrace:
    """A trace of executions of which each lasts ``workers * (each + blocked + 10)``."""
    whole = workers * (each + blocked + 10)
    starts = [1000 + number * 10 * whole for number in range(executions)]
    events = [event for start in starts for event in execution_events(start, workers, each, blocked)]
    return FakeTrace(
        how=how,
        events=events_array(events if how != "none" else []),
        blocks=(work_block([whole] * executions, starts, workers),),
        calls={**CALLS, WRITE: "write"},
        **others,
    )


@dataclass
class FakeWorkTracer:
    """Hands out threads that block, and processes that do not; ``refuse`` names ways that are not permitted."""

    refuse: tuple[str, ...] = ()
    workers: int = 2
    blocked: int = 100
    others: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    grown: int = 0

    def trace(self, target: Any, how: str, events: Sequence[str] = (), *, period_ns: int = 0) -> FakeTrace:
        """One start."""
        side = str(target.condition["task_kind"])
        self.asked.append((side, how))
        each = 1000 + 10 * (len(self.asked) % 3)
        blocked = self.blocked if side == "thread" else 0
        if how in self.refuse:
            return FakeTrace(how=how, events=events_array([]), blocks=(), refused=f"{how} is not permitted")
        return work_trace(how, workers=self.workers, each=each, blocked=blocked, **self.others)


def explained(tracer: FakeWorkTracer | None = None, *, cpus: int = 1, **wish: Any) -> WorkExplanation:
    """Two workers, explained."""
    sides = work_sides(["workers=2", "numbers=100"], CATALOGUE)
    return explain_work(tracer or FakeWorkTracer(), sides, WorkWish(**{"pairs": 6, **wish}), cpus=cpus)
