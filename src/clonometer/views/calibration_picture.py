"""The picture of a calibration: what was measured against what the model fits, a panel a model."""

from __future__ import annotations

from clonometer.model.calibration import Calibration, CostModel, Residual
from clonometer.units import format_duration
from clonometer.views.axes import number_axis
from clonometer.views.colours import GREY
from clonometer.views.pictures import titled
from clonometer.views.specs import TIP
from clonometer.views.types import Spec

_SIZE = 220


def calibration_spec(calibration: Calibration) -> Spec:
    """Build the Vega-Lite specification, without its theme."""
    panels = [_panel(name, model) for name, model in calibration.models.items()]
    return titled(
        [{"concat": panels, "columns": 2, "spacing": 24}],
        "What does a fork cost here?",
        ["Each point is a condition; on the line, the fit is exact."],
    )


def _panel(name: str, model: CostModel) -> Spec:
    drawn = [each for each in model.residuals if each.measured_ns > 0 and each.fitted_ns > 0]
    times = [time for each in drawn for time in (each.measured_ns, each.fitted_ns)]
    points = [{"measured": each.measured_ns, "fitted": each.fitted_ns, "tip": _tip(each)} for each in drawn]
    ends = [{"measured": end, "fitted": end} for end in (min(times), max(times))] if times else []
    # Both axes are the same, so that the line on which the fit is right is the diagonal.
    measured, fitted = (number_axis(times, title) for title in ("measured", "fitted"))
    placed: Spec = {"x": measured.encode("measured"), "y": fitted.encode("fitted")}
    return {
        "title": f"{name}: measured and fitted",
        "width": _SIZE,
        "height": _SIZE,
        "layer": [
            {
                "data": {"values": ends},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": GREY},
                "encoding": placed,
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 40},
                "encoding": {**placed, "tooltip": TIP},
            },
        ],
    }


def _tip(each: Residual) -> str:
    measured, fitted = format_duration(each.measured_ns), format_duration(each.fitted_ns)
    return f"{each.condition}: {measured} measured, {fitted} fitted"
