"""An explanation as a picture: the timeline of typical launches above the budget; for files and for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.tracing.parts import UNEXPLAINED, part_of
from clonometer.tracing.types import Bounded, Explanation, Timeline, Versus
from clonometer.tracing.work.types import AnyExplanation, WorkExplanation
from clonometer.units import format_duration, format_share
from clonometer.views.colours import GREY
from clonometer.views.explain_panels import (
    KIND_COLOURS,
    TIME_AXIS,
    coloured,
    panel,
    rows_axis,
    segment_bars,
    tooltip,
    whole_axis,
)
from clonometer.views.explain_texts import TIMELINES, cell_title, versus_sentence
from clonometer.views.pictures import rendered, titled
from clonometer.views.specs import rule
from clonometer.views.thinning import marked
from clonometer.views.types import Spec
from clonometer.views.work_picture import work_panels

_LANE = 46
_BUDGET_LINE = 22
# White edges between bars, unless they would be all that is seen.
_EDGES = {"stroke": "white", "strokeWidth": 0.5}
_MOST_EDGED = 150
_LANES = ("parent", "child", "both", "nobody")


def explain_picture(explanation: AnyExplanation, image_format: str, made: str = "") -> bytes | str:
    """Draw an explanation, panels one above the other; ``made`` says where and when it was measured; as `rendered`."""
    return rendered(titled(_panels(explanation), _title(explanation), [made], one_legend=True), image_format)


def _panels(explanation: AnyExplanation) -> list[Spec]:
    if isinstance(explanation, WorkExplanation):
        return work_panels(explanation)
    return [
        drawn
        for explained in explanation.mechanisms
        for drawn in (
            timeline_panel(explained, explained.timelines[0], explanation.mechanisms),
            budget_panel(explained, explanation.mechanisms),
        )
    ]


def _title(explanation: AnyExplanation) -> str:
    if isinstance(explanation, WorkExplanation):
        return explanation.conclusion.removesuffix(".")
    if isinstance(explanation, Versus):
        return versus_sentence(explanation).removesuffix(".")
    return f"Where the time of {cell_title(explanation.cell)} goes"


def kinds_of_time(sides: Sequence[Explanation]) -> list[str]:
    """The kinds of time that occur in any side's budget or timelines, in the order of the legend."""
    parts = {each.part for side in sides for each in side.budget}
    parts |= {segment.part for side in sides for timeline in side.timelines for segment in timeline.segments}
    if any(side.unexplained_ns.value for side in sides):
        parts.add(UNEXPLAINED)
    present = {part_of(part).kind for part in parts}
    return [kind for kind in KIND_COLOURS if kind in present]


def timeline_panel(explained: Explanation, timeline: Timeline, sides: Sequence[Explanation] = ()) -> Spec:
    """One launch from left to right: parts as bars in the lane of whoever is at work, events as ticks on them.

    ``sides`` are all that are drawn side by side, this one too: their time axes are the same, so that lengths compare.
    """
    sides = sides or (explained,)
    bars = segment_bars(timeline.segments, timeline.reaped_ns)
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
    whole_ns = max(each.reaped_ns for side in sides for each in side.timelines if each.which == timeline.which)
    axis_x, axis_y = whole_axis(whole_ns), rows_axis("lane", lanes)
    return panel(
        f"{cell_title(explained.cell)}: {TIMELINES[timeline.which]}, {format_duration(timeline.reaped_ns)}",
        _LANE * len(lanes),
        layer=[
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": 26, "cursor": "help", **(_EDGES if len(bars) <= _MOST_EDGED else {})},
                "encoding": {
                    "x": {**axis_x, "field": "start_ns"},
                    "x2": {"field": "end_ns"},
                    "y": axis_y,
                    "color": coloured(kinds_of_time(sides)),
                    "tooltip": tooltip("part", "lasts", "share", "meaning"),
                },
            },
            {
                "data": {"values": ticks},
                "mark": {"type": "point", "shape": "triangle-up", "size": 46, "filled": True, "yOffset": 19,
                         "color": GREY, "opacity": 0.9, "cursor": "help"},
                "encoding": {
                    "x": {**axis_x, "field": "at_ns"},
                    "y": axis_y,
                    "tooltip": tooltip("event", "when", "who", "meaning"),
                },
            },
        ],
    )  # fmt: skip


def budget_panel(explained: Explanation, sides: Sequence[Explanation] = ()) -> Spec:
    """Mean time of each part, with its interval; ``sides`` as of `timeline_panel`."""
    sides = sides or (explained,)
    rows = [_row(each.part, each.mean_ns, each.share, format_duration(*each.mean_ns.ends)) for each in explained.budget]
    rest = explained.unexplained_ns
    rows.append(_row(UNEXPLAINED, rest, explained.unexplained, format_duration(rest.value, resolution_ns=1.0)))
    ends_ns = [end for side in sides for each in side.budget for end in (each.mean_ns.value, each.mean_ns.high)]
    longest_ns = max([rest.value, *filter(None, ends_ns)])
    axis_x = {"type": "quantitative", "axis": TIME_AXIS, "scale": {"domain": [0, longest_ns]}}
    axis_y = rows_axis("label", [row["label"] for row in rows], labelLimit=240)
    return panel(
        f"mean of the central launches: {format_duration(explained.reaped_ns.value)}; "
        f"unexplained {format_share(explained.unexplained)}, tracing adds {explained.overhead.value:+.0%}",
        _BUDGET_LINE * len(rows),
        data={"values": rows},
        layer=[
            {
                "mark": {"type": "bar", "height": 13, "cursor": "help"},
                "encoding": {
                    "x": {**axis_x, "field": "mean_ns"},
                    "y": axis_y,
                    "color": coloured(kinds_of_time(sides)),
                    "tooltip": tooltip("label", "lasts", "share", "meaning"),
                },
            },
            rule({"x": {**axis_x, "field": "low_ns"}, "x2": {"field": "high_ns"}, "y": axis_y}, 1.5, color=GREY),
        ],
    )


def _row(id_: str, mean_ns: Bounded, share: float, lasts: str) -> dict[str, Any]:
    part = part_of(id_)
    return {
        "label": part.title,
        "mean_ns": mean_ns.value,
        "low_ns": mean_ns.low,
        "high_ns": mean_ns.high,
        "kind": part.kind,
        "lasts": lasts,
        "share": format_share(share),
        "meaning": part.meaning,
    }
