"""The studies' plots as arrays ready to draw: what was measured here, fits, and published points."""

from __future__ import annotations

from clonometer.studies.cells import heap
from clonometer.studies.conditions import scans
from clonometer.studies.figures_burian import burian_curves
from clonometer.studies.judge import CALL, Judge
from clonometer.studies.lines import line_of
from clonometer.studies.measured import Measurements
from clonometer.studies.types import Curve

MIB = 1 << 20


def curves(measured: Measurements, judge: Judge) -> list[Curve]:
    """Every plot of the studies for which something was measured."""
    heap_curve = _bendersky(measured)
    return [*([heap_curve] if heap_curve else []), *burian_curves(judge)]


def _bendersky(measured: Measurements) -> Curve | None:
    lines = []
    for workload, label, then in (("launch.fork", "process launch", 35.0), ("launch.pthread", "thread launch", 5.0)):
        points = [
            (size / MIB, row)
            for size, text in scans(measured, heap(workload, "2MiB"))
            if size and (row := measured.find(text, CALL)) is not None
        ]
        if len(points) > 1:
            lines.append(line_of(label, points, 1e3, published=((2.0, then),)))
    if not lines:
        return None
    return Curve(
        "bendersky-2018-heap",
        "bendersky-2018",
        "Launch time as a function of the memory image",
        "Until the call returns, warm, against the heap that was written before; diamonds: published (2018, 2 MB).",
        "heap (MB)",
        "launch time (µs)",
        lines,
    )
