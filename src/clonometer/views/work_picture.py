"""A program's explanation as a picture: stacked bars of both sides and of their difference; one execution of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.tracing.parts import UNEXPLAINED, WORK_KINDS
from clonometer.tracing.work.types import GapPart, WorkExplanation, WorkTimeline
from clonometer.units import format_duration, format_duration_interval
from clonometer.views.explain_panels import (
    coloured,
    kinds_in,
    panel,
    rows_axis,
    segment_bars,
    time_axis,
    tooltip,
)
from clonometer.views.explain_texts import signed_duration
from clonometer.views.figures.types import Panel
from clonometer.views.specs import quantitative
from clonometer.views.types import Datum, Spec
from clonometer.views.work_texts import named_sides

_BAR = 34
_LANE = 18
# Of both kinds of charts, so that their axes begin at the same place.
_LABELS = 72
_SIDES = ("threads", "processes")
_DIFFERENCE = "difference"
_ROWS = (*_SIDES, _DIFFERENCE)


def work_panels(explanation: WorkExplanation) -> list[Panel]:
    """Every panel, in order: the lives, what the CPUs did, and an execution of each side, all on one time axis."""
    kinds = kinds_of_work(explanation)
    bars = {("lives", "A worker's time"): _rows(explanation.reasons, kinds)}
    if explanation.cpu_reasons:
        bars["cpus", "What the CPUs do in the meantime"] = _rows(explanation.cpu_reasons, kinds)
    lines = [(name, side.timeline) for name, side in named_sides(explanation) if side.timeline is not None]
    reached_ns = [_reach(rows, bar, sign) for rows in bars.values() for bar in _ROWS for sign in (-1, 1)]
    ends_ns = min(reached_ns), max(*reached_ns, *(timeline.whole_ns for _, timeline in lines))
    panels = []
    for (id_, title), rows in bars.items():
        draw = partial(_bars, rows, ends_ns, kinds)
        panels.append(Panel(id_, title, f"{title}: the table has the numbers.", draw, tall=False))
    for name, timeline in lines:
        title = f"One execution of {name}, near the median: {format_duration(timeline.whole_ns)}"
        alt = f"{title}: what the program and each worker do from start to end."
        panels.append(Panel(f"timeline-{name}", title, alt, partial(_timeline, timeline, ends_ns, kinds), tall=False))
    return panels


def kinds_of_work(explanation: WorkExplanation) -> list[str]:
    """The kinds of time that occur in any of its charts, in the order of the legend."""
    timelines = [side.timeline for _, side in named_sides(explanation) if side.timeline is not None]
    parts = {reason.part for reason in (*explanation.reasons, *explanation.cpu_reasons)}
    parts |= {segment.part for each in timelines for task in each.tasks for segment in task.segments}
    return kinds_in(parts, (*WORK_KINDS, UNEXPLAINED))


def _reach(rows: Sequence[Datum], bar: str, sign: int) -> float:
    """How far a stacked bar reaches right (1) or left (-1) of zero."""
    return float(sum(row["lasts_ns"] for row in rows if row["bar"] == bar and row["lasts_ns"] * sign > 0))


def _bars(rows: Sequence[Datum], ends_ns: tuple[float, float], kinds: Sequence[str]) -> Spec:
    """Stacked bars: threads, processes, and part by part what threads take more (right of 0) or less (left of it)."""
    return panel(
        _BAR * len(_ROWS),
        data={"values": list(rows)},
        mark={"type": "bar", "height": _BAR - 10, "stroke": "white", "strokeWidth": 0.5, "cursor": "help"},
        encoding={
            "x": {**time_axis(*ends_ns), "field": "lasts_ns", "stack": "zero"},
            "y": rows_axis("bar", _ROWS, minExtent=_LABELS),
            "color": coloured(kinds),
            "order": quantitative("place"),
            "tooltip": tooltip("part", "lasts", "share of the gap", "meaning"),
        },
    )


def _rows(reasons: Sequence[GapPart], kinds: Sequence[str]) -> list[Datum]:
    """A row for each part of each bar that has any of it."""
    rows = []
    for reason in reasons:
        shared = {
            "part": reason.label,
            "kind": reason.kind,
            "place": kinds.index(reason.kind),
            "meaning": reason.meaning,
            "share of the gap": "" if reason.share is None else f"{round(100 * reason.share.value)}%",
        }
        for name, figure in zip(_SIDES, (reason.thread_ns, reason.process_ns), strict=True):
            lasts = format_duration_interval(*figure.ends, 1.0) if figure.value else "0"
            rows.append({**shared, "bar": name, "lasts_ns": figure.value, "lasts": lasts})
        gap_ns = reason.difference_ns.value
        rows.append({**shared, "bar": _DIFFERENCE, "lasts_ns": gap_ns, "lasts": signed_duration(gap_ns)})
    return [row for row in rows if row["lasts_ns"] != 0]


def _timeline(timeline: WorkTimeline, ends_ns: tuple[float, float], kinds: Sequence[str]) -> Spec:
    """One execution from left to right: the program above, a lane for each worker below."""
    lanes = [each.task for each in timeline.tasks]
    bars = [bar for each in timeline.tasks for bar in segment_bars(each.segments, timeline.whole_ns, each.task)]
    return panel(
        _LANE * len(lanes),
        data={"values": bars},
        mark={"type": "bar", "height": _LANE - 5, "cursor": "help"},
        encoding={
            "x": {**time_axis(*ends_ns), "field": "start_ns"},
            "x2": {"field": "end_ns"},
            "y": rows_axis("lane", lanes, minExtent=_LABELS),
            "color": coloured(kinds),
            "tooltip": tooltip("lane", "part", "lasts", "share", "meaning"),
        },
    )
