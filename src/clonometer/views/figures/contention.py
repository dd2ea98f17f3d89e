"""The figure of contention: what an operation costs threads and processes, as more of them do it at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.results.series.types import ScanSeries
from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Section
from clonometer.views.scans import TASK_KIND, ScanChart, Scanned, but_for_kind, family_title, make_chart
from clonometer.words import PLACEMENT_NAMES, axis_words, mechanism_name

FAMILY = "contend"
_QUANTITY = "op_ns"
_SIDES = ("threads", "processes")


def _chart_of_operations(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    """Threads set against processes: a panel for each operation."""
    leading = [line for line in lines if line.quantity == _QUANTITY]
    names = [axis_words(TASK_KIND, line.condition.get(TASK_KIND, "thread")) for line in leading]
    named = zip(leading, names, strict=True)
    return make_chart(lines[0], named, _operation, title=family_title(lines), labels=_SIDES, shared=False)


def _operation(line: ScanSeries) -> str:
    words = [axis_words(*item) for item in but_for_kind(line.condition)]
    words += [PLACEMENT_NAMES[line.placement]] if line.placement in PLACEMENT_NAMES else []
    return ", ".join([mechanism_name(line.workload), *words])


FIGURES = (
    Figure(
        100,
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
        scans=Scanned(draws=lambda line: line.family == FAMILY, chart_of=_chart_of_operations, before=lambda _: ""),
    ),
)
