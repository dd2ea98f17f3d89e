"""The picture of a history: a panel a row, with its steps and what changed with them."""

from __future__ import annotations

from functools import partial
from typing import Any

from clonometer.dataset.history_types import History, HistoryRow
from clonometer.errors import InputError
from clonometer.views.colours import FASTER, SLOWER, of_mechanism
from clonometer.views.figures.types import Panel
from clonometer.views.fleet import reading_text
from clonometer.views.history import causes_label, drawn_rows, event_text, step_text, verdict_text
from clonometer.views.labels import drawn_unit, label_text
from clonometer.views.pictures import titled
from clonometer.views.rows import median_text
from clonometer.views.specs import TIP, Spec, dots, frame, headed, nominal, quantitative

MOST_PANELS = 12
_PER_ROW = 2


def history_spec(history: History) -> Spec:
    """Build the Vega-Lite specification, without its theme; InputError if no row has enough runs."""
    panels = history_panels(history, MOST_PANELS)
    if not panels:
        raise InputError("nothing to draw: no row has 12 runs or more")
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
            f"history-{place}",
            f"{row.series}: {label_text(row.label)}" if several else label_text(row.label),
            _alt(row),
            partial(_panel, row),
            tall=False,
        )
        for place, row in enumerate(drawn_rows(history, most))
    ]


def _panel(row: HistoryRow) -> Spec:
    """Draw a row's values against time, its levels, and its steps with what changed."""
    unit, scale = drawn_unit(row.values, row.label)
    steps = [
        {
            "since": step.since,
            "cause": causes_label(step.causes),
            "colour": SLOWER if step.ratio > 1 else FASTER,
            "late": 2 * step.place > len(row.values),
            "tip": f"{step_text(row, step)}, since {step.since[:10]}",
        }
        for step in row.steps
    ]
    time: Spec = {"field": "started", "type": "temporal", "axis": {"title": None, "tickCount": 5}}
    value = quantitative("value", scale={"zero": False, "padding": 8}, axis={"title": unit, "tickCount": 4})
    rule: Spec = {
        "data": {"values": steps},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3]},
        "encoding": {
            "x": {**time, "field": "since"},
            "color": nominal("colour", scale=None),
            "tooltip": TIP,
        },
    }
    # A text beside a late step would leave the panel.
    texts: list[Spec] = [
        {
            "data": {"values": [step for step in steps if step["late"] == late]},
            "mark": {"type": "text", "align": align, "dx": shift, "baseline": "top", "y": 0, "limit": 160},
            "encoding": {
                "x": {**time, "field": "since"},
                "text": {"field": "cause"},
                "color": nominal("colour", scale=None),
            },
        }
        for late, align, shift in ((False, "left", 4), (True, "right", -4))
        if any(step["late"] == late for step in steps)
    ]
    points = dots(
        {"x": time, "y": value, "tooltip": TIP}, 18, color=of_mechanism(row.label.workload).colour, opacity=0.8
    )
    return {
        **frame(_points(row, scale, unit), 420, 150, _alt(row)),
        "layer": [points, *([rule, *texts] if steps else [])],
    }


def _alt(row: HistoryRow) -> str:
    """Say a panel in words."""
    steps = "; ".join(f"{step_text(row, step)} since {step.since[:10]}" for step in row.steps)
    return f"{label_text(row.label)} in {len(row.values)} runs: {steps or 'no step'}."


def _points(row: HistoryRow, scale: float, unit: str) -> list[dict[str, Any]]:
    estimates = [row.label.estimate((value, None, None), 1, 1) for value in row.values]
    return [
        {
            "started": started,
            "value": value / scale,
            "tip": f"{started[:16].replace('T', ' ')}: {median_text(estimate, unit).median} {unit}",
        }
        for started, value, estimate in zip(row.started, row.values, estimates, strict=True)
    ]
