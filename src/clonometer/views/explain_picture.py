"""An explanation as a picture: the timeline of typical launches above the budget; for files and for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.explain.parts import PARTS, UNEXPLAINED
from clonometer.explain.types import Explanation, Timeline
from clonometer.units import format_duration, format_share
from clonometer.views.pictures import rendered
from clonometer.views.specs import PALETTE, TIME_LABEL, Spec
from clonometer.views.thinning import Drawn, marked, thinned

_WIDTH = 720
_LANE = 46
_TITLES = {"median": "the launch nearest the median", "p99": "the p99 launch"}
# White edges between bars, unless they would be all that is seen.
_EDGES = {"stroke": "white", "strokeWidth": 0.5}
_MOST_EDGED = 150
_LANES = ("parent", "child", "both", "nobody")
# One hue for each kind of work, the same for parent and child.
_KINDS = {
    "user code": ("parent_user", "child_user", "child_main", "child_program", "until_image_ended"),
    "loader, library's start": ("child_loader", "child_library_start", "until_image_ran"),
    "launching call": ("launch_call", "until_returned"),
    "other system calls": ("parent_calls", "child_calls"),
    "page faults": ("parent_faults", "child_cow", "child_stack", "child_file", "child_other_faults"),
    "to and from sleep": ("wait_begins", "child_starts"),
    "waits to run": ("child_waits", "parent_waits", "until_task_ran"),
    "exec": ("child_exec", "until_image_entered"),
    "exit, reaping": ("child_library_exit", "child_exit", "reaping", "until_reaped"),
    "unexplained": (UNEXPLAINED, "away"),
}
KIND_OF = {part: kind for kind, parts in _KINDS.items() for part in parts}
_TIME_AXIS = {"labelExpr": TIME_LABEL, "title": None, "grid": True, "tickCount": 8}
_COLOUR = {
    "field": "kind",
    "type": "nominal",
    "scale": {"domain": list(_KINDS), "range": list(PALETTE)},
    "legend": {"title": None, "orient": "bottom", "columns": 5},
}


def explain_picture(explanations: Sequence[Explanation], image_format: str) -> bytes | str:
    """Draw explanations one above the other.

    Returns
    -------
    bytes or str
        A PNG's bytes, or an SVG's text.

    Raises
    ------
    UsageError
        If the format does not exist.
    """
    return rendered(
        lambda: stacked(
            [panel for one in explanations for panel in (timeline_panel(one, one.timelines[0]), budget_panel(one))]
        ),
        image_format,
    )


def stacked(panels: Sequence[Spec]) -> Spec:
    """Put panels one above the other, with one legend of colours."""
    return {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "vconcat": list(panels), "spacing": 26}


def timeline_panel(one: Explanation, timeline: Timeline) -> Spec:
    """One launch from left to right: parts as bars in the lane of whoever is at work, events as ticks on them."""
    pieces = [(segment.start_ns, segment.end_ns, segment.part) for segment in timeline.segments]
    bars = [_bar(drawn, timeline.reaped_ns) for drawn in thinned(pieces, timeline.reaped_ns)]
    lanes = [lane for lane in _LANES if any(bar["lane"] == lane for bar in bars)]
    ticks = [
        {
            "at_ns": moment.time_ns,
            "lane": lane if lane in lanes else lanes[0],
            "event": moment.words,
            "when": format_duration(moment.time_ns) if moment.time_ns else "0",
            "who": moment.who,
            "meaning": moment.meaning,
        }
        for moment in marked(timeline.moments, timeline.reaped_ns)
        for lane in ["child" if moment.who.startswith("child") else "parent"]
    ]
    axis_y = {
        "field": "lane",
        "type": "nominal",
        "sort": lanes,
        "title": None,
        "axis": {"domain": False, "ticks": False},
    }
    axis_x = {"type": "quantitative", "scale": {"domain": [0, timeline.reaped_ns], "nice": False}, "axis": _TIME_AXIS}
    return {
        "title": {
            "text": f"{one.cell}: {_TITLES[timeline.which]}, {format_duration(timeline.reaped_ns)}",
            "anchor": "start",
        },
        "width": _WIDTH,
        "height": _LANE * len(lanes),
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": 26, "cursor": "help", **(_EDGES if len(bars) <= _MOST_EDGED else {})},
                "encoding": {
                    "x": {**axis_x, "field": "start_ns"},
                    "x2": {"field": "end_ns"},
                    "y": axis_y,
                    "color": _COLOUR,
                    "tooltip": _tooltip("part", "lasts", "share", "meaning"),
                },
            },
            {
                "data": {"values": ticks},
                "mark": {"type": "point", "shape": "triangle-up", "size": 46, "filled": True, "yOffset": 19,
                         "color": "#7d8790", "opacity": 0.9, "cursor": "help"},
                "encoding": {
                    "x": {**axis_x, "field": "at_ns"},
                    "y": axis_y,
                    "tooltip": _tooltip("event", "when", "who", "meaning"),
                },
            },
        ],
    }  # fmt: skip


def _bar(drawn: Drawn, whole_ns: int) -> dict[str, Any]:
    known = PARTS.get(drawn.part)
    name = f"{known.who}: {known.label}" if known is not None else UNEXPLAINED
    meaning = known.meaning if known is not None else "no part covers it"
    return {
        "start_ns": drawn.start_ns,
        "end_ns": drawn.end_ns,
        "lane": known.who if known is not None else "nobody",
        "kind": KIND_OF.get(drawn.part, UNEXPLAINED),
        "part": name if drawn.pieces == 1 else f"mostly {name}",
        "lasts": format_duration(drawn.end_ns - drawn.start_ns),
        "share": format_share((drawn.end_ns - drawn.start_ns) / whole_ns),
        "meaning": meaning if drawn.pieces == 1 else f"{drawn.pieces:,} pieces too short to draw one by one",
    }


def budget_panel(one: Explanation) -> Spec:
    """Mean time of each part, with its interval."""
    rows = [
        {
            "label": f"{PARTS[share.part].who}: {PARTS[share.part].label}",
            "mean_ns": share.mean_ns.value,
            "low_ns": share.mean_ns.low,
            "high_ns": share.mean_ns.high,
            "kind": KIND_OF.get(share.part, UNEXPLAINED),
            "lasts": format_duration(share.mean_ns.value, share.mean_ns.low, share.mean_ns.high),
            "share": format_share(share.share),
            "meaning": PARTS[share.part].meaning,
        }
        for share in one.budget
    ]
    rows.append(
        {
            "label": UNEXPLAINED,
            "mean_ns": one.unexplained_ns.value,
            "low_ns": one.unexplained_ns.low,
            "high_ns": one.unexplained_ns.high,
            "kind": UNEXPLAINED,
            "lasts": format_duration(one.unexplained_ns.value, resolution_ns=1.0),
            "share": format_share(one.unexplained),
            "meaning": "time that no part covers",
        }
    )
    axis_y = {
        "field": "label",
        "type": "nominal",
        "sort": [row["label"] for row in rows],
        "title": None,
        "axis": {"domain": False, "ticks": False, "labelLimit": 240},
    }
    axis_x = {"type": "quantitative", "axis": _TIME_AXIS}
    return {
        "title": {
            "text": f"mean of the central launches: {format_duration(one.reaped_ns.value)}; "
            f"unexplained {format_share(one.unexplained)}, tracing adds {one.overhead.value:+.0%}",
            "anchor": "start",
        },
        "width": _WIDTH,
        "height": {"step": 22},
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 13, "cursor": "help"},
                "encoding": {
                    "x": {**axis_x, "field": "mean_ns"},
                    "y": axis_y,
                    "color": _COLOUR,
                    "tooltip": _tooltip("label", "lasts", "share", "meaning"),
                },
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.5, "color": "#7d8790"},
                "encoding": {"x": {**axis_x, "field": "low_ns"}, "x2": {"field": "high_ns"}, "y": axis_y},
            },
        ],
    }


def _tooltip(*fields: str) -> list[dict[str, str]]:
    return [{"field": field, "type": "nominal", "title": field} for field in fields]
