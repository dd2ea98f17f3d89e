"""A program's explanation as a picture: stacked bars of both sides and of their difference; one execution of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.explain.work.parts import KINDS, UNEXPLAINED, part_kind, part_meaning, part_title
from clonometer.explain.work.types import WorkExplanation, WorkReason, WorkTimeline
from clonometer.units import format_duration, format_duration_interval, format_share
from clonometer.views.explain_picture import stacked
from clonometer.views.pictures import rendered
from clonometer.views.specs import PALETTE, TIME_LABEL, Spec
from clonometer.views.thinning import thinned

_WIDTH = 720
_BAR = 34
_LANE = 18
_SIDES = ("threads", "processes")
_DIFFERENCE = "difference"
_KINDS = (*KINDS, UNEXPLAINED)
# Waiting for a CPU, which most of the time goes to, is pale; being nowhere is grey.
_HUES = {
    "launching": PALETTE[3],
    "user code": PALETTE[0],
    "system calls": PALETTE[6],
    "blocked": PALETTE[5],
    "futex": PALETTE[4],
    "page faults": PALETTE[1],
    "waiting to run": "#9ed6bb",
    "exit": PALETTE[7],
    "ended": "#c3cad1",
    UNEXPLAINED: "#4b5259",
}
_SIGNED = f"(datum.value < 0 ? '-' : '') + ({TIME_LABEL.replace('datum.value', 'abs(datum.value)')})"
_COLOUR = {
    "field": "kind",
    "type": "nominal",
    "scale": {"domain": list(_KINDS), "range": [_HUES[kind] for kind in _KINDS]},
    "legend": {"title": None, "orient": "bottom", "columns": 5},
}


def work_picture(one: WorkExplanation, image_format: str) -> bytes | str:
    """Draw an explanation.

    Returns
    -------
    bytes or str
        A PNG's bytes, or an SVG's text.

    Raises
    ------
    UsageError
        If the format does not exist.
    """
    return rendered(lambda: stacked(work_panels(one)), image_format)


def work_panels(one: WorkExplanation) -> list[Spec]:
    """Every panel, in order: the lives, what the CPUs did, and an execution of each side."""
    panels = [bars_panel(one.reasons, f"A worker's time: {one.condition}")]
    if one.cpu_reasons:
        panels.append(bars_panel(one.cpu_reasons, "What the CPUs do meanwhile"))
    panels += [
        timeline_panel(side.timeline, name)
        for name, side in zip(_SIDES, (one.thread, one.process), strict=True)
        if side.timeline is not None
    ]
    return panels


def bars_panel(reasons: Sequence[WorkReason], title: str) -> Spec:
    """Stacked bars: threads, processes, and part by part what threads take more (right of 0) or less (left of it)."""
    rows = [row for reason in reasons for row in _rows(reason) if row["lasts_ns"] != 0]
    bars = [*_SIDES, _DIFFERENCE]
    return {
        "title": {"text": title, "anchor": "start"},
        "width": _WIDTH,
        "height": _BAR * len(bars),
        "data": {"values": rows},
        "mark": {"type": "bar", "height": _BAR - 10, "stroke": "white", "strokeWidth": 0.5, "cursor": "help"},
        "encoding": {
            "x": {
                "field": "lasts_ns",
                "type": "quantitative",
                "stack": "zero",
                "axis": {"labelExpr": _SIGNED, "title": None, "grid": True, "tickCount": 8},
            },
            "y": {
                "field": "bar",
                "type": "nominal",
                "sort": bars,
                "title": None,
                "axis": {"domain": False, "ticks": False},
            },
            "color": _COLOUR,
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": _tooltip("part", "lasts", "share of the gap", "meaning"),
        },
    }


def _rows(reason: WorkReason) -> list[dict[str, Any]]:
    shared = {
        "part": part_title(reason.part),
        "kind": part_kind(reason.part),
        "place": _KINDS.index(part_kind(reason.part)),
        "meaning": part_meaning(reason.part),
        "share of the gap": "" if reason.share is None else f"{round(100 * reason.share.value)}%",
    }
    sides = zip(_SIDES, (reason.thread_ns, reason.process_ns), strict=True)
    rows = [
        {**shared, "bar": name, "lasts_ns": figure.value,
         "lasts": format_duration_interval(figure.value, figure.low, figure.high, 1.0) if figure.value else "0"}
        for name, figure in sides
    ]  # fmt: skip
    gap = reason.difference_ns.value
    lasts = f"{'-' if gap < 0 else '+'}{format_duration(abs(gap), resolution_ns=1.0)}"
    return [*rows, {**shared, "bar": _DIFFERENCE, "lasts_ns": gap, "lasts": lasts}]


def timeline_panel(timeline: WorkTimeline, name: str) -> Spec:
    """One execution from left to right: the program above, a lane for each worker below."""
    lanes = [task for task, _ in timeline.tasks]
    bars = [
        {
            "lane": task,
            "start_ns": drawn.start_ns,
            "end_ns": drawn.end_ns,
            "kind": part_kind(drawn.part),
            "part": part_title(drawn.part) if drawn.pieces == 1 else f"mostly {part_title(drawn.part)}",
            "lasts": format_duration(drawn.end_ns - drawn.start_ns),
            "share": format_share((drawn.end_ns - drawn.start_ns) / timeline.whole_ns),
            "meaning": part_meaning(drawn.part)
            if drawn.pieces == 1
            else f"{drawn.pieces:,} pieces too short to draw one by one",
        }
        for task, pieces in timeline.tasks
        for drawn in thinned(pieces, timeline.whole_ns)
    ]
    axis_x = {"labelExpr": TIME_LABEL, "title": None, "grid": True, "tickCount": 8}
    return {
        "title": {"text": f"one execution of {name}: {format_duration(timeline.whole_ns)}", "anchor": "start"},
        "width": _WIDTH,
        "height": _LANE * len(lanes),
        "data": {"values": bars},
        "mark": {"type": "bar", "height": _LANE - 5, "cursor": "help"},
        "encoding": {
            "x": {
                "field": "start_ns",
                "type": "quantitative",
                "scale": {"domain": [0, timeline.whole_ns], "nice": False},
                "axis": axis_x,
            },
            "x2": {"field": "end_ns"},
            "y": {
                "field": "lane",
                "type": "nominal",
                "sort": lanes,
                "title": None,
                "axis": {"domain": False, "ticks": False},
            },
            "color": _COLOUR,
            "tooltip": _tooltip("lane", "part", "lasts", "share", "meaning"),
        },
    }


def _tooltip(*fields: str) -> list[dict[str, str]]:
    return [{"field": field, "type": "nominal", "title": field} for field in fields]
