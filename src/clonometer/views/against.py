"""Charts of a quantity against a number: the parent's memory, workers, or whatever else a run scans."""

from __future__ import annotations

from textwrap import wrap

from clonometer.views.scans import ScanPanel
from clonometer.views.specs import TIP, Spec, colour, dots, frame, interval_marks, rule

# Letters of a line above a panel.
_EQUATION_LETTERS = 56


def scan_panel(panel: ScanPanel) -> Spec:
    """Draw a quantity against a number, with 95% intervals as bars; where it has curves, these instead of lines."""
    shared = {"x": panel.x.encode("x_at"), "color": colour(panel.labels)}
    ends = {**shared, "y": panel.y.encode("low"), "y2": {"field": "high"}}
    middle = {**shared, "y": panel.y.encode("median")}
    layers = (
        [rule(ends), dots({**middle, "tooltip": TIP}, 40), _curves(panel)]
        if panel.curves
        else (interval_marks(ends, middle))
    )
    described = f"{panel.quantity.capitalize()} against {panel.x.title}, with 95% intervals."
    points = [
        {**point, **{name: panel.y.place(point[name]) for name in ("low", "median", "high")}} for point in panel.points
    ]
    spec = {
        **frame(points, 300, 260, described),
        "layer": [*layers, *panel.x.break_marks("height"), *panel.y.break_marks()],
    }
    if panel.equations:
        lines = [line for equation in panel.equations for line in wrap(equation, _EQUATION_LETTERS)]
        spec["title"] = {"text": "", "subtitle": lines, "subtitleFontSize": 10}
    return spec


def _curves(panel: ScanPanel) -> Spec:
    return {
        "data": {"values": [dict(point) for point in panel.curves]},
        "mark": {"type": "line", "strokeWidth": 1.5, "strokeDash": [5, 3]},
        "encoding": {
            "x": panel.x.encode("x"),
            "y": panel.y.encode("y_ns"),
            "color": colour(panel.labels),
            "tooltip": TIP,
        },
    }
