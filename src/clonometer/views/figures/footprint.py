"""The figure of what idle tasks hold: bars, stacked from their parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from clonometer.results.series_types import FootprintBar
from clonometer.results.types import Results
from clonometer.units import approximate_bytes
from clonometer.views.axes import BYTES_LABEL
from clonometer.views.colours import OTHERS
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.specs import LINE_HEIGHT, TIP, choice, frame, names_axis, places, quantitative
from clonometer.views.types import Datum, Spec

_LABEL_LIMIT = 420
_LEAST_TICKS = 4


def part_points(bars: Sequence[FootprintBar]) -> list[dict[str, Any]]:
    """The points of the bars: one for each part of each, in their order."""
    return [
        {
            "task": bar.label,
            "part": part,
            "place": index,
            "size_bytes": size,
            "tip": f"{bar.label}, {part}: {approximate_bytes(size)}",
        }
        for bar in bars
        for index, (part, size) in enumerate(bar.parts_bytes.items())
    ]


def size_ticks(most_bytes: float) -> list[int]:
    """Choose where an axis of sizes has its ticks: four to eight steps of a power of two.

    Examples
    --------
    >>> size_ticks(200_000)
    [0, 32768, 65536, 98304, 131072, 163840, 196608]
    """
    step = 1 << max((int(most_bytes) // _LEAST_TICKS).bit_length() - 1, 0)
    return list(range(0, int(most_bytes) + 1, step))


def _longest(data: Sequence[Datum]) -> float:
    tasks = dict.fromkeys(point["task"] for point in data)
    return max((sum(point["size_bytes"] for point in data if point["task"] == task) for task in tasks), default=0.0)


def parts_panel(data: Sequence[Datum]) -> Spec:
    """Draw bars on a common axis of bytes, a colour for each part.

    Each part has ``task``, ``part``, ``place``, ``size_bytes`` and ``tip``.
    """
    tasks = list(dict.fromkeys(point["task"] for point in data))
    parts = list(dict.fromkeys(point["part"] for point in data))
    axis = {"title": "memory of each task", "labelExpr": BYTES_LABEL, "values": size_ticks(_longest(data))}
    panel = frame(data, 520, LINE_HEIGHT * max(len(tasks), 1), "Memory of each idle task, by its parts.")
    return {
        **panel,
        "mark": {"type": "bar", "height": {"band": 0.65}},
        "encoding": {
            "y": names_axis("task", tasks, labelLimit=_LABEL_LIMIT),
            "x": quantitative("size_bytes", stack="zero", axis=axis),
            "color": choice("part", parts, places(OTHERS, len(parts))),
            "order": quantitative("place"),
            "tooltip": TIP,
        },
    }


def _footprint(results: Results) -> list[Row]:
    points = part_points(results.series.get("footprints", ()))
    if not points:
        return []
    words = alt("Memory of each idle task by its parts", points)
    return [
        Row([Panel("footprint-parts", "Memory of each idle task", words, partial(parts_panel, points), tall=False)])
    ]


FIGURES = (
    Figure(
        90,
        "footprint",
        "memory of idle tasks",
        "idle tasks whose memory was read (the plan footprint has)",
        "What does an idle task hold in memory?",
        answered_by("footprint.process_thread", "footprint"),
        _footprint,
        Section(
            "What idle tasks hold",
            "Footprint",
            "Memory of each of many tasks that do nothing, by its parts, as medians. The machine's account counts "
            "whatever else allocated meanwhile; that of a control group only what its tasks were charged.",
        ),
    ),
)
