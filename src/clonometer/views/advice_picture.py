"""How advice depends on the load: a panel a thing, a line a design, and the load that was stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from clonometer.advice.answer import BreakEven, DesignAnswer
from clonometer.units import approximate_bytes, format_duration
from clonometer.views.axes import ALWAYS, BYTES_LABEL, COUNT_LABEL, TIME_LABEL, number_axis
from clonometer.views.colours import Drawn, of_mechanism
from clonometer.views.figures.types import Panel
from clonometer.views.specs import TIP, coloured, frame
from clonometer.views.types import Spec

_LABELS = {"ns": TIME_LABEL, "bytes": BYTES_LABEL, "hz": COUNT_LABEL}


def advice_panels(curves: Sequence[BreakEven], designs: Sequence[DesignAnswer]) -> list[Panel]:
    """Make a panel for each thing on which the answer depends."""
    known = {design.id: design for design in designs}
    return [
        Panel(
            f"advice-{curve.of.replace('_', '-')}",
            curve.title,
            f"Latency by {curve.title}, a line for each design. {' '.join(curve.sentences)}",
            partial(_panel, curve, known),
            caption=" ".join(curve.sentences),
        )
        for curve in curves
    ]


def _panel(curve: BreakEven, designs: Mapping[str, DesignAnswer]) -> Spec:
    unit = curve.of.rpartition("_")[2]
    points = [
        {
            "label": designs[name].name,
            "value": point.value,
            "ns": ns,
            "tip": f"{designs[name].name}: {format_duration(ns)} at {_text(unit, point.value)}",
        }
        for point in curve.points
        for name, ns in point.ns.items()
        if ns is not None
    ]
    labels = dict.fromkeys(str(point["label"]) for point in points)
    colours = {design.name: Drawn(design.name, of_mechanism(design.workload).colour) for design in designs.values()}
    values = [point.value for point in curve.points]
    sizes = [float(1 << power) for power in range(10, 40, 4)] if unit == "bytes" else None
    across = number_axis(values, curve.title, _LABELS[unit], log_from=ALWAYS, ticks=sizes)
    taken = [ns for point in curve.points for ns in point.ns.values() if ns is not None]
    upright = number_axis(taken, "latency", log_from=ALWAYS)
    line: Spec = {
        "mark": {"type": "line", "point": {"size": 30}, "strokeWidth": 2},
        "encoding": {
            "x": across.encode("value"),
            "y": upright.encode("ns"),
            "color": coloured({label: colours[label] for label in labels}),
            "tooltip": TIP,
        },
    }
    stated: Spec = {
        "data": {"values": [{"value": curve.wished}]},
        "mark": {"type": "rule", "strokeDash": [4, 4]},
        "encoding": {"x": across.encode("value")},
    }
    within = across.low <= curve.wished <= across.high
    return {
        **frame(points, 420, 240, f"Latency by {curve.title}, a line for each design."),
        "layer": [line, *([stated] if within else [])],
    }


def _text(unit: str, value: float) -> str:
    match unit:
        case "ns":
            return format_duration(value)
        case "bytes":
            return approximate_bytes(value)
        case _:
            return f"{value:,.0f}/s"
