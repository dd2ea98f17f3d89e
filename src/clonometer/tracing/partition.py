"""A traced launch, cut into parts that sum exactly to its duration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.answers import Trace
from clonometer.families import CALL, END, stages
from clonometer.tracing.actors import MARK, STAMP, SWITCH, WAKES, Cast, Event
from clonometer.tracing.flags import THREAD
from clonometer.tracing.launches import Launch, launches_of
from clonometer.tracing.memory import Memory
from clonometer.tracing.parts import FOREIGN, HELPER, LOADER, PROGRAM_PARTS, UNEXPLAINED
from clonometer.tracing.types import Segment


@dataclass(frozen=True)
class TracedLaunch:
    """A launch with what the kernel told of it.

    ``events`` are those between its ends; their times are from its start. ``segments`` follow one another without a
    gap from 0 to ``launch.reaped_ns``. ``parent`` (the thread that called) and ``children`` are tasks as the kernel
    numbers them, ``threads`` those of the parent's process; ``memory`` is its memory.
    """

    launch: Launch
    events: tuple[Event, ...]
    segments: tuple[Segment, ...]
    children: tuple[int, ...]
    parent: int
    memory: Memory
    threads: frozenset[int] = frozenset()

    @property
    def names(self) -> dict[int, str]:
        """What its tasks are called, by their numbers."""
        children = {
            child: f"child {number}" if number > 1 else "child" for number, child in enumerate(self.children, 1)
        }
        return {**dict.fromkeys(self.threads, "another thread"), self.parent: "parent", **children}

    def totals(self) -> dict[str, int]:
        """How many ns each part took; their sum is ``launch.reaped_ns``."""
        sums: Counter[str] = Counter()
        for segment in self.segments:
            sums[segment.part] += segment.end_ns - segment.start_ns
        return sums


def partition(events: Sequence[Event], reaped_ns: int, cast: Cast) -> tuple[Segment, ...]:
    """Cut a launch at its events.

    Segments follow one another without gaps from 0 to ``reaped_ns``; neighbours have different parts.

    Events are in the order of time, in ns from the launch's start, and all within it; the cast has its tasks as they
    are then, and is moved on.
    """
    segments: list[Segment] = []
    for start_ns, end_ns in cast.between(events, reaped_ns):
        _go_on(segments, start_ns, end_ns, cast.part() or UNEXPLAINED)
    return tuple(segments)


def _go_on(segments: list[Segment], start_ns: int, end_ns: int, part: str) -> None:
    """Lengthen the last segment where it has the same part, else begin another."""
    if segments and segments[-1].part == part:
        segments[-1] = Segment(segments[-1].start_ns, end_ns, part)
    else:
        segments.append(Segment(start_ns, end_ns, part))


# A stage that is not here cuts nothing: its time belongs to the part of the next one.
_UNTIL = {name: stage.ends_part for name, stage in stages().items() if stage.ends_part}


def partition_by_stamps(launch: Launch) -> tuple[Segment, ...]:
    """Cut a launch at its own stamps, where nothing else is known of it."""
    stamps = sorted((at, name) for name, at in launch.stages.items() if name in _UNTIL and 0 <= at <= launch.reaped_ns)
    ends = [(at, _UNTIL[name]) for at, name in [*stamps, (launch.reaped_ns, END)]]
    segments: list[Segment] = []
    for (before, _), (at, part) in pairwise([(0, ""), *ends]):
        if at > before:
            _go_on(segments, before, at, part)
    return tuple(segments)


def partition_by_switches(launch: Launch, away: Sequence[tuple[int, int]]) -> tuple[Segment, ...]:
    """Cut a launch at its stamps and at the parent's own switches."""
    cuts = {0, launch.reaped_ns}
    cuts |= {at for at in launch.stages.values() if 0 < at < launch.reaped_ns}
    cuts |= {at for pair in away for at in pair if 0 < at < launch.reaped_ns}
    ordered = sorted(cuts)
    returns = launch.stages.get(CALL, launch.reaped_ns)
    of_child = _UNTIL.keys() - {CALL}
    child_stamps = sorted((at, name) for name, at in launch.stages.items() if name in of_child)
    segments: list[Segment] = []
    for start, end in pairwise(ordered):
        if any(left <= start and end <= right for left, right in away):
            # The first stamp of the child that is still to come names what it was doing; after the last nothing does.
            part = next((_UNTIL[name] for at, name in child_stamps if end <= at), "away")
        else:
            returned = any(right <= start for _, right in away) and start >= returns
            part = "until_returned" if end <= returns else "reaping" if returned else "wait_begins"
        _go_on(segments, start, end, part)
    return tuple(segments)


