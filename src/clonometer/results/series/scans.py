"""Scans: rows of a run that differ in one numeric axis alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.plan.qualifiers import qualified_by
from clonometer.results.rows.evidence import Book, Evidence, once_per_book
from clonometer.results.series_types import TASK_KIND, ScanSeries

_NUMERIC = ("bytes", "count")
# Workload, quantity, temperature, placement, and what else is off its default.
ScanKey = tuple[object, ...]


@dataclass(frozen=True)
class Scan:
    """One quantity of one workload at several values of ``axis``; ``condition`` is what else is off its default.

    ``points`` are in rising order of the axis, one for each value, at least two.
    """

    axis: str
    condition: Mapping[str, int | str]
    points: tuple[Evidence, ...]


@once_per_book
def scans_of(book: Book) -> tuple[Scan, ...]:
    """Find every scan of a run, in the order of the plan.

    Where tasks were free to run anywhere, each observed placement is a scan of its own; else the one with most
    samples stands for a condition. An axis that says what another one's things are (which kind of VMAs) says
    nothing where there are none of them, so that the point without them belongs to every kind.

    Empty where no numeric axis has two values.
    """
    axes = dict.fromkeys(
        axis for row in book.rows for axis in book.changes(row.estimate) if book.kind(axis) in _NUMERIC
    )
    return tuple(scan for axis in axes for scan in _scans_along(book, axis))


def _scans_along(book: Book, axis: str) -> list[Scan]:
    groups: dict[ScanKey, dict[int, Evidence]] = {}
    changes_of: dict[ScanKey, dict[str, int | str]] = {}
    for row in book.rows:
        estimate = row.estimate
        if axis not in estimate.condition:
            continue
        others = book.changes(estimate, axis)
        where = estimate.temperature, estimate.free_placement
        key: ScanKey = (estimate.workload, estimate.quantity, *where, tuple(others.items()))
        changes_of[key] = others
        points = groups.setdefault(key, {})
        x = int(estimate.condition[axis])
        if x not in points or points[x].estimate.n_samples < estimate.n_samples:
            points[x] = row
    for key, points in groups.items():
        _borrow_zero(groups, key, points, changes_of[key], axis)
    return [
        Scan(axis, changes_of[key], tuple(points[x] for x in sorted(points)))
        for key, points in groups.items()
        if len(points) > 1
    ]


def _borrow_zero(
    groups: Mapping[ScanKey, dict[int, Evidence]],
    key: ScanKey,
    points: dict[int, Evidence],
    others: Mapping[str, int | str],
    axis: str,
) -> None:
    """Give a scan with other axes the point at zero of the same scan without one of them."""
    if len(points) < 2 or 0 in points:
        return
    for name in others:
        without = tuple((other, value) for other, value in others.items() if other != name)
        plain = groups.get((*key[:-1], without), {})
        if 0 in plain and name in qualified_by(axis):
            points[0] = plain[0]
            return


def said_condition(scan: Scan) -> dict[str, int | str]:
    """What to say of a scan: what is off its default, and of what kind its tasks are, since that is compared."""
    first = scan.points[0].estimate
    kind = {name: first.condition[name] for name in (TASK_KIND,) if name in first.condition}
    return {**kind, **scan.condition}


def series_of(book: Book, scan: Scan) -> ScanSeries:
    """A scan ready to plot."""
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
