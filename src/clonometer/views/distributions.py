"""The distributions of launch times as a chart of which a page's reader chooses the lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonometer.results.types import Results
from clonometer.views.document import DocumentBlock, LineChoice, SwitchedFigure
from clonometer.views.labels import family_name, family_place
from clonometer.views.plots import ecdf_axis, ecdf_index, ecdf_points, stage_title
from clonometer.views.specs import ecdf_panel
from clonometer.words import stage_place

#: Points of all distributions together, so that a page stays below 2 MB however many cells a run has.
POINT_BUDGET = 24_000
LEAST_POINTS = 24
MOST_SERIES = 600
MOST_POINTS = 400
EVERY, PLAIN = "all", "plain"
_HEADING = "Distributions of launch times"


def distributions(results: Results, reading: str) -> list[DocumentBlock]:
    """Make the chart of a run's distributions, if it has any; ``reading`` says how to read it."""
    kept = results.ecdfs[:MOST_SERIES]
    if not kept:
        return []
    points = max(LEAST_POINTS, min(MOST_POINTS, POINT_BUDGET // len(kept)))
    index = ecdf_index(results, kept, points)
    left_out = len(results.ecdfs) - len(kept)
    switches = _switches(index)
    conditions = next(switch.options for switch in switches if switch.name == "condition")
    return [
        SwitchedFigure(
            _HEADING,
            reading,
            "ecdf",
            _HEADING,
            switches,
            [_line(entry) for entry in index],
            ecdf_panel([], drawn={}, axis=ecdf_axis(index)),
            {
                f"{family} {condition}": ecdf_axis(list(_shown(index, family, condition))).encode("time_ns")
                for family in dict.fromkeys(entry["family"] for entry in index)
                for condition, _ in conditions
            },
            ("family", "condition"),
            note=f"{left_out} more distributions are in the run file." if left_out else "",
            link="Distributions",
            anchor="distributions",
        )
    ]


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    points = ecdf_points([entry])
    condition = PLAIN if entry["plain"] else entry["condition"]
    return {
        **{name: entry[name] for name in ("label", "of", "colour", "temperature")},
        "shown": [
            [entry["family"]],
            [entry["stage"]],
            [entry["temperature"], EVERY],
            [entry["placement"]],
            [condition, EVERY],
        ],
        **{name: [point[name] for point in points] for name in ("time_ns", "share")},
    }


def _switches(index: Sequence[dict[str, Any]]) -> list[LineChoice]:
    families = sorted({entry["family"] for entry in index}, key=family_place)
    stages = sorted({entry["stage"] for entry in index}, key=stage_place)
    temperatures = [(name, name) for name in _in_order(index, "temperature", ("warm", "cold"))]
    temperatures += [(EVERY, "warm and cold")] if len(temperatures) > 1 else []
    placements = [(name, name) for name in _in_order(index, "placement", ("pinned",))]
    special = list(dict.fromkeys(entry["condition"] for entry in index if not entry["plain"]))
    conditions = [(PLAIN, "plain")] if any(entry["plain"] for entry in index) else []
    conditions += [(name, name) for name in special]
    conditions += [(EVERY, "all, side by side")] if special and len(conditions) > 1 else []
    return [
        LineChoice("family", "Family", [(name, family_name(name)) for name in families], families[0]),
        LineChoice("stage", "Stage", [(name, stage_title(name)) for name in stages], stages[-1]),
        LineChoice("temperature", "Temperature", temperatures, temperatures[-1][0]),
        LineChoice("placement", "Placement", placements, placements[0][0]),
        LineChoice("condition", "Condition", conditions, conditions[0][0]),
    ]


def _shown(index: Sequence[dict[str, Any]], family: str, condition: str) -> Iterator[dict[str, Any]]:
    """All that has a family and condition, whose axis stays while anything else is chosen."""
    for entry in index:
        of_condition = entry["plain"] if condition == PLAIN else entry["condition"] == condition
        if entry["family"] == family and (condition == EVERY or of_condition):
            yield entry


def _in_order(index: Sequence[dict[str, Any]], name: str, order: Sequence[str]) -> list[str]:
    values = dict.fromkeys(str(entry[name]) for entry in index)
    return [*(value for value in order if value in values), *(value for value in values if value not in order)]
