"""A census as Chrome trace events, the JSON that Perfetto and ``chrome://tracing`` open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonometer.tracing.census.call_sites import CallSites
from clonometer.tracing.census.timeline import TaskLife, TaskLives, parents, processes
from clonometer.views.creation_tree import MadeAt, task_label
from clonometer.views.terminal.text import clean

_MOST_FRAMES = 8


def census_events(timeline: TaskLives, sites: CallSites, wall_ns: int, name: str) -> dict[str, Any]:
    """Write a census: a track for each task, within its process; times in microseconds.

    The object form of the format. On a task's track: its creation until it runs, its time before its program, the
    program until its end. On its creator's: the call that created it, with the call site, and an arrow to the task.
    """
    tasks = timeline.tasks()
    of = processes(tasks, parents(tasks))
    process_of: dict[int, int] = {task.tid: process for task, process in zip(tasks, of, strict=True)}
    places = MadeAt(sites)
    events: list[dict[str, Any]] = list(_names(tasks, of, process_of))
    for number, (task, process) in enumerate(zip(tasks, of, strict=True)):
        events += _life(task, process, wall_ns, places)
        creator = process_of.get(task.creator, task.creator)
        events += _creation(task, process, creator, number, places)
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"source": "clonometer census", "of": name, "tasks_left_out": timeline.dropped},
    }


def _names(tasks: Sequence[TaskLife], of: Sequence[int], process_of: dict[int, int]) -> Iterator[dict[str, Any]]:
    """What tracks are called; creators that were there before the census are named by what they ran."""
    titles: dict[tuple[str, int, int], str] = {}
    for task in tasks:
        creator = process_of.get(task.creator, task.creator)
        titles.setdefault(("process_name", creator, creator), clean(task.creator_program or "?"))
    for task, process in zip(tasks, of, strict=True):
        titles["thread_name", process, task.tid] = task_label(task)
        if not task.is_thread:
            titles["process_name", process, process] = clean(task.program or task.creator_program or "?")
    for (what, process, task_number), title in titles.items():
        yield {"name": what, "ph": "M", "ts": 0, "pid": process, "tid": task_number, "args": {"name": title}}


def _arguments(task: TaskLife, places: MadeAt) -> dict[str, Any]:
    site = places.of(task)
    return {
        "created_at": None if site.where is None else site.where.place,
        "api": site.api,
        "mechanism": task.mechanism,
        "creator": task.creator_program,
        "program": task.program if task.executed else None,
        "cost_us": task.cost_ns / 1000,
    }


def _life(task: TaskLife, process: int, wall_ns: int, places: MadeAt) -> Iterator[dict[str, Any]]:
    end_ns = wall_ns if task.end_ns is None else task.end_ns
    runs_ns = min(task.start_ns if task.runs_at_ns is None else task.runs_at_ns, end_ns)
    exec_ns = task.exec_at_ns
    track = (process, task.tid)
    yield _slice("being created", "creation", track, task.start_ns, runs_ns, **_arguments(task, places))
    if exec_ns is not None:
        yield _slice("before its program", "before exec", track, runs_ns, exec_ns)
    begin_ns = runs_ns if exec_ns is None else exec_ns
    yield _slice(task_label(task), "life", track, begin_ns, end_ns, ran_on=task.end_ns is None)


def _creation(task: TaskLife, process: int, creator: int, number: int, places: MadeAt) -> Iterator[dict[str, Any]]:
    """The call on the creator's track, and the arrow from it."""
    if task.making_ns is None:
        return
    end_ns = task.start_ns + task.making_ns
    title = f"creates {task_label(task)}"
    stack = [f"{frame.name or '?'} ({frame.place})" for frame in places.of(task).frames[:_MOST_FRAMES]]
    yield _slice(title, "call", (creator, task.creator), task.start_ns, end_ns, **_arguments(task, places), stack=stack)
    arrow = {"name": "created", "cat": "creation", "id": number}
    yield {**arrow, "ph": "s", "ts": task.start_ns / 1000, "pid": creator, "tid": task.creator}
    yield {**arrow, "ph": "f", "bp": "e", "ts": task.start_ns / 1000, "pid": process, "tid": task.tid}


def _slice(
    name: str, category: str, track: tuple[int, int], from_ns: int, to_ns: int, **arguments: Any
) -> dict[str, Any]:
    """A stretch of a track, which is a process and a task."""
    return {
        "name": clean(name),
        "cat": category,
        "ph": "X",
        "ts": from_ns / 1000,
        "dur": max(to_ns - from_ns, 0) / 1000,
        "pid": track[0],
        "tid": track[1],
        "args": arguments,
    }
