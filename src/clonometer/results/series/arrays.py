"""Arrays ready to plot: distributions, and every quantity against every number that the run varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.families import axis as axis_of
from clonometer.families import is_launch
from clonometer.plan.qualifiers import QUALIFIES
from clonometer.results.rows.evidence import STAGES, Book
from clonometer.results.series.all import distinguishable_scans
from clonometer.results.series.scans import Scan, scans_of, series_of
from clonometer.results.series_types import EcdfSeries, ScanSeries
from clonometer.stats.ecdf import thin_ecdf

_MEMORY = "parent_bytes"
#: What a parent's memory is made of, and its state at each launch, with what is usual: each has a line of its own.
_OF_MEMORY = {name: qualifier.usual for name, qualifier in QUALIFIES.items() if qualifier.of == _MEMORY}
_USUAL = "warm"


def ecdf_series(book: Book) -> tuple[EcdfSeries, ...]:
    """Distributions of every launch without extra memory: all stages, placements and linkages.

    Times are rounded to whole ns and fractions to 5 digits, so that a report stays small.

    In the order of the plan; empty where nothing was launched.
    """
    series = []
    for row in book.rows:
        estimate = row.estimate
        drawn_apart = all(axis_of(name).drawn_apart for name in book.changes(estimate))
        if not is_launch(estimate.family) or not drawn_apart:
            continue
        if estimate.stage is None or estimate.detail or row.group is None:
            continue
        x, fraction = thin_ecdf(row.group.ordered.round())
        series.append(
            EcdfSeries(
                cell=estimate.cell,
                workload=estimate.workload,
                family=estimate.family,
                stage=estimate.stage,
                placement=estimate.placement,
                temperature=estimate.temperature,
                x_ns=tuple(x.tolist()),
                fraction=tuple(round(share, 5) for share in fraction.tolist()),
            )
        )
    return tuple(series)


def scan_series(book: Book) -> tuple[ScanSeries, ...]:
    """Every quantity against every numeric axis that the run scans, ready to plot.

    Launches against the parent's memory first, by workload and stage; then the others in the order of the plan, but
    for those that a module of this room tells in its own way (``DISTINGUISHABLE``). Details of an event are none of its
    phases. A series has at least two values of its axis.
    """
    memory, others = [], []
    distinguishable = distinguishable_scans(book)
    for scan in scans_of(book):
        first = scan.points[0].estimate
        if id(scan) in distinguishable:
            continue
        if book.about(first.workload).phases:
            others += [] if first.detail else [replace(series_of(book, scan), phase=True)]
        elif scan.axis == _MEMORY and first.stage in STAGES and set(scan.condition) <= set(_OF_MEMORY):
            memory.append(_memory_series(book, scan))
        else:
            others.append(series_of(book, scan))
    return (*_usual_temperature(memory), *others)


def _memory_series(book: Book, scan: Scan) -> ScanSeries:
    """Launches against the parent's memory: each kind and state of its pages is a line, the usual ones too."""
    # The first point may have no memory, which is of no kind.
    last = scan.points[-1].estimate.condition
    kinds = {axis: last.get(axis, default) for axis, default in _OF_MEMORY.items()}
    return replace(series_of(book, scan), condition=kinds)


def _usual_temperature(series: Sequence[ScanSeries]) -> list[ScanSeries]:
    """Of each workload the warm launches, or where there are none the cold ones; by workload, then by stage."""
    usual: dict[str, str | None] = {}
    for line in series:
        if line.workload not in usual or line.temperature == _USUAL:
            usual[line.workload] = line.temperature
    places = list(usual)
    kept = [line for line in series if line.temperature == usual[line.workload]]
    return sorted(kept, key=lambda line: (places.index(line.workload), STAGES.index(line.stage or "")))
