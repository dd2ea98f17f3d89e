"""A program's explanation as a picture: stacked bars of both sides and of their difference; one execution of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.tracing.parts import UNEXPLAINED, WORK_KINDS, part_of
from clonometer.tracing.work.types import GapPart, WorkExplanation, WorkTimeline
from clonometer.units import format_duration, format_duration_interval
from clonometer.views.axes import TIME_LABEL
from clonometer.views.explain_panels import (
    TIME_AXIS,
    coloured,
    panel,
    rows_axis,
    segment_bars,
    tooltip,
    whole_axis,
)
from clonometer.views.explain_texts import signed_duration
from clonometer.views.specs import quantitative
from clonometer.views.types import Spec
from clonometer.views.work_texts import named_sides

_BAR = 34
_LANE = 18
_SIDES = ("threads", "processes")
_DIFFERENCE = "difference"
_KINDS = (*WORK_KINDS, UNEXPLAINED)
_SIGNED = f"(datum.value < 0 ? '-' : '') + ({TIME_LABEL.replace('datum.value', 'abs(datum.value)')})"
_COLOUR = coloured(_KINDS)


def work_panels(explanation: WorkExplanation) -> list[Spec]:
    """Every panel, in order: the lives, what the CPUs did, and an execution of each side."""
    panels = [bars_panel(explanation.reasons, f"A worker's time: {explanation.condition}")]
    if explanation.cpu_reasons:
        panels.append(bars_panel(explanation.cpu_reasons, "What the CPUs do meanwhile"))
    panels += [
        timeline_panel(side.timeline, name) for name, side in named_sides(explanation) if side.timeline is not None
    ]
    return panels


def kinds_of_work(explanation: WorkExplanation) -> list[str]:
    """The kinds of time that occur in any of its charts, in the order of the legend."""
    parts = {reason.part for reason in (*explanation.reasons, *explanation.cpu_reasons)}
    timelines = [side.timeline for _, side in named_sides(explanation) if side.timeline is not None]
    parts |= {segment.part for each in timelines for task in each.tasks for segment in task.segments}
    present = {part_of(part).kind for part in parts}
    return [kind for kind in _KINDS if kind in present]


def bars_panel(reasons: Sequence[GapPart], title: str) -> Spec:
    """Stacked bars: threads, processes, and part by part what threads take more (right of 0) or less (left of it)."""
    rows = [row for reason in reasons for row in _rows(reason) if row["lasts_ns"] != 0]
    bars = [*_SIDES, _DIFFERENCE]
    return panel(
        title,
        _BAR * len(bars),
        data={"values": rows},
        mark={"type": "bar", "height": _BAR - 10, "stroke": "white", "strokeWidth": 0.5, "cursor": "help"},
        encoding={
            "x": quantitative("lasts_ns", stack="zero", axis={**TIME_AXIS, "labelExpr": _SIGNED}),
            "y": rows_axis("bar", bars),
            "color": _COLOUR,
            "order": quantitative("place"),
            "tooltip": tooltip("part", "lasts", "share of the gap", "meaning"),
        },
    )


def _rows(reason: GapPart) -> list[dict[str, Any]]:
    shared = {
        "part": reason.label,
        "kind": reason.kind,
        "place": _KINDS.index(reason.kind),
        "meaning": reason.meaning,
        "share of the gap": "" if reason.share is None else f"{round(100 * reason.share.value)}%",
    }
    sides = zip(_SIDES, (reason.thread_ns, reason.process_ns), strict=True)
    rows = [
        {**shared, "bar": name, "lasts_ns": figure.value,
         "lasts": format_duration_interval(*figure.ends, 1.0) if figure.value else "0"}
        for name, figure in sides
    ]  # fmt: skip
    gap = reason.difference_ns.value
    return [*rows, {**shared, "bar": _DIFFERENCE, "lasts_ns": gap, "lasts": signed_duration(gap)}]


def timeline_panel(timeline: WorkTimeline, name: str) -> Spec:
    """One execution from left to right: the program above, a lane for each worker below."""
    lanes = [each.task for each in timeline.tasks]
    bars = [bar for each in timeline.tasks for bar in segment_bars(each.segments, timeline.whole_ns, each.task)]
    return panel(
        f"one execution of {name}: {format_duration(timeline.whole_ns)}",
        _LANE * len(lanes),
        data={"values": bars},
        mark={"type": "bar", "height": _LANE - 5, "cursor": "help"},
        encoding={
            "x": {**whole_axis(timeline.whole_ns), "field": "start_ns"},
            "x2": {"field": "end_ns"},
            "y": rows_axis("lane", lanes),
            "color": _COLOUR,
            "tooltip": tooltip("lane", "part", "lasts", "share", "meaning"),
        },
    )
