"""Figures of a time against a number that the run varies, and of an event by its phases."""

from __future__ import annotations

from functools import partial

from clonometer.results.types import Results
from clonometer.views.against import scan_panel
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, in_rows
from clonometer.views.labels import family_name
from clonometer.views.plots import time_domain
from clonometer.views.scans import scan_charts
from clonometer.words import axis_title


def scan_rows(kind: str, results: Results) -> list[Row]:
    """The panels of a kind of scans (`clonometer.views.scans`), a few to a row."""
    rows = []
    width, height = _SIZES.get(kind, _USUAL_SIZE)
    for number, chart in enumerate(scan_charts(results.scans, kind)):
        # Panels that say all by themselves stand side by side.
        before = "" if kind in _NAMED else f"{family_name(chart.family) if kind != 'story' else chart.title}, "
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
            panels.append(Panel(f"{kind}-{number}-{place}", title, words, draw, f"{before}{name}"))
        rows += in_rows(panels)
    return rows


#: Kinds of figures whose panels name their family, or need not.
_NAMED = ("memory", "contention", "messages")
#: Width and height of a panel in a picture; two in a row have room.
_SIZES = {"messages": (340, 280)}
_USUAL_SIZE = (300, 260)

FIGURES = (
    Figure(
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
    ),
    Figure(
        "contention",
        "an operation's cost against the workers",
        "cells of contend.* with several numbers of workers",
        partial(scan_rows, "contention"),
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
        partial(scan_rows, "ring"),
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
        partial(scan_rows, "working_set"),
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
        partial(scan_rows, "messages"),
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
        partial(scan_rows, "scan"),
        Section(
            "What each thing more costs",
            "Scans",
            "The same launch, with one number of its condition varied. Medians with 95% intervals; an axis that spans "
            "far is logarithmic, and says so.",
        ),
        own_colours=True,
    ),
)
