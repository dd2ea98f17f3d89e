"""Counters of the processor, read at every event and given to the parts and stages of launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.answers import Trace
from clonometer.families import END
from clonometer.tracing.actors import Cast
from clonometer.tracing.budget import central
from clonometer.tracing.partition import TracedLaunch, traced_launches
from clonometer.tracing.parts import ORDER, USER_PARTS
from clonometer.tracing.types import Counters, Counts
from clonometer.words import STAGE_ORDER


@dataclass(frozen=True)
class Course:
    """How the counters of one CPU went on.

    Attributes
    ----------
    time_ns
        When they were read, shape (n,).
    total
        Counts since the first reading, scaled for the time in which they did not count; float64, shape (n, counters).
    enabled_ns, running_ns
        How long they were wanted, and how long they did count.
    """

    time_ns: NDArray[np.int64]
    total: NDArray[np.float64]
    enabled_ns: int
    running_ns: int

    def between(self, start_ns: int, end_ns: int) -> NDArray[np.float64]:
        """Counts of a span; between two readings they are taken to grow evenly."""
        ends = np.array([start_ns, end_ns], np.float64)
        times = self.time_ns.astype(np.float64)
        return np.array([np.diff(np.interp(ends, times, counts))[0] for counts in self.total.T])


def course(time_ns: NDArray[np.int64], readings: NDArray[np.int64]) -> Course:
    """Add up what a CPU's counters did between their readings.

    Parameters
    ----------
    time_ns
        When they were read, rising.
    readings
        int64, shape (n, 2 + counters): ns enabled, ns running, and the counters' values, as the kernel gives them:
        unsigned 64-bit numbers, which may go over their end.

    Returns
    -------
    Course
        A count between two readings is its difference, times the time enabled over the time running, as the kernel's
        own tools scale it (perf_event_open(2)); where it did not run at all between them, it is 0 and the missing time
        shows in ``running_ns``.

    Examples
    --------
    >>> wrapped = np.array([[0, 0, -1], [10, 5, 2]])
    >>> course(np.array([0, 10]), wrapped).total.tolist()
    [[0.0], [6.0]]
    """
    # Differences of unsigned numbers are right even where one has gone over its end.
    steps = np.diff(readings.view(np.uint64) if readings.dtype == np.int64 else readings.astype(np.uint64), axis=0)
    enabled, running = steps[:, 0].astype(np.float64), steps[:, 1].astype(np.float64)
    scale = np.divide(enabled, running, out=np.zeros_like(enabled), where=running > 0)
    # Both times at rest: nothing was scheduled out between two readings of the same moment.
    scale[(enabled == 0) & (running == 0)] = 1.0
    grown = steps[:, 2:].astype(np.float64) * scale[:, None]
    total = np.vstack([np.zeros((1, grown.shape[1])), np.cumsum(grown, axis=0)])
    return Course(time_ns, total, int(enabled.sum()), int(running.sum()))


def courses(trace: Trace) -> dict[int, Course]:
    """The course of each CPU's counters over a trace."""
    if "counts" not in trace.kinds:
        return {}
    rows = trace.events[trace.events["kind"] == trace.kinds.index("counts")]
    by_cpu = {}
    for cpu in np.unique(rows["cpu"]).tolist():
        of_cpu = rows[rows["cpu"] == cpu]
        values = np.ascontiguousarray(of_cpu["values"][:, : 2 + len(trace.counters)])
        by_cpu[int(cpu)] = course(of_cpu["time_ns"].astype(np.int64), values)
    return by_cpu


def counters_of(wanted: str, traces: Sequence[Trace]) -> Counters:
    """Give the counts of traced launches to their parts and stages, in means over the central band of each process.

    Where an ordinary user's perf sees the parent alone (tier ``own``) it is the parent's own page faults and switches.
    """
    sums: dict[tuple[str, str], NDArray[np.float64]] = {}
    launches, enabled_ns, running_ns = 0, 0, 0
    for trace in traces:
        by_cpu = courses(trace)
        for launch in central(list(traced_launches(trace))):
            launches += 1
            counted = _of_parent(launch) if trace.how == "own" else _of_launch(launch, by_cpu)
            for key, values in counted:
                sums[key] = sums.get(key, 0.0) + values
        enabled_ns += sum(each.enabled_ns for each in by_cpu.values())
        running_ns += sum(each.running_ns for each in by_cpu.values())
    parent_alone = traces[0].how == "own"
    if not parent_alone and not running_ns:
        # Sums of what never counted are 0, and no counts.
        return Counters(set=wanted, reason=_NEVER_COUNTED, missing=dict(traces[0].counters_refused))
    return Counters(
        set=wanted,
        missing=_OWN_MISSING if parent_alone else dict(traces[0].counters_refused),
        launches=launches,
        running=running_ns / enabled_ns if enabled_ns else 1.0,
        rows=tuple(_rows(_OWN_NAMES if parent_alone else traces[0].counters, sums, max(1, launches))),
    )


