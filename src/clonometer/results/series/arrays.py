"""Arrays ready to plot: distributions, launch time against the parent's memory, and any other axis's scan."""

from __future__ import annotations

from collections.abc import Iterable

from clonometer.families import is_launch
from clonometer.results.rows.evidence import STAGES, Book, Evidence
from clonometer.results.series.scans import Scan, said_condition, scans_of
from clonometer.results.series.types import EcdfSeries, MemorySeries, MessageSeries, ScanSeries
from clonometer.results.types import Estimate
from clonometer.stats.ecdf import thin_ecdf
from clonometer.words import axis_words, mechanism_name, placement_name

_PLOTTED_AXES = frozenset(("placement", "linkage"))


def ecdf_series(book: Book) -> tuple[EcdfSeries, ...]:
    """Distributions of every launch without extra memory: all stages, placements and linkages.

    Times are rounded to whole ns and fractions to 5 digits, so that a report stays small.

    Returns
    -------
    tuple of EcdfSeries
        In the order of the plan; empty where nothing was launched.
    """
    found = []
    for row in book.rows:
        estimate = row.estimate
        changes = book.changes(estimate)
        if not is_launch(estimate.family) or set(changes) - _PLOTTED_AXES:
            continue
        if estimate.stage is None or estimate.detail or row.group is None:
            continue
        x, fraction = thin_ecdf(row.group.values.round())
        found.append(
            EcdfSeries(
                label=_label(row, changes),
                cell=estimate.cell,
                workload=estimate.workload,
                family=estimate.family,
                stage=estimate.stage,
                placement=estimate.placement,
                temperature=estimate.temperature,
                x_ns=tuple(x.tolist()),
                fraction=tuple(round(one, 5) for one in fraction.tolist()),
            )
        )
    return tuple(found)


def _label(row: Evidence, changes: dict[str, int | str]) -> str:
    words = [mechanism_name(row.estimate.workload)]
    if "linkage" in changes:
        words.append(axis_words("linkage", changes["linkage"]))
    if "placement" in changes:
        words += [str(changes["placement"]), *filter(None, [placement_name(row.estimate.placement or "")])]
    return ", ".join(words)


def memory_series(book: Book) -> tuple[MemorySeries, ...]:
    """Warm launch time against the parent's memory, for each workload, stage, kind and state of pages.

    Where a workload has no warm cells its cold ones stand in. Other axes are at their defaults. A series has
    at least two sizes.
    """
    found = []
    with_memory = (row.estimate for row in book.rows if "parent_bytes" in row.estimate.condition)
    for workload in dict.fromkeys(estimate.workload for estimate in with_memory):
        for stage in STAGES:
            for (kind, pages), points in _by_pages(book, workload, stage).items():
                if len({point.estimate.condition["parent_bytes"] for point in points}) > 1:
                    found.append(_memory_series(workload, stage, kind, pages, points))
    return tuple(found)


def _memory_series(workload: str, stage: str, kind: str, pages: str, points: list[Evidence]) -> MemorySeries:
    points = sorted(points, key=_parent_bytes)
    rows = [point.estimate for point in points]
    return MemorySeries(
        workload=workload,
        label=mechanism_name(workload) + ("" if pages == "rewritten" else f", {pages} pages"),
        stage=stage,
        pages=pages,
        parent_bytes=tuple(_parent_bytes(point) for point in points),
        page_kind=kind,
        **_medians(rows),
    )


def _medians(rows: Iterable[Estimate]) -> dict[str, tuple[float, ...]]:
    """Medians with the ends of their intervals; where there is none, both ends are the median."""
    found = []
    for row in rows:
        median = row.median_ns or 0.0
        low, high = (median if end is None else end for end in (row.median_low_ns, row.median_high_ns))
        found.append((median, low, high))
    median_ns, low_ns, high_ns = zip(*found, strict=True)
    return {"median_ns": median_ns, "low_ns": low_ns, "high_ns": high_ns}


def _parent_bytes(row: Evidence) -> int:
    return int(row.estimate.condition["parent_bytes"])


def _by_pages(book: Book, workload: str, stage: str) -> dict[tuple[str, str], list[Evidence]]:
    """Rows that differ in the parent's memory alone, by kind and state of its pages."""
    temperatures = {row.estimate.temperature for row in book.rows if row.estimate.workload == workload}
    temperature = next((one for one in ("warm", "cold", None) if one in temperatures), None)
    groups: dict[tuple[str, str], list[Evidence]] = {}
    for row in book.rows:
        estimate = row.estimate
        changes = book.changes(estimate)
        if (estimate.workload, estimate.stage, estimate.temperature) != (workload, stage, temperature):
            continue
        if set(changes) - {"parent_bytes", "pages", "page_kind"} or "parent_bytes" not in estimate.condition:
            continue
        if book.main(workload, changes, temperature, stage) is row:
            key = (str(estimate.condition.get("page_kind", "4k")), str(estimate.condition.get("pages", "rewritten")))
            groups.setdefault(key, []).append(row)
    return groups


