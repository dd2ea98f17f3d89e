"""The figures of switching: against the number of tasks, and against the memory that they work on."""

from __future__ import annotations

from functools import partial

from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Section, answered_by
from clonometer.views.scans import Scanned

RING, WORKING_SET = "ring_tasks", "working_set_bytes"


FIGURES = (
    Figure(
        110,
        "ring",
        "switches against the number of tasks",
        "cells that differ in ring_tasks",
        "Does a switch cost more among more tasks?",
        answered_by("scan.ring_tasks", "switch.kinds"),
        partial(scan_rows, "ring"),
        Section(
            "Switching among many tasks",
            "Tasks",
            "The same switch, with more tasks in turn. Medians with 95% intervals; an axis that spans far is "
            "logarithmic, and says so.",
        ),
        scans=Scanned(draws=lambda line: line.axis == RING),
    ),
    Figure(
        115,
        "working_set",
        "switches against the memory that the tasks work on",
        "cells that differ in working_set_bytes",
        "What does a switch cost where tasks use memory?",
        answered_by("caches", "switch.indirect"),
        partial(scan_rows, "working_set"),
        Section(
            "Switching among tasks that use memory",
            "Working set",
            "The same switch, with more memory that each task works on before it. Medians with 95% intervals; an axis "
            "that spans far is logarithmic, and says so.",
        ),
        scans=Scanned(draws=lambda line: line.axis == WORKING_SET),
    ),
)
