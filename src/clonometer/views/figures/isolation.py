"""The figure of failing workers: for each fault and arrangement who survives, and how soon it is known and mended."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from clonometer.results.series_types import IsolationRow
from clonometer.results.types import Results
from clonometer.units import format_duration_interval
from clonometer.views.axes import number_axis
from clonometer.views.colours import HUES, kinds_of_task, of_mechanism
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.specs import SHAPES, TIP, choice, dots, frame, names_axis, nominal, places, rule, where
from clonometer.views.types import Datum, Spec
from clonometer.words import axis_words

_LINE = 26
_LABEL_LIMIT = 320
_ARRANGEMENTS = {"thread": "as a thread", "process": "as a process", "pool": "in a pre-forked pool"}
_POOL = "isolate.pool"
_TIMES = ("known", "replaced", "restored")
_ALIVE, _DAMAGED, _LOST = HUES["teal"], HUES["orange"], HUES["red"]


def isolation_points(rows: Sequence[IsolationRow]) -> list[dict[str, Any]]:
    """The points of the picture: one for each row, and one for each time that it has."""
    points: list[dict[str, Any]] = []
    of_kinds = kinds_of_task()
    for row in rows:
        shared = {"row": f"{axis_words('fault', row.fault)}, {_ARRANGEMENTS[row.arrangement]}"}
        drawn = of_kinds.get(row.arrangement, of_mechanism(_POOL))._asdict()
        fate = {
            "fate": _DAMAGED if row.damaged else _ALIVE if row.survivors == row.siblings else _LOST,
            "said": said_fate(row),
        }
        how = f", {signal.Signals(row.signal).name}" if row.signal in set(signal.Signals) else ""
        points.append({**shared, **fate, "kind": "fate", "tip": f"{shared['row']}: {fate['said']}{how}"})
        for name in _TIMES:
            if name in row.times_ns and row.times_ns[name][1] > 0:
                median, low, high = row.times_ns[name]
                tip = f"{shared['row']}: {name} after {format_duration_interval(median, low, high)}"
                points.append(
                    {**shared, **drawn, "kind": name, "median_ns": median, "low_ns": low, "high_ns": high, "tip": tip}
                )
    return points


def said_fate(row: IsolationRow) -> str:
    """Say who survives, in a few words."""
    unseen = "" if row.times_ns else ", unseen"
    if row.damaged:
        return f"{row.damaged} of {row.siblings} damaged{unseen}"
    if row.survivors == 0:
        return f"all lost{'' if row.parent_alive else ' with their parent'}{unseen}"
    return f"{row.survivors} of {row.siblings} survive{unseen}"


def isolation_panel(data: Sequence[Datum]) -> Spec:
    """Draw a line for each fault and arrangement: at its left who survives, then when it is known and mended."""
    rows = list(dict.fromkeys(point["row"] for point in data))
    timed = [point for point in data if point["kind"] != "fate"]
    times = number_axis([point[end] for point in timed for end in ("low_ns", "high_ns")], "time since the failure")
    # The left third is for words.
    axis = replace(times, low=times.low * (times.low / times.high) ** 0.62)
    y = names_axis("row", rows, grid=True, labelLimit=_LABEL_LIMIT)
    shapes = choice("kind", _TIMES, places(SHAPES, len(_TIMES)))
    words = nominal("fate", scale=None)
    panel = frame(data, 560, _LINE * max(len(rows), 1), "Failing workers: who survives, and how soon.")
    medians = {"y": y, "x": axis.encode("median_ns"), "color": nominal("colour", scale=None)}
    return {
        **panel,
        "layer": [
            where(
                "datum.kind === 'fate'",
                {
                    "mark": {"type": "text", "align": "left", "fontSize": 12, "fontWeight": 600},
                    "encoding": {"y": y, "x": {"value": 4}, "text": {"field": "said"}, "color": words, "tooltip": TIP},
                },
            ),
            where("datum.kind !== 'fate'", rule({**medians, "x": axis.encode("low_ns"), "x2": {"field": "high_ns"}})),
            where("datum.kind !== 'fate'", dots({**medians, "shape": shapes, "tooltip": TIP}, 60)),
        ],
    }


def _isolation(results: Results) -> list[Row]:
    points = isolation_points(results.series.get("isolation", ()))
    if not points:
        return []
    panel = Panel(
        "isolation-fates",
        "Who survives, and how soon it is repaired",
        alt("Failing workers", points),
        partial(isolation_panel, points),
        tall=False,
    )
    return [Row([panel])]


FIGURES = (
    Figure(
        80,
        "isolation",
        "failing workers",
        "worker that fails (the plan isolate has)",
        "A worker fails: who survives, and how soon is it repaired?",
        answered_by("isolation"),
        _isolation,
        Section(
            "A worker fails",
            "Failure",
            "At the left how many of its siblings survive; then how long "
            "after the failure it is known, somebody else does its work, and all are as many as before. Medians with "
            "95% intervals; the axis is logarithmic.",
        ),
    ),
)