_NEVER_COUNTED = "they never counted while it was traced: something else had all of the processor's counters"

#: What an ordinary user's perf tells as events, which can be counted; the rest of the software set is not told.
_OWN_NAMES = ("page_faults", "context_switches", "major_faults")
_OWN_COUNTS = {"minor_fault": (1, 0, 0), "major_fault": (1, 0, 1), "switched_out": (0, 1, 0)}
_OWN_MISSING = dict.fromkeys(
    ("cpu_clock_ns", "cpu_migrations"),
    "for an ordinary user, counters cannot be read at events; only faults and switches are events themselves",
)


def _of_parent(traced: TracedLaunch) -> Iterator[tuple[tuple[str, str], NDArray[np.float64]]]:
    """The parent's own faults and switches: not those that the kernel has on its behalf, nor what the child does."""
    for segment in traced.segments:
        events = [event for event in traced.events if segment.start_ns <= event.time_ns < segment.end_ns]
        counts = np.array([_OWN_COUNTS.get(event.kind, (0, 0, 0)) for event in events], np.float64)
        for key in (("part", segment.part), ("all", "all")):
            yield key, counts.reshape(-1, len(_OWN_NAMES)).sum(axis=0)


def _rows(names: Sequence[str], sums: Mapping[tuple[str, str], Any], launches: int) -> Iterator[Counts]:
    order = [("part", part) for part in ORDER] + [("stage", stage) for stage in STAGE_ORDER]
    order += [("mode", "user"), ("mode", "kernel"), ("all", "all")]
    for kind, name in order:
        if (kind, name) in sums:
            means = [float(value) / launches for value in sums[kind, name]]
            values = dict(zip(names, means, strict=True))
            yield Counts(kind, name, values, _ipc(values))


def _ipc(values: Mapping[str, float]) -> float | None:
    cycles, instructions = values.get("cycles"), values.get("instructions")
    return instructions / cycles if cycles and instructions is not None else None


def _of_launch(
    traced: TracedLaunch, by_cpu: Mapping[int, Course]
) -> Iterator[tuple[tuple[str, str], NDArray[np.float64]]]:
    """Counts of each piece of a launch, once for its part, its mode, all, and every stage that it lies before."""
    begin_ns = traced.launch.start_ns
    stages = {**traced.launch.stages, END: traced.launch.reaped_ns}
    for start_ns, end_ns, part, cpu in pieces(traced):
        if cpu not in by_cpu:
            continue
        counts = by_cpu[cpu].between(begin_ns + start_ns, begin_ns + end_ns)
        yield ("part", part), counts
        yield ("mode", "user" if part in USER_PARTS else "kernel"), counts
        yield ("all", "all"), counts
        for stage, at_ns in stages.items():
            if end_ns <= at_ns:
                yield ("stage", stage), counts
            elif start_ns < at_ns:
                yield ("stage", stage), by_cpu[cpu].between(begin_ns + start_ns, begin_ns + at_ns)


def pieces(traced: TracedLaunch) -> Iterator[tuple[int, int, str, int]]:
    """The pieces of a launch in which one of its tasks is at work: start, end, part, and the CPU that it is on.

    The CPU of a task is that of its last event, or of the switch that brought it there. Before its first event the
    parent is where that event finds it: it cannot have moved without a switch.
    """
    cast = Cast.at_the_start(traced.parent, traced.memory, traced.threads)
    cast.parent.cpu = next((event.cpu for event in traced.events if event.task == traced.parent), None)
    for start_ns, end_ns in cast.between(traced.events, traced.launch.reaped_ns):
        worker = cast.at_work()
        if worker is not None and worker.cpu is not None:
            yield start_ns, end_ns, str(cast.part()), worker.cpu
