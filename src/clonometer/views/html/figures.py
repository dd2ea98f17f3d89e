"""The report's figures: specifications, their points, and what the reader can choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clonometer.results.types import Results
from clonometer.views.figures import figures
from clonometer.views.figures.types import Panel
from clonometer.views.labels import family_name, family_place
from clonometer.views.plots import ecdf_axis, ecdf_index, stage_title
from clonometer.views.specs import DASHES, PAGE, ecdf_panel, theme
from clonometer.words import stage_place

#: Points of all distributions together, so that the page stays below 2 MB however many cells a run has.
POINT_BUDGET = 24_000
LEAST_POINTS = 24
MOST_SERIES = 600
MOST_POINTS = 400
EVERY = "all"
PLAIN = "plain"
#: The size of a chart on the page: as wide as there is room.
_WIDE = {"width": "container"}
_TALL = {**_WIDE, "height": 300}


def figure_content(results: Results) -> dict[str, Any]:
    """Gather all figures: ``charts`` that are drawn as they are, and the distributions with their choices."""
    drawn = [figure for figure in figures() if figure.section or figure.stands_in == "answer"]
    charts = [chart_of(figure.kind, panel) for figure in drawn for row in figure.rows(results) for panel in row.panels]
    ecdf = _ecdf(results)
    return {
        "any": bool(charts or ecdf["series"]),
        "theme": theme(*PAGE),
        "dashes": list(DASHES),
        "charts": charts,
        "ecdf": ecdf,
    }


def figure_sections(results: Results, charts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Say which of the charts and tables stand together, under which heading; in the order of the page."""
    sections = []
    for figure in figures():
        drawn = [chart for chart in charts if chart["kind"] == figure.kind]
        if figure.section and drawn:
            section = {"id": figure.kind, "charts": drawn, "tables": figure.tables(results)}
            sections.append({**asdict(figure.section), **section})
    return sections


def figure_readings() -> dict[str, str]:
    """How to read the figures that stand in sections of another kind, by these sections."""
    return {figure.stands_in: figure.reading for figure in figures() if figure.stands_in}


def chart_of(kind: str, panel: Panel) -> dict[str, Any]:
    """A panel as the page draws it."""
    spec = {**panel.draw(), **(_TALL if panel.tall else _WIDE)}
    about = {"title": panel.title, "alt": panel.alt, "caption": panel.caption}
    return {"id": panel.id, "kind": kind, **about, "spec": spec}


def _ecdf(results: Results) -> dict[str, Any]:
    kept = results.ecdfs[:MOST_SERIES]
    points = max(LEAST_POINTS, min(MOST_POINTS, POINT_BUDGET // max(len(kept), 1)))
    index = ecdf_index(results, kept, points)
    conditions = list(dict.fromkeys(entry["condition"] for entry in index if not entry["plain"]))
    has_plain = any(entry["plain"] for entry in index)
    temperatures = _values_in_order(index, "temperature", ("warm", "cold"))
    choices = {
        "family": [
            [name, family_name(name)] for name in sorted({entry["family"] for entry in index}, key=family_place)
        ],
        "stage": [[name, stage_title(name)] for name in sorted({entry["stage"] for entry in index}, key=stage_place)],
        "temperature": [[name, name] for name in temperatures],
        "placement": [[name, name] for name in _values_in_order(index, "placement", ("pinned",))],
        "condition": [[name, name] for name in conditions],
    }
    if len(temperatures) > 1:
        choices["temperature"].append([EVERY, "warm and cold"])
    if has_plain:
        choices["condition"].insert(0, [PLAIN, "plain"])
    if conditions and (has_plain or len(conditions) > 1):
        choices["condition"].append([EVERY, "all, side by side"])
    chosen = {name: options[0][0] if options else "" for name, options in choices.items()}
    if choices["stage"]:
        chosen["stage"] = choices["stage"][-1][0]
    chosen["temperature"] = choices["temperature"][-1][0] if choices["temperature"] else ""
    return {
        "series": index,
        "choices": choices,
        "chosen": chosen,
        "left_out": len(results.ecdfs) - len(kept),
        "spec": {**ecdf_panel([], drawn={}, axis=ecdf_axis(index)), **_TALL},
        "axes": {
            family: {condition: _ecdf_x(index, family, condition) for condition, _ in choices["condition"]}
            for family, _ in choices["family"]
        },
    }


def _ecdf_x(index: Sequence[dict[str, Any]], family: str, condition: str) -> dict[str, Any]:
    """The axis of all that has a family and condition, so that it stays while anything else is chosen."""
    return ecdf_axis(
        [
            entry
            for entry in index
            if entry["family"] == family
            and (condition == EVERY or (entry["plain"] if condition == PLAIN else entry["condition"] == condition))
        ]
    ).encode("time_ns")


def _values_in_order(index: Sequence[dict[str, Any]], name: str, order: Sequence[str]) -> list[str]:
    values = dict.fromkeys(str(entry[name]) for entry in index)
    return [*(value for value in order if value in values), *(value for value in values if value not in order)]
