"""A straight line through medians, weighted, with intervals from a bootstrap over processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import percentile_interval
from clonometer.stats.quantiles import Floats, finite_values, median, row_medians

RESAMPLES = 2000
METHOD = "weighted line, bootstrap over processes, percentile"
_LEAST_RELATIVE_ERROR = 0.01
_MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Line:
    """A fitted line.

    Attributes
    ----------
    slope
        In the unit of the values per unit of x.
    intercept
        In the unit of the values.
    largest_miss
        The largest distance of a median from the line, as a fraction of that median: how straight the data
        are.
    """

    slope: Interval
    intercept: Interval
    largest_miss: float


def weighted_line(x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> tuple[float, float]:
    """Weighted least squares line: slope and intercept that minimise sum(w (y - a - b x)^2).

    Parameters
    ----------
    x, y, weights
        Shape (points,), finite; at least two different x; weights positive.

    Returns
    -------
    slope, intercept
        Floats, never NaN.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, a weight is not positive, or all x are the same.

    Examples
    --------
    >>> weighted_line([0, 1, 2, 3], [1, 3, 5, 7], [1, 1, 1, 1])
    (2.0, 1.0)
    """
    abscissa, ordinate, weight = (finite_values(array) for array in (x, y, weights))
    if not abscissa.size == ordinate.size == weight.size:
        raise ValueError("x, y and weights must have the same length")
    if weight.min() <= 0:
        raise ValueError("weights must be positive")
    slope, intercept = _lines(abscissa, ordinate[None, :], weight)
    return float(slope[0]), float(intercept[0])


def _lines(x: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Fit one line a row of ``y`` (shape (rows, points)); return slopes and intercepts."""
    if np.ptp(x) == 0:
        raise ValueError("a line needs at least two different x")
    share = weights / weights.sum()
    centre = float(share @ x)
    spread = float(share @ (x - centre) ** 2)
    level = y @ share
    slope = ((y - level[:, None]) * (x - centre)) @ share / spread
    return slope, level - slope * centre


def line_through_medians(
    x: ArrayLike,
    processes: Sequence[ArrayLike],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Line:
    """Fit a line through the medians of process values at each x.

    Parameters
    ----------
    x
        Shape (points,), finite, at least two different.
    processes
        For each x the values of its processes, shape (processes,), finite.
    seed
        Seed of the generator.
    resamples
        How often to resample, at least 100.

    Returns
    -------
    Line
        Slope and intercept with 95% percentile intervals, widened for the smallest number of processes
        (`clonometer.stats.percentile`).

    Raises
    ------
    ValueError
        If lengths differ, all x are the same, or a number is not finite.

    Notes
    -----
    Weights are 1 / variance of each median, its standard error taken as 1.2533 x 1.4826 MAD / sqrt(n) and at
    least 1% of the median: errors of durations grow with the duration, so that an unweighted line would be a
    line through the longest one. The processes of each x are resampled apart, and the weights stay as they
    are.

    Examples
    --------
    >>> line = line_through_medians([0, 10], [[5.0] * 6, [25.0] * 6], seed=1)
    >>> line.slope.value, line.intercept.value
    (2.0, 5.0)
    """
    abscissa = finite_values(x, "x")
    groups = [finite_values(group, "process values") for group in processes]
    if len(groups) != abscissa.size:
        raise ValueError(f"{abscissa.size} x, but {len(groups)} groups of processes")
    if resamples < 100:
        raise ValueError(f"{resamples} resamples are too few for an interval")
    medians = np.array([median(group) for group in groups])
    weights = median_weights(groups, medians)
    slope, intercept = weighted_line(abscissa, medians, weights)
    drawn = _drawn_medians(groups, seed, resamples)
    slopes, intercepts = _lines(abscissa, drawn, weights)
    fewest = min(group.size for group in groups)
    misses = np.abs(medians - (intercept + slope * abscissa))
    nonzero = medians != 0
    return Line(
        slope=percentile_interval(slope, slopes, fewest, METHOD),
        intercept=percentile_interval(intercept, intercepts, fewest, METHOD),
        largest_miss=float(np.max(misses[nonzero] / np.abs(medians[nonzero]), initial=0.0)),
    )


def median_weights(groups: Sequence[Floats], medians: Floats) -> Floats:
    """1 / variance of each group's median, as `line_through_medians` says; shape (groups,), positive."""
    spread = np.array([median(np.abs(group - median(group))) for group in groups]) * _MAD_TO_SIGMA
    counts = np.array([group.size for group in groups])
    error = 1.2533 * spread / np.sqrt(counts)
    floor = _LEAST_RELATIVE_ERROR * np.abs(medians)
    # All values zero leaves no scale to weigh by: every point then counts the same.
    error = np.maximum(np.maximum(error, floor), np.max(np.abs(medians)) * 1e-9)
    return np.asarray(np.where(error > 0, error, 1.0) ** -2.0, dtype=np.float64)


def _drawn_medians(groups: Sequence[Floats], seed: int, resamples: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    columns = [row_medians(group[generator.integers(0, group.size, (resamples, group.size))]) for group in groups]
    return np.stack(columns, axis=1)
