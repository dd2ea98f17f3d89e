"""A polynomial through medians, weighted, with intervals on each coefficient and on R2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import medians_drawn, percentile_interval, percentile_intervals, places_drawn
from clonometer.stats.quantiles import Floats, finite_values, median, median_error

METHOD = "weighted polynomial, bootstrap over processes, percentile"
_LEAST_RELATIVE_ERROR = 0.01


@dataclass(frozen=True)
class Polynomial:
    """A fitted polynomial.

    Attributes
    ----------
    coefficients
        From the constant up: the k-th is in the unit of the values per unit of x to the k-th power.
    r_squared
        The share of the scatter of all process values that the polynomial accounts for: 1 less the sum of their
        squared distances from it over that from their mean. 0 where they do not scatter; at most 1, and below 0 where
        the polynomial is worse than the mean.
    drawn
        Shape (resamples, degree + 1): the coefficients of each resample.
    """

    coefficients: tuple[Interval, ...]
    r_squared: Interval
    drawn: Floats = field(repr=False)

    @property
    def degree(self) -> int:
        """The highest power."""
        return len(self.coefficients) - 1

    @property
    def slope(self) -> Interval:
        """By how much it rises per unit of x at 0, and of a line everywhere."""
        return self.coefficients[1]

    def at(self, x: float) -> float:
        """The polynomial's value at ``x``."""
        return float(sum(coefficient.value * x**power for power, coefficient in enumerate(self.coefficients)))


def polynomial_through_medians(x: ArrayLike, processes: Sequence[ArrayLike], degree: int, *, seed: int) -> Polynomial:
    """Fit a polynomial through the medians of process values at each x, by weighted least squares.

    Parameters
    ----------
    x
        Shape (points,), finite; more different ones than ``degree``.
    processes
        For each x the values of its processes, shape (processes,), finite.
    degree
        1 for a line, 2 for a parabola; at most 4.
    seed
        Seed of the generator.

    Raises
    ------
    ValueError
        If lengths differ, there are too few x, a number is not finite, or an argument is out of range.

    Notes
    -----
    Weights are 1 / variance of each median, its standard error (`median_error`) taken as at least 1% of
    the median: errors of durations grow with the duration, so that an unweighted line would be a line through the
    longest. The processes of each x are resampled apart, and the weights stay as they are.

    Examples
    --------
    >>> fit = polynomial_through_medians([0, 1, 2, 3], [[1.0] * 6, [2.0] * 6, [5.0] * 6, [10.0] * 6], 2, seed=1)
    >>> [round(term.value, 9) + 0 for term in fit.coefficients], round(fit.r_squared.value, 9)
    ([1.0, 0.0, 1.0], 1.0)
    """
    abscissa = finite_values(x, "x")
    groups = [finite_values(group, "process values") for group in processes]
    if len(groups) != abscissa.size:
        raise ValueError(f"{abscissa.size} x, but {len(groups)} groups of processes")
    if not 1 <= degree <= 4:
        raise ValueError(f"degree lies from 1 to 4, not at {degree}")
    if len(set(abscissa.tolist())) <= degree:
        raise ValueError(f"degree {degree} needs more than {degree} different x")
    scale = float(np.abs(abscissa).max()) or 1.0
    powers = np.vander(abscissa / scale, degree + 1, increasing=True)
    medians = np.array([median(group) for group in groups])
    root = np.sqrt(median_weights(groups, medians))
    solve = np.linalg.pinv(powers * root[:, None]) * root[None, :]
    scaled = solve @ medians
    drawn, sums, squares = _resampled(groups, seed)
    fitted = drawn @ solve.T
    counts = np.array([group.size for group in groups], dtype=np.float64)
    fewest = min(group.size for group in groups)
    whole = _r_squared(powers @ scaled, counts, *_sums(groups))
    each = _r_squared(fitted @ powers.T, counts, sums, squares)
    units = scale ** -np.arange(degree + 1.0)
    coefficients = tuple(percentile_intervals(scaled * units, fitted * units, fewest, METHOD))
    spread = percentile_interval(float(whole[0]), each, fewest, METHOD)
    # Widening must not lead past what R2 can be.
    bounded = replace(spread, high=min(spread.high, 1.0))
    return Polynomial(coefficients, bounded, fitted * units)


def median_weights(groups: Sequence[Floats], medians: Floats) -> Floats:
    """1 / variance of each group's median, as `polynomial_through_medians` says; shape (groups,), positive."""
    error = np.array([median_error(group) for group in groups])
    floor = _LEAST_RELATIVE_ERROR * np.abs(medians)
    # All values zero leaves no scale to weigh by: every point then counts the same.
    error = np.maximum(np.maximum(error, floor), np.max(np.abs(medians)) * 1e-9)
    return np.asarray(np.where(error > 0, error, 1.0) ** -2.0, dtype=np.float64)


def ratio_of_coefficients(a: Polynomial, b: Polynomial, power: int) -> Interval | None:
    """One coefficient of ``a`` over the same of ``b``, whose processes are others.

    Returns
    -------
    Interval or None
        Dimensionless; None where either coefficient's interval contains 0: there is no ratio to nothing, nor does one
        of nothing say anything.
    """
    top, bottom = a.coefficients[power], b.coefficients[power]
    if top.contains(0.0) or bottom.contains(0.0):
        return None
    quotients = a.drawn[:, power] / b.drawn[:, power]
    return percentile_interval(top.value / bottom.value, quotients, min(top.n, bottom.n), METHOD)


def _resampled(groups: Sequence[Floats], seed: int) -> tuple[Floats, Floats, Floats]:
    """Medians, sums and sums of squares of each group, each of shape (resamples, groups)."""
    generator = np.random.default_rng(seed)
    drawn = [(group, places_drawn(group.size, generator)) for group in groups]
    return (
        np.stack([medians_drawn(group, places) for group, places in drawn], axis=1),
        np.stack([group[places].sum(axis=1) for group, places in drawn], axis=1),
        np.stack([(group**2)[places].sum(axis=1) for group, places in drawn], axis=1),
    )


def _sums(groups: Sequence[Floats]) -> tuple[Floats, Floats]:
    return np.array([[group.sum() for group in groups]]), np.array([[(group**2).sum() for group in groups]])


def _r_squared(fitted: Floats, counts: Floats, sums: Floats, squares: Floats) -> Floats:
    """R2 of each row, from the sums of each group's values and of their squares."""
    total = squares.sum(axis=1) - sums.sum(axis=1) ** 2 / counts.sum()
    missed = (squares - 2 * fitted * sums + counts * fitted**2).sum(axis=1)
    # What does not scatter but for rounding has nothing to account for.
    flat = total <= 1e-12 * squares.sum(axis=1)
    return np.asarray(np.where(flat, 0.0, 1 - np.maximum(missed, 0.0) / np.where(flat, 1.0, total)), dtype=np.float64)
