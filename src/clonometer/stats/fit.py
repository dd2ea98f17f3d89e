"""A straight line through medians: a polynomial of degree 1, and how straight the data are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import Interval
from clonometer.stats.polynomial import polynomial_through_medians
from clonometer.stats.quantiles import finite_values, median

METHOD = "weighted line, bootstrap over processes, percentile"


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


def line_through_medians(x: ArrayLike, processes: Sequence[ArrayLike], *, seed: int) -> Line:
    """Fit a line through the medians of process values at each x.

    Parameters, weights and errors are those of `clonometer.stats.polynomial.polynomial_through_medians`.

    Examples
    --------
    >>> line = line_through_medians([0, 10], [[5.0] * 6, [25.0] * 6], seed=1)
    >>> round(line.slope.value, 9), round(line.intercept.value, 9)
    (2.0, 5.0)
    """
    fitted = polynomial_through_medians(x, processes, 1, seed=seed)
    intercept, slope = (replace(coefficient, method=METHOD) for coefficient in fitted.coefficients)
    medians = np.array([median(finite_values(group)) for group in processes])
    misses = np.abs(medians - (intercept.value + slope.value * finite_values(x)))
    nonzero = medians != 0
    return Line(slope, intercept, float(np.max(misses[nonzero] / np.abs(medians[nonzero]), initial=0.0)))