#: A parent that writes to all its memory between its launches would fill the room for events. No more than these are
#: noted of page faults at neighbouring addresses, one after the other: 2 MiB of pages, each with the beginning of its
#: fault and the end. A launch in which a run is longer is not whole.
FAULT_RUN = 1024
#: So many events before a launch are looked through for the thread that begins it.
_LOOKED_BACK = 200
_NEVER = 2**63
_TELLS_NO_TASKS = ("own", "none")
#: What tells of the CPUs, whoever leaves them and comes, and what is no task's.
_OF_ANYBODY = WAKES | {SWITCH, STAMP}


def _is_whole(trace: Trace, launch: Launch) -> bool:
    """Whether there was room for every event while it lasted, and all of its page faults were noted.

    And whether its task was seen to be made: where the machine stood still for a while, as a virtual one may, the
    probe's clock and that of the events part, and the events of a launch lie somewhere else.
    """
    from_ns, to_ns = trace.whole
    if (from_ns is not None and launch.start_ns < from_ns) or (to_ns is not None and launch.end_ns > to_ns):
        return False
    if trace.how in _TELLS_NO_TASKS:
        return True
    kinds = _kinds_within(trace, launch)
    return "new_task" in kinds and "faults_left_out" not in kinds


def _kinds_within(trace: Trace, launch: Launch) -> set[str]:
    first, last = trace.events["time_ns"].searchsorted([launch.start_ns, launch.end_ns])
    return {trace.kinds[kind] for kind in np.unique(trace.events["kind"][first:last])}


def creates_no_task(trace: Trace) -> bool:
    """Whether none of a trace's launches was seen to make a task, though the kernel's events tell of them."""
    return trace.how not in _TELLS_NO_TASKS and not any(
        "new_task" in _kinds_within(trace, launch) for launch in launches_of(trace)
    )


def not_whole(trace: Trace) -> int:
    """How many of a trace's launches `traced_launches` leaves out; none of those that nobody listened to."""
    spans = [(begin, end) for begin, end, listened in trace.windows if listened]
    return sum(
        not _is_whole(trace, launch)
        for launch in launches_of(trace)
        if not trace.windows or any(begin <= launch.start_ns and launch.end_ns <= end for begin, end in spans)
    )


def traced_launches(trace: Trace, launches: Iterable[Launch] | None = None) -> Iterator[TracedLaunch]:
    """Launches of a trace, by default all, that were seen whole, with their events and parts, by what it can tell."""
    times = trace.events["time_ns"]
    memory = Memory(trace.maps)
    lives = _lives(trace)
    for launch in launches_of(trace) if launches is None else launches:
        if not _is_whole(trace, launch):
            continue
        if trace.how == "none":
            yield TracedLaunch(launch, (), partition_by_stamps(launch), (), trace.task, memory)
            continue
        first = int(times.searchsorted(launch.start_ns, "right"))
        last = int(times.searchsorted(launch.end_ns, "left"))
        events = tuple(read_events(trace, trace.events[first:last], launch.start_ns))
        if trace.how == "own":
            segments = partition_by_switches(launch, _away(events, launch.reaped_ns))
            yield TracedLaunch(launch, events, segments, (), trace.task, memory)
        else:
            events = with_stamps(events, launch)
            threads = frozenset(
                task for task, (begin, end) in lives.items() if begin < launch.start_ns and launch.start_ns < end
            )
            parent = _caller(trace, first, threads)
            cast = Cast.at_the_start(parent, memory, threads)
            segments = partition(events, launch.reaped_ns, cast)
            children = tuple(cast.children)
            # On a busy machine another program may get the number of a task that is gone.
            members = {parent, *children, *threads}
            events = tuple(event for event in events if event.kind in _OF_ANYBODY or event.task in members)
            yield TracedLaunch(launch, events, segments, children, parent, memory, threads)


