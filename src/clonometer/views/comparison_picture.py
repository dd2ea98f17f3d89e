"""The picture of a comparison: every ratio with its interval on a log axis, coloured by verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from clonometer.errors import InputError
from clonometer.results.change import Change
from clonometer.results.compare.types import Compared, ComparedPair
from clonometer.verdicts import Direction
from clonometer.views.axes import TIMES_LABEL, number_axis
from clonometer.views.colours import GREY, HUES
from clonometer.views.comparison import change_text, pick, row_parts, stage_text, verdict_word
from clonometer.views.figures.types import Panel
from clonometer.views.pictures import rendered, titled
from clonometer.views.specs import LABEL_LIMIT, TIP, choice, dots, frame, names_axis, rule, where
from clonometer.views.types import Datum, Spec

#: Of a time, then of what is no time.
_COLOURS = {
    Direction.MORE: (HUES["red"], HUES["orange"]),
    Direction.LESS: (HUES["teal"], HUES["purple"]),
    Direction.EQUAL: (HUES["blue"], HUES["blue"]),
    Direction.UNKNOWN: (GREY, GREY),
}
_ROW_HEIGHT = 18
#: Intervals end where a picture does: nobody reads more from one.
_FARTHEST = 100.0


def comparison_picture(compared: Compared, image_format: str = "svg", made: Sequence[str] = ()) -> bytes | str:
    """Draw a comparison; ``made`` as for `comparison_spec`; raises as that and as `rendered`."""
    return rendered(comparison_spec(compared, made), image_format)


def comparison_spec(compared: Compared, made: Sequence[str] = ()) -> Spec:
    """Build the Vega-Lite specification, without its theme; InputError if no row has a ratio.

    ``made`` says of each side where and when it was measured.
    """
    panels = [panel for number, pair in enumerate(compared.pairs) if (panel := pair_panel(pair, number)) is not None]
    if not panels:
        raise InputError("nothing to draw: no row of the comparison has a ratio")
    reading = "Ratios of medians with their intervals, corrected for the number of rows; 1× is no change."
    drawn = [{**panel.draw(), "title": _title(panel)} for panel in panels]
    return titled(drawn, "What changed?", [reading, *made])


def _title(panel: Panel) -> Spec:
    return {"text": panel.title, **({"subtitle": panel.caption} if panel.caption else {})}


def pair_panel(pair: ComparedPair, number: int = 0, most: int | None = None) -> Panel | None:
    """Draw the rows of a comparison that have a ratio, at most so many of them; None where none has one."""
    points = [
        ratio_point(name, row.change, verdict_word(row), f"{name}: {change_text(row)}", row.rest)
        for row in (pair.rows if most is None else pick(pair.rows, most))
        if row.change.value is not None
        for name in [", ".join((*row_parts(row), stage_text(row)))]
    ]
    caption = "Grey tick: how much all other conditions changed." if any(p["rest"] is not None for p in points) else ""
    title, axis_title = f"{pair.other} compared with {pair.base}", "times as long as the base"
    return ratios_panel(f"ratios-{number}", title, points, axis_title, caption=caption) if points else None


def ratio_point(row: str, change: Change[Any], verdict: str, tip: str, rest: float | None = None) -> Datum:
    """A row's ratio with its interval, as `ratios_panel` draws it; ``rest`` is how much all others changed."""
    low, high = change.interval or (change.value, change.value)
    # One row that says nothing would flatten all others.
    ends = {"low": max(low or 0.0, 1 / _FARTHEST), "high": min(high or 0.0, _FARTHEST)}
    return {"row": row, "ratio": change.value, **ends, "verdict": verdict, "rest": rest, "tip": tip}


def ratios_panel(
    id_: str,
    title: str,
    points: Sequence[Datum],
    axis_title: str,
    *,
    caption: str = "",
    colours: Mapping[str, str] | None = None,
) -> Panel:
    """Draw ratios with their intervals on a log axis; ``colours`` by verdict, where these are not directions."""
    draw = partial(_ratios, points, axis_title, colours or _colours(points))
    return Panel(id_, title, f"{title}: the table has the numbers.", draw, tall=False, caption=caption)


def _colours(points: Sequence[Datum]) -> dict[str, str]:
    used = {point["verdict"] for point in points}
    sure = {
        word: colour
        for verdict, of_both in _COLOURS.items()
        for is_time, colour in zip((True, False), of_both, strict=True)
        if (word := verdict.word(is_time=is_time)) in used or is_time
    }
    return {**sure, **dict.fromkeys(sorted(used - sure.keys()), HUES["sand"])}


def _ratios(points: Sequence[Datum], axis_title: str, colours: Mapping[str, str]) -> Spec:
    rows = list(dict.fromkeys(point["row"] for point in points))
    shared: Spec = {
        "y": names_axis("row", rows, grid=True, labelLimit=2 * LABEL_LIMIT),
        "color": choice("verdict", colours, colours.values()),
    }
    ends = [point[name] for point in points for name in ("low", "ratio", "high", "rest") if point[name] is not None]
    axis = number_axis([1.0, *ends], axis_title, TIMES_LABEL)
    has_rest = any(point["rest"] is not None for point in points)
    tick = {"type": "tick", "thickness": 3, "size": 12, "color": GREY, "opacity": 0.45}
    rest = where("isValid(datum.rest)", {"mark": tick, "encoding": {"y": shared["y"], "x": axis.encode("rest")}})
    described = "Ratios of medians with their intervals; the line is at 1: no change."
    return {
        **frame(points, 420, _ROW_HEIGHT * len(rows), described),
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
