"""The picture of a comparison: every ratio with its interval on a log axis, coloured by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.errors import InputError
from clonometer.results.compare.types import Compared, ComparedPair
from clonometer.verdicts import Direction
from clonometer.views.axes import TIMES_LABEL, number_axis
from clonometer.views.colours import GREY, HUES
from clonometer.views.comparison import change_text, row_parts, stage_text, verdict_word
from clonometer.views.pictures import rendered, titled
from clonometer.views.specs import LABEL_LIMIT, TIP, choice, dots, frame, names_axis, rule, where
from clonometer.views.types import Spec

#: Of a time, then of what is no time.
_COLOURS = {
    Direction.MORE: (HUES["red"], HUES["orange"]),
    Direction.LESS: (HUES["teal"], HUES["purple"]),
    Direction.EQUAL: (HUES["blue"], HUES["blue"]),
    Direction.UNKNOWN: (GREY, GREY),
}
_ROW_HEIGHT = 18


def comparison_picture(compared: Compared, image_format: str = "svg", made: Sequence[str] = ()) -> bytes | str:
    """Draw a comparison; ``made`` as for `comparison_spec`; raises as that and as `rendered`."""
    return rendered(comparison_spec(compared, made), image_format)


def comparison_spec(compared: Compared, made: Sequence[str] = ()) -> Spec:
    """Build the Vega-Lite specification, without its theme; InputError if no row has a ratio.

    ``made`` says of each side where and when it was measured.
    """
    panels = [panel for pair in compared.pairs if (panel := _panel(pair)) is not None]
    if not panels:
        raise InputError("nothing to draw: no row of the comparison has a ratio")
    reading = "Ratios of medians with their intervals, corrected for the number of rows; 1× is no change."
    return titled(panels, "What changed?", [reading, *made])


def _points(pair: ComparedPair) -> list[dict[str, Any]]:
    return [
        {
            "row": name,
            "ratio": row.change.value,
            "low": row.change.value if row.change.low is None else row.change.low,
            "high": row.change.value if row.change.high is None else row.change.high,
            "verdict": verdict_word(row),
            "rest": row.rest,
            "tip": f"{name}: {change_text(row)}",
        }
        for row in pair.rows
        if row.change.value is not None
        for name in [", ".join((*row_parts(row), stage_text(row)))]
    ]


def _panel(pair: ComparedPair) -> Spec | None:
    points = _points(pair)
    if not points:
        return None
    rows = list(dict.fromkeys(point["row"] for point in points))
    used = {point["verdict"] for point in points}
    colours = {
        word: colour
        for verdict, of_both in _COLOURS.items()
        for is_time, colour in zip((True, False), of_both, strict=True)
        if (word := verdict.word(is_time=is_time)) in used or is_time
    }
    shared: Spec = {
        "y": names_axis("row", rows, grid=True, labelLimit=2 * LABEL_LIMIT),
        "color": choice("verdict", colours, colours.values()),
    }
    ends = [point[name] for point in points for name in ("low", "ratio", "high", "rest") if point[name] is not None]
    axis = number_axis([1.0, *ends], f"times as long as in {pair.base}", TIMES_LABEL)
    has_rest = any(point["rest"] is not None for point in points)
    tick = {"type": "tick", "thickness": 3, "size": 12, "color": GREY, "opacity": 0.45}
    rest = where("isValid(datum.rest)", {"mark": tick, "encoding": {"y": shared["y"], "x": axis.encode("rest")}})
    title: Spec = {"text": f"{pair.other} against {pair.base}"}
    if has_rest:
        title["subtitle"] = "Grey tick: how much all other conditions changed."
    described = "Ratios of medians with their intervals; the line is at 1: no change."
    return {
        **frame(points, 420, _ROW_HEIGHT * len(rows), described),
        "title": title,
        "layer": [
            {
                "data": {"values": [{"same": 1}]},
                "mark": {"type": "rule", "strokeDash": [4, 3], "opacity": 0.6},
                "encoding": {"x": axis.encode("same")},
            },
            *([rest] if has_rest else []),
            rule({**shared, "x": axis.encode("low"), "x2": {"field": "high"}}),
            dots({**shared, "x": axis.encode("ratio"), "tooltip": TIP}, 55),
        ],
    }
