"""Curves through scans whose shape is known beforehand: what grows with the square, what with each one more."""

from __future__ import annotations

from dataclasses import dataclass

from clonometer.families import family
from clonometer.families.types import CurveShape
from clonometer.results.rows.run_estimates import RunEstimates, cached_per_run
from clonometer.results.series.scans import Scan, said_condition, scans_of
from clonometer.results.series_types import FitSeries
from clonometer.stats.polynomial import Polynomial, polynomial_through_medians

_CURVE_POINTS = 41

#: A point more than coefficients, so that there is something to miss.
_SPARE_POINTS = 1


@dataclass(frozen=True)
class Fit:
    """A scan with the polynomial through those of its points that ``first`` and higher values of the axis are."""

    scan: Scan
    polynomial: Polynomial
    x: tuple[int, ...]
    n_values: int

    def curve(self) -> tuple[list[float], list[float]]:
        """Evenly spaced points of the curve, from its first x to its last, in ns."""
        low, high = self.x[0], self.x[-1]
        xs = [low + (high - low) * index / (_CURVE_POINTS - 1) for index in range(_CURVE_POINTS)]
        return xs, [self.polynomial.at(x) for x in xs]


def curve_of(scan: Scan) -> CurveShape | None:
    """The shape that a scan is known by its family to have; None for others, and for what is a mere detail."""
    first = scan.points[0]
    return None if first.detail else family(first.family).curves.get(scan.axis)


@cached_per_run
def fits_of(estimates: RunEstimates, seed: int) -> tuple[Fit, ...]:
    """Fit every scan whose shape is known (`curve_of`), in the order of the plan.

    A scan with too few points for its shape has none, nor has a quantity that is a mere detail.
    """
    fits = []
    for scan in scans_of(estimates):
        shape = curve_of(scan)
        if shape is None:
            continue
        least = (estimates.cpus or 1) + 1 if shape.beyond_cpus else 0
        points = [point for point in scan.points if int(point.condition[scan.axis]) >= least]
        if len(points) < shape.degree + 1 + _SPARE_POINTS:
            continue
        x = tuple(int(point.condition[scan.axis]) for point in points)
        values = [point.processes.values for point in points]
        fitted = polynomial_through_medians(x, values, shape.degree, seed=seed)
        fits.append(Fit(scan, fitted, x, sum(group.size for group in values)))
    return tuple(fits)


def fit_series(estimates: RunEstimates, seed: int) -> tuple[FitSeries, ...]:
    """Every fit of a run (`fits_of`), ready to draw and to print."""
    fits = []
    for fit in fits_of(estimates, seed):
        first = fit.scan.points[0]
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


SERIES = {"fits": fit_series}
