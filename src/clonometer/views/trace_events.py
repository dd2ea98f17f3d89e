"""Timelines as Chrome trace events, the JSON that Perfetto and ``chrome://tracing`` open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clonometer.tracing.parts import part_of
from clonometer.tracing.types import Segment, Timeline
from clonometer.tracing.work.types import AnyExplanation, WorkExplanation, WorkTimeline
from clonometer.views.explain_texts import TIMELINES

_THREADS = {"parent": 1, "child": 2, "both": 3}
_OTHERS = 9


def trace_events(explanation: AnyExplanation) -> dict[str, Any]:
    """Write the timelines of an explanation, times in microseconds.

    A launch is a process and a task in it a thread; of workers, one execution of each side is a process.

    The object form of the format: ``traceEvents``, ``displayTimeUnit`` and ``otherData``. Parts are complete events
    (``X``), the kernel's events and the stamps are instants (``i``), names come as metadata (``M``).
    """
    if isinstance(explanation, WorkExplanation):
        cells, tier = [explanation.condition], explanation.tier.name
        lanes = [
            _execution(process, side.cell, side.timeline)
            for process, side in enumerate((explanation.thread, explanation.process), 1)
            if side.timeline is not None
        ]
    else:
        cells, tier = [each.cell for each in explanation.mechanisms], explanation.mechanisms[0].tier.name
        launches = [(each.cell, timeline) for each in explanation.mechanisms for timeline in each.timelines]
        lanes = [
            _launch(process, f"{cell}: {TIMELINES[timeline.which]}", timeline)
            for process, (cell, timeline) in enumerate(launches, 1)
        ]
    return {
        "traceEvents": [event for lane in lanes for event in lane],
        "displayTimeUnit": "ns",
        "otherData": {"source": "clonometer explain", "cells": ", ".join(cells), "tier": tier},
    }


def _launch(process: int, title: str, timeline: Timeline) -> Iterator[dict[str, Any]]:
    yield _named("process_name", process, 0, title)
    used = {_thread_of_part(segment.part) for segment in timeline.segments}
    used |= {_thread(moment.who) for moment in timeline.moments}
    for name, thread in [*_THREADS.items(), ("other tasks", _OTHERS)]:
        if thread in used:
            yield _named("thread_name", process, thread, name)
    for segment in timeline.segments:
        yield _segment(process, _thread_of_part(segment.part), segment)
    for moment in timeline.moments:
        yield {
            "name": moment.words,
            "cat": "event",
            "ph": "i",
            "s": "t",
            "ts": moment.time_ns / 1000,
            "pid": process,
            "tid": _thread(moment.who),
            "args": {"meaning": moment.meaning, "cpu": moment.cpu},
        }


def _execution(process: int, title: str, timeline: WorkTimeline) -> Iterator[dict[str, Any]]:
    yield _named("process_name", process, 0, title)
    for thread, each in enumerate(timeline.tasks, 1):
        yield _named("thread_name", process, thread, each.task)
        yield from (_segment(process, thread, segment) for segment in each.segments)


def _segment(process: int, thread: int, segment: Segment) -> dict[str, Any]:
    part = part_of(segment.part)
    return {
        "name": part.label,
        "cat": "part",
        "ph": "X",
        "ts": segment.start_ns / 1000,
        "dur": (segment.end_ns - segment.start_ns) / 1000,
        "pid": process,
        "tid": thread,
        "args": {"part": part.id, "meaning": part.meaning},
    }


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "ts": 0, "pid": process, "tid": thread, "args": {"name": name}}


def _thread(who: str) -> int:
    return 2 if who.startswith("child") else _THREADS.get(who, _OTHERS)


def _thread_of_part(part: str) -> int:
    return _THREADS.get(part_of(part).who, _OTHERS)
