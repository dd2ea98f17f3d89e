"""Arrays ready to plot: distributions, and every quantity against every number that the run varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.families import axis as axis_of
from clonometer.families import is_launch
from clonometer.plan.qualifiers import QUALIFIES
from clonometer.results.rows.evidence import STAGES, Book
from clonometer.results.series.scans import Scan, said_condition, scans_of
from clonometer.results.series.types import EcdfSeries, ScanSeries
from clonometer.stats.ecdf import thin_ecdf

_MEMORY, _MESSAGES = "parent_bytes", "message_bytes"
#: What a parent's memory is made of, and its state at each launch, with what is usual: each has a line of its own.
_OF_MEMORY = {name: qualifier.usual for name, qualifier in QUALIFIES.items() if qualifier.of == _MEMORY}
_USUAL = "warm"
_LATENCY, _STREAM, _BANDWIDTH = "latency_ns", "stream_ns", "bandwidth"


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

    Launches against the parent's memory first, by workload and stage; then the others in the order of the plan. Of
    messages of several sizes latency and bandwidth, at the sizes of which both were measured. Details of an event
    are none of its phases. A series has at least two values of its axis.
    """
    memory, others = [], []
    scans = scans_of(book)
    streams = {_line_of(scan): scan for scan in scans if _is_of_messages(scan, _STREAM)}
    for scan in scans:
        first = scan.points[0].estimate
        phase = bool(book.fact(first.workload, "phases"))
        if scan.axis == _MESSAGES:
            if _is_of_messages(scan, _LATENCY) and _line_of(scan) in streams:
                others += _message_series(book, scan, streams[_line_of(scan)])
        elif phase:
            others += [] if first.detail else [replace(_scan_series(book, scan), phase=True)]
        elif scan.axis != _MEMORY or first.stage is None:
            others.append(_scan_series(book, scan))
        elif first.stage in STAGES and set(scan.condition) <= set(_OF_MEMORY):
            memory.append(_memory_series(book, scan))
    return (*_usual_temperature(memory), *others)


def _scan_series(book: Book, scan: Scan) -> ScanSeries:
    rows = [point.estimate for point in scan.points]
    first = rows[0]
    medians, lows, highs = zip(*(row.median_with_ends for row in rows), strict=True)
    return ScanSeries(
        workload=first.workload,
        family=first.family,
        axis=scan.axis,
        axis_kind=book.kind(scan.axis) or "count",
        stage=first.stage,
        quantity=first.quantity,
        temperature=first.temperature,
        placement=first.free_placement,
        condition=said_condition(scan),
        x=tuple(int(row.condition[scan.axis]) for row in rows),
        medians=medians,
        lows=lows,
        highs=highs,
        detail=first.detail,
    )


def _memory_series(book: Book, scan: Scan) -> ScanSeries:
    """Launches against the parent's memory: each kind and state of its pages is a line, the usual ones too."""
    # The first point may have no memory, which is of no kind.
    last = scan.points[-1].estimate.condition
    kinds = {axis: last.get(axis, default) for axis, default in _OF_MEMORY.items()}
    return replace(_scan_series(book, scan), condition=kinds)


def _usual_temperature(series: Sequence[ScanSeries]) -> list[ScanSeries]:
    """Of each workload the warm launches, or where there are none the cold ones; by workload, then by stage."""
    usual: dict[str, str | None] = {}
    for line in series:
        if line.workload not in usual or line.temperature == _USUAL:
            usual[line.workload] = line.temperature
    places = list(usual)
    kept = [line for line in series if line.temperature == usual[line.workload]]
    return sorted(kept, key=lambda line: (places.index(line.workload), STAGES.index(line.stage or "")))


def _is_of_messages(scan: Scan, quantity: str) -> bool:
    return scan.axis == _MESSAGES and scan.points[0].estimate.quantity == quantity


def _line_of(scan: Scan) -> tuple[object, ...]:
    first = scan.points[0].estimate
    return (first.workload, tuple(scan.condition.items()), first.free_placement)


def _message_series(book: Book, latency: Scan, stream: Scan) -> list[ScanSeries]:
    """Latency, and bandwidth: the size over the time of a message of a stream, in bytes per second."""
    times, streamed = _scan_series(book, latency), _scan_series(book, stream)
    # The longest time is the least bandwidth.
    medians, highs, lows = (
        tuple(size / time_ns * 1e9 if time_ns > 0 else 0.0 for size, time_ns in zip(streamed.x, ends, strict=True))
        for ends in (streamed.medians, streamed.lows, streamed.highs)
    )
    rates = replace(streamed, quantity=_BANDWIDTH, unit="B/s", medians=medians, lows=lows, highs=highs)
    measured = {size for size, rate in zip(rates.x, rates.medians, strict=True) if rate}
    both = [
        line.at([place for place, x in enumerate(line.x) if x in measured & set(times.x)]) for line in (times, rates)
    ]
    return both if len(both[0].x) > 1 else []
