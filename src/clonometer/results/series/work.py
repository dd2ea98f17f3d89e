"""What views print and draw of fits and ablations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.series.ablation import KIND, SIDES, AblationEvidence, ablations_of
from clonometer.results.series.fits import fits_of
from clonometer.results.series.scans import said_condition
from clonometer.results.series.types import AblationRung, AblationSeries, FitPanel, FitSeries, ScanSeries
from clonometer.stats.interval import Interval

Ends = tuple[float, float, float]

_EACH = "whole_each_ns"
# A stretch of points that lie close is worth a chart of its own from this many on.
_DENSE_POINTS = 5


def fit_series(book: Book, seed: int) -> tuple[FitSeries, ...]:
    """Every fit of a run (`clonometer.results.series.fits.fits_of`), in the order of the plan."""
    found = []
    for fit in fits_of(book, seed):
        first = fit.scan.points[0].estimate
        x, y_ns = fit.curve()
        found.append(
            FitSeries(
                workload=first.workload,
                family=first.family,
                quantity=first.quantity,
                axis=fit.scan.axis,
                condition=said_condition(fit.scan),
                points=fit.x,
                coefficients=tuple(_ends(one) for one in fit.polynomial.coefficients),
                r_squared=_ends(fit.polynomial.r_squared),
                n_values=fit.n_values,
                x=x,
                y_ns=y_ns,
            )
        )
    return tuple(found)


def ablation_series(book: Book, seed: int) -> tuple[AblationSeries, ...]:
    """Every ablation of a run (`clonometer.results.series.ablation.ablations_of`)."""
    return tuple(_ablation(book, one) for one in ablations_of(book, seed))


def _ablation(book: Book, found: AblationEvidence) -> AblationSeries:
    ladder = found.ladder
    rungs = []
    for place, rung in enumerate(found.rungs):
        share = ladder.shares[place - 1] if place else None
        rungs.append(
            AblationRung(
                axis=rung.taken[0] if rung.taken else None,
                value=rung.taken[1] if rung.taken else None,
                first_ns=_median(rung.sides[0]),
                second_ns=_median(rung.sides[1]),
                gap_ns=_ends(ladder.gaps[place]),
                gap_relative=_ends(ladder.relative[place]),
                step_ns=_ends(ladder.steps[place - 1]) if place else None,
                share=None if share is None else _ends(share),
            )
        )
    first = found.rungs[0].sides[0].estimate
    rest = ladder.remainder_share
    return AblationSeries(
        workload=found.workload,
        quantity=found.quantity,
        axis=KIND,
        sides=SIDES,
        condition={axis: value for axis, value in book.changes(first).items() if axis != KIND},
        rungs=tuple(rungs),
        remainder_share=None if rest is None else _ends(rest),
        n_processes=ladder.gaps[0].n,
    )


def _median(row: Evidence) -> float:
    return row.estimate.median_ns or 0.0


def _ends(one: Interval) -> Ends:
    return one.value, one.low, one.high


def fit_panels(scans: Sequence[ScanSeries], fits: Sequence[FitSeries]) -> tuple[FitPanel, ...]:
    """Arrange fitted scans as charts: those of one axis and condition together, whatever kind the tasks are of.

    Parameters
    ----------
    scans, fits
        What the run has of both.

    Returns
    -------
    tuple of FitPanel
        For each group the whole axis, then the stretch where points lie closest, the range of the curves where that is
        not all, and the time for each worker.
    """
    panels: list[FitPanel] = []
    keys = dict.fromkeys((fit.workload, fit.axis, fit.quantity, _apart_from_kind(fit.condition)) for fit in fits)
    for workload, axis, quantity, condition in keys:
        key = (workload, axis, condition)
        own = [scan for scan in scans if (scan.workload, scan.axis, _apart_from_kind(scan.condition)) == key]
        whole = [scan for scan in own if scan.quantity == quantity]
        curves = [
            fit
            for fit in fits
            if (fit.workload, fit.axis, _apart_from_kind(fit.condition)) == key and fit.quantity == quantity
        ]
        x = whole[0].x
        points = curves[0].points
        everywhere = len(points) == len(x)
        named = dict(condition)
        panels.append(FitPanel(axis, "whole", quantity, named, whole, curves if everywhere else ()))
        dense = _dense(x)
        if dense is not None:
            panels.append(FitPanel(axis, "dense", quantity, named, [_cut(one, *dense) for one in whole], ()))
        if not everywhere:
            within = [_cut(one, points[0], points[-1]) for one in whole]
            panels.append(FitPanel(axis, "fitted", quantity, named, within, curves))
        each = [scan for scan in own if scan.quantity == _EACH]
        if axis == "workers" and each:
            panels.append(FitPanel(axis, "each", _EACH, named, each, ()))
    return tuple(panels)


def _apart_from_kind(condition: Mapping[str, int | str]) -> tuple[tuple[str, int | str], ...]:
    return tuple((axis, value) for axis, value in condition.items() if axis != KIND)


def _dense(x: Sequence[int]) -> tuple[int, int] | None:
    """The ends of the longest stretch with the smallest step, if that is not the whole."""
    steps = [after - before for before, after in pairwise(x)]
    best: tuple[int, int] | None = None
    first = 0
    for place, step in enumerate([*steps, 0]):
        if step != min(steps):
            if place - first + 1 >= max(_DENSE_POINTS, 0 if best is None else best[1] - best[0] + 2):
                best = (first, place)
            first = place + 1
    if best is None or best[1] - best[0] + 1 == len(x):
        return None
    return x[best[0]], x[best[1]]


def _cut(one: ScanSeries, low: int, high: int) -> ScanSeries:
    kept = [place for place, value in enumerate(one.x) if low <= value <= high]
    return replace(
        one,
        x=tuple(one.x[place] for place in kept),
        median_ns=tuple(one.median_ns[place] for place in kept),
        low_ns=tuple(one.low_ns[place] for place in kept),
        high_ns=tuple(one.high_ns[place] for place in kept),
    )
