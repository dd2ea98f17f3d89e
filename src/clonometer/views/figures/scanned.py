"""The figures that any family has: a time against a number that no other figure draws, and an event by its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from clonometer.results.series_types import ScanSeries
from clonometer.results.types import Results
from clonometer.views.figures import figures
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.scans import ScanChart, Scanned, but_for_kind, family_title, scan_panel
from clonometer.words import axis_words, mechanism_name, phase_words


def _scanned() -> Mapping[str, Scanned]:
    return {figure.kind: figure.scans for figure in figures() if figure.scans is not None}


def drawn_kind(line: ScanSeries) -> str:
    """The kind of figure that a line belongs to: the first that draws it."""
    return next(kind for kind, scanned in _scanned().items() if scanned.draws(line))


def scan_charts(series: Sequence[ScanSeries], kind: str) -> list[ScanChart]:
    """Arrange the lines of a kind of figure as charts, in the order of the run."""
    return _scanned()[kind].charts([line for line in series if drawn_kind(line) == kind])


def scan_rows(kind: str, results: Results) -> list[Row]:
    """The panels of a figure of scans, a chart a row."""
    return chart_rows(kind, scan_charts(results.scans, kind))


def chart_rows(kind: str, charts: Sequence[ScanChart]) -> list[Row]:
    """The panels of charts, a chart a row."""
    rows = []
    for number, chart in enumerate(charts):
        panels = []
        for index, (name, panel) in enumerate(chart.panels.items()):
            words = alt(f"{panel.quantity.capitalize()} by {panel.x.title}", panel.points)
            title = f"{chart.title}, {name}" if chart.title else name
            panels.append(Panel(f"{kind}-{number}-{index}", title, words, partial(scan_panel, panel), name))
        rows.append(Row(panels, chart.title))
    return rows


def _scan_title(lines: Sequence[ScanSeries]) -> str:
    """Name a chart by its family and axis, and by what all of its lines have off their default."""
    first, *others = (dict(but_for_kind(line.condition)) for line in lines)
    shared = [item for item in first.items() if all(item in condition.items() for condition in others)]
    return ", ".join([family_title(lines), *(axis_words(*item) for item in shared)])


FIGURES = (
    Figure(
        65,
        "story",
        "an event and its phases, such as a fork and its aftermath",
        "event whose phases were measured against a numeric axis (the plan cow has: a fork)",
        "What does an event cost while it happens, and afterwards?",
        answered_by("cow.story"),
        partial(scan_rows, "story"),
        Section(
            "An event and its phases",
            "Phases",
            "What an event costs while it happens, what others notice of it, and what it leaves to be done afterwards. "
            "Medians with 95% intervals; an axis that spans far is logarithmic, and says so.",
        ),
        scans=Scanned(
            draws=lambda line: line.phase,
            panel_of=lambda line: (
                ", ".join(axis_words(*item) for item in line.condition.items()) or "default condition"
            ),
            words=lambda lines: [phase_words(line.family, line.quantity) for line in lines],
            title=lambda lines: mechanism_name(lines[0].workload),
            grouped=lambda line: (line.workload, line.axis),
        ),
    ),
    Figure(
        1000,
        "scan",
        "time against every other number that the run varies",
        "cells that differ in any other numeric axis",
        "What does each thing more cost?",
        lambda results: [f"scan.{line.axis}" for line in results.scans if drawn_kind(line) == "scan"],
        partial(scan_rows, "scan"),
        Section(
            "What each thing more costs",
            "Scans",
            "The same measurement, with one number of its condition varied. Medians with 95% intervals; an axis that "
            "spans far is logarithmic, and says so.",
        ),
        scans=Scanned(draws=lambda _: True, title=_scan_title),
    ),
)
