"""Figures of a time against a number that the run varies, and of an event by its phases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from clonometer.results.types import Results
from clonometer.views.against import messages_panel, scan_panel
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, in_rows
from clonometer.views.labels import family_name
from clonometer.views.plots import (
    time_domain,
)
from clonometer.views.scans import ScanChart, message_charts, phase_charts, scan_charts, scans_drawn
from clonometer.words import axis_title


def _scan_rows(kind: str, charts: Sequence[ScanChart], short: Callable[[ScanChart], str]) -> list[Row]:
    rows = []
    for number, chart in enumerate(charts):
        panels = []
        for place, (name, points) in enumerate(chart.panels.items()):
            draw = partial(
                scan_panel,
                points,
                labels=chart.labels,
                axis_title=axis_title(chart.axis),
                axis_kind=chart.axis_kind,
                domain=chart.domain or time_domain(points, "low_ns", "high_ns"),
            )
            words = alt(f"Time by {axis_title(chart.axis)}", points)
            panels.append(
                Panel(f"{kind}-{number}-{place}", f"{chart.title}, {name}", words, draw, f"{short(chart)}{name}")
            )
        rows += in_rows(panels)
    return rows


def _scans(kind: str, results: Results) -> list[Row]:
    charts = scan_charts(scans_drawn(results.scans, kind))
    # Panels of operations side by side name themselves.
    return _scan_rows(kind, charts, lambda chart: "" if kind == "contention" else f"{family_name(chart.family)}, ")


def _story(results: Results) -> list[Row]:
    return _scan_rows("story", phase_charts(results.phases), lambda chart: f"{chart.title}, ")


def _messages(results: Results) -> list[Row]:
    rows = []
    for number, chart in enumerate(message_charts(results.messages)):
        panels = []
        for name, points in chart.panels.items():
            draw = partial(messages_panel, points, labels=chart.labels, quantity=name, domain=chart.domains[name])
            words = alt(f"{name.capitalize()} by size of a message", points)
            title = f"{name.capitalize()} of messages, {chart.title}"
            panels.append(Panel(f"messages-{number}-{name}", title, words, draw))
        rows.append(Row(panels))
    return rows


FIGURES = (
    Figure(
        "story",
        "an event and its phases, such as a fork and its aftermath",
        "event whose phases were measured against a numeric axis (the plan cow has: a fork)",
        _story,
        Section(
            "An event and its phases",
            "Phases",
            "What an event costs while it happens, what others notice of it, and what it leaves to be done afterwards. "
            "Medians with 95% intervals; an axis that spans far is logarithmic, and says so.",
        ),
        own_colours=True,
    ),
    Figure(
        "contention",
        "an operation's cost against the workers",
        "cells of contend.* with several numbers of workers",
        partial(_scans, "contention"),
        Section(
            "Workers that share something",
            "Contention",
            "The cost of one operation as more workers do it at the same time: threads of one process, and processes. "
            "Medians with 95% intervals.",
        ),
    ),
    Figure(
        "ring",
        "switches against the number of tasks",
        "cells that differ in ring_tasks",
        partial(_scans, "ring"),
        Section(
            "Switching among many tasks",
            "Tasks",
            "The same switch, with more tasks in turn. Medians with 95% intervals; an axis that spans far is "
            "logarithmic, and says so.",
        ),
        own_colours=True,
    ),
    Figure(
        "working_set",
        "switches against the memory that the tasks work on",
        "cells that differ in working_set_bytes",
        partial(_scans, "working_set"),
        Section(
            "Switching among tasks that use memory",
            "Working set",
            "The same switch, with more memory that each task works on before it. Medians with 95% intervals; an axis "
            "that spans far is logarithmic, and says so.",
        ),
        own_colours=True,
    ),
    Figure(
        "messages",
        "latency and bandwidth against size",
        "cells that differ in message_bytes",
        _messages,
        Section(
            "Messages",
            "Messages",
            "How long a message takes to the other task, and how much goes through in a second, by its size. Medians "
            "with 95% intervals; both axes are logarithmic.",
        ),
    ),
    Figure(
        "scan",
        "time against every other number that the run varies",
        "cells that differ in any other numeric axis",
        partial(_scans, "scan"),
        Section(
            "What each thing more costs",
            "Scans",
            "The same launch, with one number of its condition varied. Medians with 95% intervals; an axis that spans "
            "far is logarithmic, and says so.",
        ),
        own_colours=True,
    ),
)