def scan_series(book: Book) -> tuple[ScanSeries, ...]:
    """Every quantity against every numeric axis that the run scans, ``parent_bytes`` of launches left out.

    `memory_series` has those, and `phase_series` the phases of one event. A series has at least two values of its axis.

    Returns
    -------
    tuple of ScanSeries
        In the order of the plan.
    """
    found = []
    for scan in scans_of(book):
        first = scan.points[0].estimate
        if (scan.axis == "parent_bytes" and first.stage is not None) or book.fact(first.workload, "phases"):
            continue
        found.append(_scan_series(book, scan))
    return tuple(found)


def phase_series(book: Book) -> tuple[ScanSeries, ...]:
    """Quantities that are phases of one event (the catalogue's ``phases``), against every axis that the run scans.

    Returns
    -------
    tuple of ScanSeries
        In the order of the plan: those with the same workload, axis and condition belong into one picture.
    """
    events = [scan for scan in scans_of(book) if book.fact(scan.points[0].estimate.workload, "phases")]
    return tuple(_scan_series(book, scan) for scan in events if not scan.points[0].estimate.detail)


def _scan_series(book: Book, scan: Scan) -> ScanSeries:
    rows = [point.estimate for point in scan.points]
    first = rows[0]
    return ScanSeries(
        workload=first.workload,
        family=first.family,
        axis=scan.axis,
        axis_kind=book.kind(scan.axis) or "count",
        stage=first.stage,
        quantity=first.quantity,
        temperature=first.temperature,
        placement=first.placement if first.condition.get("placement") == "free" else None,
        condition=said_condition(scan),
        detail=first.detail,
        x=tuple(int(row.condition[scan.axis]) for row in rows),
        **_medians(rows),
    )


def message_series(book: Book) -> tuple[MessageSeries, ...]:
    """Latency and bandwidth against the size of messages, for each way, kind of tasks and placement.

    Returns
    -------
    tuple of MessageSeries
        In the order of the plan. A series has at least two sizes, at each of which both were measured.
    """
    scans = [scan for scan in scans_of(book) if scan.axis == "message_bytes"]
    streams = {_line_of(scan): scan for scan in scans if scan.points[0].estimate.quantity == "stream_ns"}
    found = []
    for scan in scans:
        if scan.points[0].estimate.quantity == "latency_ns" and _line_of(scan) in streams:
            one = _message_series(scan, streams[_line_of(scan)])
            if len(one.message_bytes) > 1:
                found.append(one)
    return tuple(found)


def _line_of(scan: Scan) -> tuple[object, ...]:
    first = scan.points[0].estimate
    return (first.workload, tuple(scan.condition.items()), _free_placement(first))


def _free_placement(one: Estimate) -> str | None:
    return one.placement if one.condition.get("placement") == "free" else None


def _message_series(latency: Scan, stream: Scan) -> MessageSeries:
    times = {_size(point): point.estimate for point in stream.points}
    rows = [point.estimate for point in latency.points if _size(point) in times and times[_size(point)].median_ns]
    sizes = [int(row.condition["message_bytes"]) for row in rows]
    first = latency.points[0].estimate
    medians = _medians(rows) if rows else {"median_ns": (), "low_ns": (), "high_ns": ()}
    streamed = _medians([times[size] for size in sizes]) if rows else medians

    def rates(name: str) -> tuple[float, ...]:
        pairs = zip(sizes, streamed[name], strict=True)
        return tuple(size / time_ns * 1e9 if time_ns > 0 else 0.0 for size, time_ns in pairs)

    return MessageSeries(
        workload=first.workload,
        task_kind=str(first.condition["task_kind"]),
        placement=_free_placement(first),
        condition={axis: value for axis, value in latency.condition.items() if axis != "task_kind"},
        message_bytes=tuple(sizes),
        latency_ns=medians["median_ns"],
        latency_low_ns=medians["low_ns"],
        latency_high_ns=medians["high_ns"],
        bandwidth=rates("median_ns"),
        # The longest time is the least bandwidth.
        bandwidth_low=rates("high_ns"),
        bandwidth_high=rates("low_ns"),
    )


def _size(point: Evidence) -> int:
    return int(point.estimate.condition["message_bytes"])
