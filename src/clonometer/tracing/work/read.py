"""Executions of work.factor in a trace: when each was, who worked, and what the workers themselves recorded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from clonometer.answers import Block, Trace
from clonometer.tracing.launches import whole_number
from clonometer.tracing.memory import SHARED, areas_of
from clonometer.tracing.partition import read_events
from clonometer.tracing.work.life import Lives, live

_RECORDED = {
    "worker_begins_ns": "begins_ns",
    "worker_ends_ns": "ends_ns",
    "worker_cpu_ns": "cpu_ns",
    "run_queue_wait_ns": "run_queue_ns",
    "voluntary_switches": "sleeps",
    "involuntary_switches": "preemptions",
    "minor_faults": "faults",
    "migrations": "migrations",
}


@dataclass(frozen=True)
class Execution:
    """One execution as the workers recorded it.

    It began at ``begin_ns`` on the events' clock. ``rows`` are what each worker recorded, None where the kernel does
    not tell; ``frequency_hz`` is the mean effective frequency of the CPUs used, after its block, None where it was
    not measured.
    """

    begin_ns: int
    whole_ns: int
    rows: tuple[Mapping[str, int | None], ...]
    frequency_hz: float | None


def executions(trace: Trace) -> Iterator[Execution]:
    """Every execution of a trace that no worker failed in, in the order of time."""
    for block in trace.blocks:
        begin_ns = trace.event_time_ns(int(block.facts["start_ticks"]))
        columns = block.columns
        firsts = [row for row, worker in enumerate(columns["worker"].tolist()) if worker == 0]
        for row, last in pairwise([*firsts, len(columns["worker"])]):
            whole_ns = whole_number(columns, "whole_ns", row)
            if any(columns["errno"][row:last]) or whole_ns is None:
                continue
            yield Execution(
                begin_ns + int(columns["start_ns"][row]),
                whole_ns,
                tuple(
                    {name: whole_number(columns, column, worker) for column, name in _RECORDED.items()}
                    for worker in range(row, last)
                ),
                frequency(block),
            )


def frequency(block: Block) -> float | None:
    """Mean effective frequency of the CPUs that a block used, in Hz."""
    frequencies_hz = [float(mhz) * 1e6 for mhz in (block.facts.get("effective_mhz") or {}).values() if mhz]
    return sum(frequencies_hz) / len(frequencies_hz) if frequencies_hz else None


def follow(trace: Trace) -> Iterator[tuple[Execution, Lives | None]]:
    """Follow the tasks of every execution of a trace: their lives, or None where not all of them were seen.

    An execution's workers are the last tasks that the program made until its end, in the order of their launch.
    """
    times = trace.events["time_ns"]
    new_task = trace.kinds.index("new_task")
    before_ns = int(times[0]) if times.size else 0
    for execution in executions(trace):
        first = int(times.searchsorted(before_ns, "left"))
        last = int(times.searchsorted(execution.begin_ns + execution.whole_ns, "right"))
        rows = trace.events[first:last]
        made = rows[(rows["kind"] == new_task) & (rows["task"] == trace.task)]["values"][:, 0].tolist()
        workers = [int(task) for task in made[-len(execution.rows) :]]
        whole = len(workers) == len(execution.rows)
        events = list(read_events(trace, rows, execution.begin_ns)) if whole else []
        yield execution, live(events, execution.whole_ns, trace.task, workers) if whole else None
        before_ns = execution.begin_ns + execution.whole_ns


def parts_recorded(execution: Execution) -> dict[str, float]:
    """Take an execution apart by what its workers recorded alone; means over them, whose sum is ``whole_ns``.

    What a worker was neither on a CPU nor ready for is put down to the time before its first stamp, as far as that
    goes, and else to being blocked; where CPU time and waiting are more than there was, ``unexplained`` is negative.
    """
    sums = dict.fromkeys(("not_begun", "on_cpu", "run_queue", "blocked", "ended", "unexplained"), 0.0)
    for row in execution.rows:
        cpu, waits = row["cpu_ns"] or 0, row["run_queue_ns"] or 0
        ended = max(0, execution.whole_ns - (row["ends_ns"] or 0))
        rest = execution.whole_ns - cpu - waits - ended
        before = min(max(rest, 0), row["begins_ns"] or 0)
        parts = {"not_begun": before, "on_cpu": cpu, "run_queue": waits, "ended": ended}
        parts["blocked" if rest >= 0 else "unexplained"] = rest - before
        for name, lasts in parts.items():
            sums[name] += lasts / len(execution.rows)
    return sums


def counts_recorded(execution: Execution) -> dict[str, float]:
    """Mean number of what the workers counted themselves."""
    names = ("preemptions", "sleeps", "faults", "migrations")
    return {name: sum(row[name] or 0 for row in execution.rows) / len(execution.rows) for name in names}


def futex_place(maps: str, address: int) -> str:
    """Say where a futex lies, from ``/proc/PID/maps``.

    It is ``heap`` (there streams lie, and the lock of each), ``program`` (the library's own locks, that of its first
    heap among them), ``shared`` (between processes), ``stack`` or ``other``.
    """
    areas = areas_of(maps)
    at = bisect_right(areas, address, key=lambda area: area.start) - 1
    if at < 0 or address >= areas[at].end:
        return "other"
    area = areas[at]
    if area.kind == SHARED:
        return "shared"
    if area.name in ("[heap]", "[stack]"):
        return area.name.strip("[]")
    # What a program has no bytes for in its file lies behind those that it has.
    behind_file = at > 0 and areas[at - 1].end == area.start and areas[at - 1].name.startswith("/")
    return "program" if area.name.startswith("/") or (not area.name and behind_file) else "other"
