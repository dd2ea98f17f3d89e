"""What views print and draw of fits and ablations."""

from __future__ import annotations

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.series.ablation import AblationEvidence, ablations_of, written_rungs
from clonometer.results.series.fits import fits_of
from clonometer.results.series.kinds import KIND, SIDES
from clonometer.results.series.scans import said_condition
from clonometer.results.series.types import AblationSeries, FitSeries


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
                coefficients=tuple(coefficient.ends for coefficient in fit.polynomial.coefficients),
                r_squared=fit.polynomial.r_squared.ends,
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
    ladder, rungs = evidence.ladder, evidence.rungs
    medians_ns = [(_median(rung.sides[0]), _median(rung.sides[1])) for rung in rungs]
    rest = ladder.remainder_share
    return AblationSeries(
        workload=evidence.workload,
        quantity=evidence.quantity,
        axis=KIND,
        sides=SIDES,
        condition=book.changes(rungs[0].sides[0].estimate, KIND),
        rungs=written_rungs(ladder, [rung.taken for rung in rungs], medians_ns),
        remainder_share=None if rest is None else rest.ends,
        n_processes=ladder.gaps[0].n,
    )


def _median(row: Evidence) -> float:
    return row.estimate.median_ns or 0.0


SERIES = {"fits": fit_series, "ablations": ablation_series}
