"""Scans: rows of a run that differ in one numeric axis alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.plan.qualifiers import qualified_by
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
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
    points: tuple[RunEstimate, ...]


@cached_per_run
def scans_of(estimates: RunEstimates) -> tuple[Scan, ...]:
    """Find every scan of a run, in the order of the plan.

    Where tasks were free to run anywhere, each observed placement is a scan of its own; else the one with most
    samples stands for a condition. An axis that says what another one's things are (which kind of VMAs) says
    nothing where there are none of them, so that the point without them belongs to every kind.

    Empty where no numeric axis has two values.
    """
    axes = dict.fromkeys(
        axis for row in estimates.rows for axis in estimates.changes(row) if estimates.kind(axis) in _NUMERIC
    )
    return tuple(scan for axis in axes for scan in _scans_along(estimates, axis))


def _scans_along(estimates: RunEstimates, axis: str) -> list[Scan]:
    groups: dict[ScanKey, dict[int, RunEstimate]] = {}
    changes_of: dict[ScanKey, dict[str, int | str]] = {}
    for row in estimates.rows:
        if axis not in row.condition:
            continue
        others = estimates.changes(row, axis)
        where = row.temperature, row.free_placement
        key: ScanKey = (row.workload, row.quantity, *where, tuple(others.items()))
        changes_of[key] = others
        points = groups.setdefault(key, {})
        x = int(row.condition[axis])
        if x not in points or points[x].n_samples < row.n_samples:
            points[x] = row
    for key, points in groups.items():
        _borrow_zero(groups, key, points, changes_of[key], axis)
    return [
        Scan(axis, changes_of[key], tuple(points[x] for x in sorted(points)))
        for key, points in groups.items()
        if len(points) > 1
    ]


def _borrow_zero(
    groups: Mapping[ScanKey, dict[int, RunEstimate]],
    key: ScanKey,
    points: dict[int, RunEstimate],
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
    first = scan.points[0]
    kind = {name: first.condition[name] for name in (TASK_KIND,) if name in first.condition}
    return {**kind, **scan.condition}


def series_of(estimates: RunEstimates, scan: Scan) -> ScanSeries:
    """A scan ready to plot."""
    rows = scan.points
    first = rows[0]
    medians, lows, highs = zip(*(row.median_with_ends for row in rows), strict=True)
    return ScanSeries(
        workload=first.workload,
        family=first.family,
        axis=scan.axis,
        axis_kind=estimates.kind(scan.axis) or "count",
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
