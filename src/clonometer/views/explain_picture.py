"""An explanation as charts on one time axis: its parts one after the other, then typical launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clonometer.tracing.parts import UNEXPLAINED, part_of
from clonometer.tracing.types import Explanation, Timeline, Versus
from clonometer.tracing.work.types import AnyExplanation, WorkExplanation
from clonometer.units import format_duration, format_share
from clonometer.views.colours import GREY
from clonometer.views.explain_panels import coloured, kinds_in, panel, rows_axis, segment_bars, time_axis, tooltip
from clonometer.views.explain_texts import TIMELINES, WHOLE, cell_title, side_names, signed_duration, versus_sentence
from clonometer.views.figures.types import Panel
from clonometer.views.pictures import rendered, titled
from clonometer.views.specs import LETTER_WIDTH, headed, rule, where
from clonometer.views.thinning import marked
from clonometer.views.types import Datum, Spec
from clonometer.views.work_picture import work_panels

_LANE = 46
_PART_LINE = 22
_LABEL_LIMIT = 240
# White edges between bars, unless they would be all that is seen.
_EDGES = {"stroke": "white", "strokeWidth": 0.5}
_MOST_EDGED = 60
_LANES = ("parent", "child", "both", "nobody")


@dataclass(frozen=True)
class _Shared:
    """What charts below each other have in common: the ends of their axis, the letters left of it, and colours."""

    ends_ns: tuple[float, float]
    letters: int
    kinds: Sequence[str]

    def axis_y(self, field: str, order: Sequence[str]) -> Spec:
        extent = min(self.letters * LETTER_WIDTH, _LABEL_LIMIT)
        return rows_axis(field, order, labelLimit=_LABEL_LIMIT, minExtent=extent)


def explain_picture(explanation: AnyExplanation, image_format: str, made: str = "") -> bytes | str:
    """Draw an explanation, panels one above the other; ``made`` says where and when it was measured; as `rendered`."""
    panels = work_panels(explanation) if isinstance(explanation, WorkExplanation) else launch_panels(explanation)
    drawn = [headed(panel.draw(), panel.title) for panel in panels]
    return rendered(titled(drawn, _title(explanation), [made], one_legend=True), image_format)


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
    return kinds_in([*parts, *([UNEXPLAINED] if any(side.unexplained_ns.value for side in sides) else [])])


def launch_panels(explanation: Explanation | Versus) -> list[Panel]:
    """The parts one after the other, and the launch nearest the median of each side, all on one time axis."""
    if isinstance(explanation, Versus):
        title, steps = "From {1} to {0}, part by part".format(*side_names(explanation)), _differences(explanation)
    else:
        title, steps = "The mean launch, part by part", _parts(explanation)
    lines = _timelines(explanation, "median")
    ends_ns = [step[name] for step in steps for name in ("from_ns", "to_ns", "high_ns") if name in step]
    shared = _Shared(
        (min(ends_ns), max(*ends_ns, *(timeline.reaped_ns for _, timeline in lines))),
        max(len(step["label"]) for step in steps),
        kinds_of_time(explanation.mechanisms),
    )
    draw = partial(_steps_spec, steps, shared)
    return [Panel("parts", title, f"{title}: the table has the numbers.", draw, tall=False), *_panels(lines, shared)]


def slow_panels(explanation: Explanation | Versus) -> list[Panel]:
    """The p99 launch of each side, on an axis of their own."""
    lines = _timelines(explanation, "p99")
    longest_ns = max((timeline.reaped_ns for _, timeline in lines), default=0)
    return _panels(lines, _Shared((0, longest_ns), 0, kinds_of_time(explanation.mechanisms)))


def _timelines(explanation: Explanation | Versus, which: str) -> list[tuple[Explanation, Timeline]]:
    return [(side, each) for side in explanation.mechanisms for each in side.timelines if each.which == which]


def _panels(lines: Sequence[tuple[Explanation, Timeline]], shared: _Shared) -> list[Panel]:
    panels = []
    for number, (side, timeline) in enumerate(lines):
        title = f"{cell_title(side.cell)}: {TIMELINES[timeline.which]}, {format_duration(timeline.reaped_ns)}"
        alt = f"{title}, from left to right; the table of its events has the numbers."
        draw = partial(_timeline_spec, timeline, shared)
        panels.append(Panel(f"timeline-{timeline.which}-{number}", title, alt, draw, tall=False))
    return panels


def _timeline_spec(timeline: Timeline, shared: _Shared) -> Spec:
    """One launch from left to right: parts as bars in the lane of whoever is at work, events as ticks on them."""
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
    axis_x, axis_y = time_axis(*shared.ends_ns), shared.axis_y("lane", lanes)
    return panel(
        _LANE * len(lanes),
        layer=[
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "height": 26, "cursor": "help", **(_EDGES if len(bars) <= _MOST_EDGED else {})},
                "encoding": {
                    "x": {**axis_x, "field": "start_ns"},
                    "x2": {"field": "end_ns"},
                    "y": axis_y,
                    "color": coloured(shared.kinds),
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


def _parts(explanation: Explanation) -> list[Datum]:
    """Mean time of each part, each from where the one before it ends, with its interval; the whole last."""
    rest = (UNEXPLAINED, explanation.unexplained_ns, explanation.unexplained)
    parts = [*((each.part, each.mean_ns, each.share) for each in explanation.budget), rest]
    steps, from_ns = [], 0.0
    for part, mean_ns, share in parts:
        if mean_ns.value:
            lasts, ends = format_duration(*mean_ns.ends), {"low_ns": mean_ns.low, "high_ns": mean_ns.high}
            placed = {name: from_ns + end_ns for name, end_ns in ends.items()}
            steps.append({**_step(part, from_ns, mean_ns.value, lasts, share), **placed})
            from_ns += mean_ns.value
    return [*steps, _whole(WHOLE, explanation)]


def _differences(versus: Versus) -> list[Datum]:
    """From the second's whole, by what each part adds or takes away, to the first's."""
    first, second = side_names(versus)
    steps, from_ns = [_whole(second, versus.second)], versus.second.reaped_ns.value
    for reason in versus.against.reasons:
        lasts = signed_duration(reason.difference_ns)
        steps.append(_step(reason.part, from_ns, reason.difference_ns, lasts, reason.share))
        from_ns += reason.difference_ns
    return [*steps, _whole(first, versus.first)]


def _step(id_: str, from_ns: float, adds_ns: float, lasts: str, share: float) -> Datum:
    part = part_of(id_)
    shown = f"-{format_share(-share)}" if share < 0 else format_share(share)
    about = {"label": part.title, "kind": part.kind, "lasts": lasts, "share": shown, "meaning": part.meaning}
    return {**about, "from_ns": from_ns, "to_ns": from_ns + adds_ns}


def _whole(label: str, side: Explanation) -> Datum:
    whole_ns = side.reaped_ns.value
    return {"label": label, "from_ns": 0.0, "to_ns": whole_ns, "whole": True, "lasts": format_duration(whole_ns)}


def _steps_spec(steps: Sequence[Datum], shared: _Shared) -> Spec:
    """Bars of which each begins where the one before it ends."""
    axis_x = time_axis(*shared.ends_ns)
    placed: dict[str, Any] = {"y": shared.axis_y("label", [step["label"] for step in steps])}
    bars = {**placed, "x": {**axis_x, "field": "from_ns"}, "x2": {"field": "to_ns"}}
    ends = {**placed, "x": {**axis_x, "field": "low_ns"}, "x2": {"field": "high_ns"}}
    mark = {"type": "bar", "height": 14, "cursor": "help"}
    tips = tooltip("label", "lasts", "share", "meaning")
    return panel(
        _PART_LINE * len(steps),
        data={"values": list(steps)},
        layer=[
            where("datum.whole", {"mark": {**mark, "opacity": 0.45},
                                  "encoding": {**bars, "tooltip": tooltip("label", "lasts")}}),
            where("!datum.whole", {"mark": mark,
                                   "encoding": {**bars, "color": coloured(shared.kinds), "tooltip": tips}}),
            where("isValid(datum.low_ns)", rule(ends, 1.5, color=GREY)),
        ],
    )  # fmt: skip
