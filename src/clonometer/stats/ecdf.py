"""Empirical distributions, thinned so that a picture of them stays small."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values, in_order

MOST_POINTS = 400


def thin_ecdf(values: ArrayLike, most_points: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """Empirical distribution function at no more than ``most_points`` of its steps.

    Parameters
    ----------
    values
        Shape (n,), finite, in any order and unit.
    most_points
        How many points to keep, at least 2. Steps are kept evenly by rank, so that the picture is off by no
        more than 1 / (most_points - 1) in the fraction.

    Returns
    -------
    x, fraction
        Two float64 arrays of the same shape (points,): distinct values in rising order, and the fraction of
        all values at or below each. Smallest and largest are always kept; the last fraction is 1.

    Raises
    ------
    ValueError
        If there is no value, one is not finite, or ``most_points`` is below 2.

    Examples
    --------
    >>> x, fraction = thin_ecdf([3, 1, 1, 2])
    >>> x.tolist(), fraction.tolist()
    ([1.0, 2.0, 3.0], [0.5, 0.75, 1.0])
    """
    if most_points < 2:
        raise ValueError(f"an ecdf needs at least its two ends, not {most_points} points")
    ordered = in_order(finite_values(values))
    n = ordered.size
    # The last of each run of equal values.
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    x, fraction = ordered[last], (last + 1) / n
    if x.size > most_points:
        ranks = np.linspace(1, n, most_points) / n
        # Half a sample less: rounding cannot push a rank past its step. Both ends are among the ranks.
        kept = np.clip(np.searchsorted(fraction, ranks - 0.5 / n), 0, x.size - 1)
        kept = kept[np.append(True, kept[1:] != kept[:-1])]
        x, fraction = x[kept], fraction[kept]
    return np.asarray(x, dtype=np.float64), np.asarray(fraction, dtype=np.float64)