def _lives(trace: Trace) -> dict[int, tuple[int, int]]:
    """When each thread of the traced process was seen to begin and to exit, the first one included, by its task."""
    kinds = [trace.kinds.index(kind) for kind in ("new_task", "exit") if kind in trace.kinds]
    lives = {trace.task: (0, _NEVER)}
    for event in trace.events[np.isin(trace.events["kind"], kinds)]:
        time_ns, task = int(event["time_ns"]), int(event["task"])
        made, flags = event["values"][:2].tolist()
        if task not in lives:
            continue
        if trace.kinds[event["kind"]] == "exit":
            lives[task] = lives[task][0], time_ns
        elif flags & THREAD:
            lives[made] = time_ns, _NEVER
    return lives


def _caller(trace: Trace, first: int, threads: frozenset[int]) -> int:
    """The thread that is at work as a launch begins, before its first event: who was seen last, and has not left."""
    gone: set[int] = set()
    for event in reversed(trace.events[max(0, first - _LOOKED_BACK) : first]):
        task, kind = int(event["task"]), trace.kinds[event["kind"]]
        if kind == SWITCH:
            gone.add(int(event["values"][0]))
            task = int(event["values"][2])
        if task in threads and task not in gone:
            return task
    return trace.task


def with_stamps(events: tuple[Event, ...], launch: Launch) -> tuple[Event, ...]:
    """Put the new program's stamps among the kernel's events: they tell its loader from its library and its main.

    What was executed before it is a helper.
    """
    execs = [event.time_ns for event in events if event.kind == "exec"]
    if not execs:
        return events
    *first_ns, exec_ns = execs
    marks = [(at, HELPER) for at in first_ns]
    if "image_runs" in launch.stages or any(event.kind == MARK for event in events):
        marks += [(exec_ns, LOADER)]
        marks += [(launch.stages[name], part) for name, part in PROGRAM_PARTS.items() if name in launch.stages]
    elif first_ns:
        marks += [(exec_ns, FOREIGN)]
    stamps = [Event(at, 0, -1, STAMP, (), part) for at, part in marks if execs[0] <= at < launch.reaped_ns]
    # Of one moment the kernel's events come first: sorting keeps their order.
    return tuple(sorted([*events, *stamps], key=lambda event: event.time_ns))


def _away(events: Sequence[Event], reaped_ns: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    left = None
    for event in events:
        if event.kind == "switched_out":
            left = event.time_ns
        elif event.kind == "switched_in" and left is not None:
            spans.append((left, event.time_ns))
            left = None
    return spans if left is None else [*spans, (left, reaped_ns)]


def read_events(trace: Trace, rows: NDArray[Any], start_ns: int) -> Iterator[Event]:
    """Events in words: times from ``start_ns``; calls and programs by name."""
    columns = [rows[name].tolist() for name in ("time_ns", "task", "cpu", "kind", "values")]
    for time_ns, task, cpu, number, values in zip(*columns, strict=True):
        kind = trace.kinds[number]
        text = ""
        if kind == "call_enter":
            text = trace.calls.get(values[0], f"call {values[0]}")
        elif kind == "exec":
            text = trace.texts[values[0] : values[0] + values[1]].decode("utf-8", "replace")
        elif kind == "memory":
            # Any bytes: Latin-1 gives them back as they are.
            text = trace.texts[values[0] : values[0] + values[1]].decode("latin-1")
        yield Event(time_ns - start_ns, task, cpu, kind, tuple(values), text)
