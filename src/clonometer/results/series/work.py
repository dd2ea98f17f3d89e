"""What views print and draw of fits and ablations."""

from __future__ import annotations

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.series.ablation import KIND, SIDES, AblationEvidence, ablations_of
from clonometer.results.series.fits import fits_of
from clonometer.results.series.scans import said_condition
from clonometer.results.series.types import AblationRung, AblationSeries, FitSeries
from clonometer.stats.interval import Interval

Ends = tuple[float, float, float]


def fit_series(book: Book, seed: int) -> tuple[FitSeries, ...]:
    """Every fit of a run (`clonometer.results.series.fits.fits_of`), in the order of the plan."""
    fits = []
    for fit in fits_of(book, seed):
        first = fit.scan.points[0].estimate
        x, y_ns = fit.curve()
        fits.append(
            FitSeries(
                workload=first.workload,
                family=first.family,
                quantity=first.quantity,
                axis=fit.scan.axis,
                condition=said_condition(fit.scan),
                points=fit.x,
                coefficients=tuple(_ends(coefficient) for coefficient in fit.polynomial.coefficients),
                r_squared=_ends(fit.polynomial.r_squared),
                n_values=fit.n_values,
                x=x,
                y_ns=y_ns,
            )
        )
    return tuple(fits)


def ablation_series(book: Book, seed: int) -> tuple[AblationSeries, ...]:
    """Every ablation of a run (`clonometer.results.series.ablation.ablations_of`)."""
    return tuple(_ablation(book, evidence) for evidence in ablations_of(book, seed))


def _ablation(book: Book, evidence: AblationEvidence) -> AblationSeries:
    ladder = evidence.ladder
    rungs = []
    for place, rung in enumerate(evidence.rungs):
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
    first = evidence.rungs[0].sides[0].estimate
    rest = ladder.remainder_share
    return AblationSeries(
        workload=evidence.workload,
        quantity=evidence.quantity,
        axis=KIND,
        sides=SIDES,
        condition={axis: value for axis, value in book.changes(first).items() if axis != KIND},
        rungs=tuple(rungs),
        remainder_share=None if rest is None else _ends(rest),
        n_processes=ladder.gaps[0].n,
    )


def _median(row: Evidence) -> float:
    return row.estimate.median_ns or 0.0


def _ends(interval: Interval) -> Ends:
    return interval.value, interval.low, interval.high


SERIES = {"fits": fit_series, "ablations": ablation_series}
