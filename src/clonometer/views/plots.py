"""Turns results into the points that the specifications draw: adds labels and texts, works nothing out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.results.series_types import EcdfSeries
from clonometer.results.types import Estimate, Results
from clonometer.views.axes import NumberAxis, number_axis
from clonometer.views.colours import Drawn, of_mechanism
from clonometer.views.labels import condition_phrases, placement_name, shown_axes
from clonometer.views.rows import EstimateRow, families, make_rows, pick_rows
from clonometer.words import mechanism_name, stage_name, stage_place

#: Rows of the short table and of the overview: what a terminal of 25 lines has room for.
SHORT_ROWS = 16
_MOST_POINTS = 400
# A distribution is chosen by it beside its condition.
_CHOSEN_APART = "placement"


def short_rows(results: Results) -> list[EstimateRow]:
    """The rows of the short table."""
    return pick_rows(make_rows(results.cells), SHORT_ROWS)


def overview_points(rows: Sequence[EstimateRow]) -> list[dict[str, Any]]:
    """The points of the overview: one for each row and temperature that has a median."""
    return [
        {
            "mechanism": row.label,
            **of_mechanism(row.workload)._asdict(),
            "stage": row.stage,
            "temperature": estimate.temperature or "warm",
            "median_ns": estimate.median_ns,
            "low_ns": estimate.median_ns if estimate.median_low_ns is None else estimate.median_low_ns,
            "high_ns": estimate.median_ns if estimate.median_high_ns is None else estimate.median_high_ns,
            "tip": f"{row.label}, {row.stage}, {estimate.temperature or ''}: {interval_text(estimate)}",
        }
        for row in rows
        for estimate in row.estimates.values()
        if estimate.median_ns
    ]


def overview_stages(rows: Sequence[EstimateRow]) -> list[str]:
    """The stages that occur, in order of time, so that each keeps its colour in every family."""
    names = {row.any_estimate.stage: row.stage for row in rows}
    return [names[stage] for stage in sorted(names, key=stage_place)]


def interval_text(estimate: Estimate) -> str:
    """Write an estimate's median with its interval and unit."""
    written = estimate.figures()
    if written is None:
        return "not measured"
    if estimate.median_low_ns is None:
        return f"{written.short}, {'one process' if estimate.drift is None else 'drifts'}: no interval"
    return written.text


def drawable_families(rows: Sequence[EstimateRow]) -> dict[str, list[EstimateRow]]:
    """The families that the overview draws: those with launches in them."""
    return {
        family: members
        for family, members in families(rows).items()
        if any(row.any_estimate.stage and row.any_estimate.median_ns for row in members)
    }


def ecdf_condition(series: EcdfSeries, row: Estimate | None) -> str:
    """Say what sets a distribution apart from its mechanism's plain condition, the placement left out."""
    if row is None:
        return ""
    axes = {name: value for name, value in row.condition.items() if name != _CHOSEN_APART}
    return ", ".join(condition_phrases(series.cell, axes, None))


def ecdf_index(results: Results, ecdfs: Sequence[EcdfSeries], most_points: int = _MOST_POINTS) -> list[dict[str, Any]]:
    """Distributions with what they are chosen by, thinned to at most ``most_points`` each, ends kept."""
    rows = {estimate.cell: estimate for estimate in results.cells}
    placed = {(estimate.cell, estimate.placement): estimate for estimate in results.cells}
    index = []
    for series in ecdfs:
        row = placed.get((series.cell, series.placement), rows.get(series.cell))
        condition = ecdf_condition(series, row)
        name = mechanism_name(series.workload)
        kept = _thin(len(series.x_ns), most_points)
        index.append(
            {
                "label": f"{name}, {condition}" if condition else name,
                **of_mechanism(series.workload)._asdict(),
                "family": series.family,
                "stage": series.stage,
                "temperature": series.temperature or "warm",
                "placement": placement_name(row) if row else str(series.placement or ""),
                "condition": condition,
                "plain": not set(shown_axes(series.cell)) - {_CHOSEN_APART},
                "time_ns": [round(series.x_ns[place]) for place in kept],
                "share": [round(series.fraction[place], 4) for place in kept],
            }
        )
    return index


def ecdf_choice(index: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The distributions to show first: plain conditions if there are any, one placement, pinned if any."""
    plain = [entry for entry in index if entry["plain"]] or list(index)
    placements = sorted({entry["placement"] for entry in plain}, key=lambda name: (name != "pinned", name))
    return [entry for entry in plain if entry["placement"] == placements[0]]


def ecdf_points(index: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The points of chosen distributions, each rising from the axis; a log axis has no place for 0."""
    points = []
    for series in index:
        shared = {name: series[name] for name in ("label", "of", "temperature")}
        pairs = [pair for pair in zip(series["time_ns"], series["share"], strict=True) if pair[0] > 0]
        if pairs:
            points.append({**shared, "time_ns": pairs[0][0], "share": 0})
        points += [{**shared, "time_ns": time_ns, "share": share} for time_ns, share in pairs]
    return points


def ecdf_drawn(index: Sequence[Mapping[str, Any]]) -> dict[str, Drawn]:
    """What distributions are of, by their labels."""
    return {series["label"]: Drawn(series["of"], series["colour"]) for series in index}


def ecdf_axis(index: Sequence[Mapping[str, Any]]) -> NumberAxis:
    """An axis of times on which distributions have room."""
    times = [end for entry in index for end in (entry["time_ns"][0], entry["time_ns"][-1]) if end > 0]
    return number_axis(times, "time since the start of the call")


def stage_title(stage: str) -> str:
    """A panel's title for a stage."""
    return f"until {stage_name(stage)}"


def _thin(size: int, most: int) -> list[int]:
    if size <= most:
        return list(range(size))
    return [round(step * (size - 1) / (most - 1)) for step in range(most)]
