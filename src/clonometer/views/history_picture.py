"""The picture of a history: a panel a row, with its steps and what changed with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

from clonometer.dataset.history_types import History, HistoryRow
from clonometer.errors import InputError
from clonometer.views.colours import FASTER, GREY, SLOWER, of_mechanism
from clonometer.views.figures.types import Panel
from clonometer.views.fleet import reading_text
from clonometer.views.history import causes_label, drawn_rows, event_text, step_text, verdict_text
from clonometer.views.labels import drawn_unit, label_text
from clonometer.views.pictures import titled
from clonometer.views.rows import median_text
from clonometer.views.specs import TIP, dots, frame, headed, nominal, quantitative
from clonometer.views.types import Spec

MOST_PANELS = 12
_PER_ROW = 2
_UNSURE, _LEVEL = GREY, "#374151"
#: Up to so many days, how a tick says its time.
_TIMES = ((2, "%H:%M"), (400, "%-d %b"), (math.inf, "%b %Y"))


def history_spec(history: History) -> Spec:
    """Build the Vega-Lite specification, without its theme; InputError if no row has enough runs."""
    panels = history_panels(history, MOST_PANELS)
    if not panels:
        raise InputError("nothing to draw: no row has at least 12 runs")
    drawn = [headed(panel.draw(), panel.title) for panel in panels]
    beside: Spec = {"concat": drawn, "columns": _PER_ROW, "spacing": 24}
    return titled(
        [beside], verdict_text(history), [reading_text(history.reading), *map(event_text, history.events[:2])]
    )


def history_panels(history: History, most: int) -> list[Panel]:
    """Make a panel a row, titled with its host or group too where there are several."""
    several = len({row.series for row in history.rows}) > 1
    return [
        Panel(
            f"history-{index}",
            f"{row.series}: {label_text(row.label)}" if several else label_text(row.label),
            _alt(row),
            partial(_panel, row),
            tall=False,
        )
        for index, row in enumerate(drawn_rows(history, most))
    ]


def _panel(row: HistoryRow) -> Spec:
    """Draw a row's values against time, its levels, and its steps with what changed."""
    unit, scale = drawn_unit(row.values, row.label)
    time: Spec = {"field": "started", "type": "temporal", "scale": {"padding": 6}, "axis": _time_axis(row.started)}
    value = quantitative("value", scale={"zero": False, "padding": 8}, axis={"title": unit, "tickCount": 4})
    level: Spec = {
        "data": {"values": _levels(row, scale)},
        "mark": {"type": "rule", "strokeWidth": 1.5, "color": _LEVEL},
        "encoding": {"x": time, "x2": {"field": "until"}, "y": value},
    }
    points = dots(
        {"x": time, "y": value, "tooltip": TIP}, 18, color=of_mechanism(row.label.workload).colour, opacity=0.8
    )
    return {
        **frame(_points(row, scale, unit), 420, 150, _alt(row)),
        "layer": [level, points, *(_step_layers(row, time) if row.steps else [])],
    }


def _step_layers(row: HistoryRow, time: Spec) -> list[Spec]:
    """Draw a line for each step, dotted where it is only suspected, with what changed above the panel."""
    steps = [
        {
            "since": step.since,
            "cause": "suspected" if step.unsure and not step.causes else causes_label(step.causes),
            "colour": _UNSURE if step.unsure else SLOWER if step.change.rises else FASTER,
            "dash": [1, 3] if step.unsure else [4, 3],
            # A text beside a late step would leave the panel.
            "late": 2 * step.place > len(row.values),
            "tip": f"{'suspected: ' if step.unsure else ''}{step_text(row, step)}, since {step.since[:10]}",
        }
        for step in row.steps
    ]
    colour = nominal("colour", scale=None)
    rules: list[Spec] = [
        {
            "data": {"values": [step for step in steps if step["dash"] == dash]},
            "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": dash},
            "encoding": {"x": {**time, "field": "since"}, "color": colour, "tooltip": TIP},
        }
        for dash in ([4, 3], [1, 3])
        if any(step["dash"] == dash for step in steps)
    ]
    texts: list[Spec] = [
        {
            "data": {"values": [step for step in steps if step["late"] == late]},
            "mark": {"type": "text", "align": align, "dx": shift, "baseline": "bottom", "y": -3, "limit": 130},
            "encoding": {"x": {**time, "field": "since"}, "text": {"field": "cause"}, "color": colour},
        }
        for late, align, shift in ((False, "left", -2), (True, "right", 2))
        if any(step["late"] == late for step in steps)
    ]
    return [*rules, *texts]


def _time_axis(started: Sequence[str]) -> Spec:
    """Ticks that name days, or what tells them apart where there are far more or fewer."""
    days = (datetime.fromisoformat(started[-1]) - datetime.fromisoformat(started[0])).total_seconds() / 86_400
    shown = next(shown for most, shown in _TIMES if days <= most)
    return {"title": None, "tickCount": 4, "format": shown, "labelOverlap": True}


def _levels(row: HistoryRow, scale: float) -> list[dict[str, Any]]:
    """The median between two steps, from the first run there to the last."""
    edges = [0, *(step.place for step in row.steps), len(row.values)]
    return [
        {
            "started": row.started[begin],
            "until": row.started[end - 1],
            "value": median(row.values[begin:end]) / scale,
        }
        for begin, end in pairwise(edges)
        if begin < end
    ]


def _alt(row: HistoryRow) -> str:
    """Say a panel in words."""
    steps = "; ".join(
        f"{'suspected: ' if step.unsure else ''}{step_text(row, step)} since {step.since[:10]}" for step in row.steps
    )
    return f"{label_text(row.label)} in {len(row.values)} runs: {steps or 'no step'}."


def _points(row: HistoryRow, scale: float, unit: str) -> list[dict[str, Any]]:
    estimates = [row.label.estimate((value, None, None), 1, 1) for value in row.values]
    return [
        {
            "started": started,
            "value": value / scale,
            "tip": f"{started[:16].replace('T', ' ')}: {median_text(estimate, unit).value} {unit}",
        }
        for started, value, estimate in zip(row.started, row.values, estimates, strict=True)
    ]
