"""How far a level moved along a run, against what the scatter of its values explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import finite_values

#: Fewer values say nothing of how their level moves.
LEAST_VALUES = 8


class Moved(NamedTuple):
    """The squared distance of the last third's mean from the first's, and what independent values make of it.

    Both in the squared unit of the values; ``times`` is the one over the other, 1 on average of independent normal
    values.
    """

    squared: float
    expected: float
    times: float


def moved(values: ArrayLike) -> Moved | None:
    """Say how far the level of values in order of time moved.

    Parameters
    ----------
    values
        Shape (n,), in order of time, finite.

    Returns
    -------
    Moved or None
        None of fewer than 8 values, and where they do not scatter.

    Notes
    -----
    A random walk moves its mean over a run away from its beginning by a variance of T / 3, and thirds of it apart by
    5 T / 9: what is seen within a run is a little more than what wandering adds to its mean. What wanders slower than
    the run cannot be seen in it. ``times`` of independent values is of the F distribution with 1 and n - 3 degrees of
    freedom, whose mean is divided out.

    Examples
    --------
    >>> rising, steady = moved(range(12)), moved([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2])
    >>> rising.times > 50, steady.times < 1
    (True, True)
    """
    series = finite_values(values)
    if series.size < LEAST_VALUES:
        return None
    third = series.size // 3
    parts = series[:third], series[third:-third], series[-third:]
    freedom = series.size - len(parts)
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    if squares <= 0:
        return None
    squared = float((parts[2].mean() - parts[0].mean()) ** 2)
    expected = 2 * squares / freedom / third
    return Moved(squared, expected, squared / expected * (freedom - 2) / freedom)


def inflation(times: Sequence[float]) -> float:
    """How much of ``expected`` wandering adds, by the mean of several ``times``: at least 0, and 0 of none.

    Examples
    --------
    >>> inflation([3.0, 1.0]), inflation([0.5]), inflation([])
    (1.0, 0.0, 0.0)
    """
    return max(0.0, float(np.mean(times)) - 1) if times else 0.0
