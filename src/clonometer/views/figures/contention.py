"""The figure of contention: what an operation costs threads and processes, as more of them do it at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.results.series_types import TASK_KIND, ScanSeries
from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Section, answered_by
from clonometer.views.multiples import LineWords
from clonometer.views.scans import Scanned, but_for_kind
from clonometer.words import PLACEMENT_NAMES, axis_words, mechanism_name

FAMILY = "contend"
_QUANTITY = "op_ns"


def _sides(lines: Sequence[ScanSeries]) -> list[LineWords]:
    return [(axis_words(TASK_KIND, line.condition.get(TASK_KIND, "thread")),) for line in lines]


def _operation(line: ScanSeries) -> str:
    words = [axis_words(*item) for item in but_for_kind(line.condition)]
    words += [PLACEMENT_NAMES[line.placement]] if line.placement in PLACEMENT_NAMES else []
    return ", ".join([mechanism_name(line.workload), *words])


FIGURES = (
    Figure(
        100,
        "contention",
        "an operation's cost against the number of workers",
        "cells of contend.* with several numbers of workers",
        "What does an operation cost as more workers do it at once?",
        answered_by("contention"),
        partial(scan_rows, "contention"),
        Section(
            "Workers that share something",
            "Contention",
            "The cost of one operation as more workers do it at the same time: threads of one process, and processes. "
            "Medians with 95% intervals.",
        ),
        scans=Scanned(
            draws=lambda line: line.family == FAMILY,
            # Threads set against processes: a panel for each operation.
            panel_of=_operation,
            words=_sides,
            shared=False,
            leads=lambda line: line.quantity == _QUANTITY,
        ),
    ),
)
