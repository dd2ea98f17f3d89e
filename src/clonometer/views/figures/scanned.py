"""The figures that any family has: a time against a number that no other figure draws, and an event by its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from clonometer.results.series.types import ScanSeries
from clonometer.results.types import Results
from clonometer.views.against import scan_panel
from clonometer.views.figures import figures
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, in_rows
from clonometer.views.plots import time_domain
from clonometer.views.scans import ScanChart, Scanned, make_chart
from clonometer.words import axis_title, axis_words, mechanism_name, stage_name


def _scanned() -> Mapping[str, Scanned]:
    return {figure.kind: figure.scans for figure in figures() if figure.scans is not None}


def drawn_kind(line: ScanSeries) -> str:
    """The kind of figure that a line belongs to: the first that draws it."""
    return next(kind for kind, scanned in _scanned().items() if scanned.draws(line))


def scan_charts(series: Sequence[ScanSeries], kind: str) -> list[ScanChart]:
    """Arrange the lines of a kind of figure as charts, in the order of the run."""
    return _scanned()[kind].charts([line for line in series if drawn_kind(line) == kind])


def scan_rows(kind: str, results: Results) -> list[Row]:
    """The panels of a figure of scans, a few to a row."""
    rows = []
    scanned = _scanned()[kind]
    width, height = scanned.size
    for number, chart in enumerate(scan_charts(results.scans, kind)):
        panels = []
        for place, (name, panel) in enumerate(chart.panels.items()):
            draw = partial(
                scan_panel,
                panel.points,
                labels=chart.labels,
                axis_title=axis_title(chart.axis),
                axis_kind=chart.axis_kind,
                domain=chart.domain or time_domain(panel.points, "low", "high"),
                quantity=panel.quantity,
                unit=panel.unit,
                logarithmic=chart.logarithmic,
                width=width,
                height=height,
            )
            words = alt(f"{panel.quantity.capitalize()} by {axis_title(chart.axis)}", panel.points)
            title = f"{chart.title}, {name}" if chart.title else name
            panels.append(Panel(f"{kind}-{number}-{place}", title, words, draw, f"{scanned.before(chart)}{name}"))
        rows += in_rows(panels)
    return rows


def _story_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    def condition(line: ScanSeries) -> str:
        return ", ".join(axis_words(*item) for item in line.condition.items()) or "as usual"

    named = [(line, stage_name(line.stage, line.quantity)) for line in lines]
    return make_chart(lines[0], named, condition, title=mechanism_name(lines[0].workload))


FIGURES = (
    Figure(
        95,
        "story",
        "an event and its phases, such as a fork and its aftermath",
        "event whose phases were measured against a numeric axis (the plan cow has: a fork)",
        partial(scan_rows, "story"),
        Section(
            "An event and its phases",
            "Phases",
            "What an event costs while it happens, what others notice of it, and what it leaves to be done afterwards. "
            "Medians with 95% intervals; an axis that spans far is logarithmic, and says so.",
        ),
        own_colours=True,
        scans=Scanned(
            draws=lambda line: line.phase,
            grouped=lambda line: (line.workload, line.axis),
            chart_of=_story_chart,
            before=lambda chart: f"{chart.title}, ",
        ),
    ),
    Figure(
        1000,
        "scan",
        "time against every other number that the run varies",
        "cells that differ in any other numeric axis",
        partial(scan_rows, "scan"),
        Section(
            "What each thing more costs",
            "Scans",
            "The same launch, with one number of its condition varied. Medians with 95% intervals; an axis that spans "
            "far is logarithmic, and says so.",
        ),
        own_colours=True,
        scans=Scanned(draws=lambda _: True),
    ),
)
