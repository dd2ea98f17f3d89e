"""What one side of a comparison brings, a value for each process, and which processes of two sides ran side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, Integers, finite_values


@dataclass(frozen=True)
class Processes:
    """The processes of one row.

    Attributes
    ----------
    values
        Shape (processes,): the median of each process's samples, finite; in order of time where ``starts`` is None.
    starts
        Shape (processes,): when each process started, in any one unit; None if not known.
    numbers
        The number of each process in its run; None if not known.

    Raises
    ------
    ValueError
        If there is no process, a number is not finite, or the lengths differ.
    """

    values: Floats
    starts: Floats | None = None
    numbers: tuple[int, ...] | None = None

    @classmethod
    def of(cls, values: ArrayLike, starts: ArrayLike | None = None) -> Processes:
        """Build from anything array-like, checked."""
        checked = finite_values(values, "process values")
        when = None if starts is None else finite_values(starts, "starts")
        if when is not None and when.size != checked.size:
            raise ValueError(f"{checked.size} processes, but {when.size} starts")
        return cls(checked, when)

    @property
    def in_time(self) -> Floats:
        """The values in the order in which their processes started."""
        return self.values if self.starts is None else self.values[np.argsort(self.starts, kind="stable")]

    @cached_property
    def least(self) -> float:
        """The least value of any process; a row is compared with many."""
        return float(self.values.min())

    def at(self, places: Sequence[int]) -> Processes:
        """Some of the processes, or all in another order."""
        return Processes(
            self.values[places],
            None if self.starts is None else self.starts[places],
            None if self.numbers is None else tuple(self.numbers[place] for place in places),
        )


def pair_neighbours(starts_a: ArrayLike, starts_b: ArrayLike) -> tuple[Integers, Integers]:
    """Pair processes of A with processes of B that ran near them in time, each at most once.

    Parameters
    ----------
    starts_a, starts_b
        When each process started; shapes (n,) and (m,), finite, same unit.

    Returns
    -------
    index_a, index_b
        Two int64 arrays of shape (min(n, m),): the pairing that keeps the order of time on both sides and has
        the least total distance. Of the longer side, those without a near partner are left out.

    Raises
    ------
    ValueError
        If a side is empty or holds a number that is not finite.

    Examples
    --------
    >>> [side.tolist() for side in pair_neighbours([0, 10, 20], [21, 1])]
    [[0, 2], [1, 0]]
    """
    a, b = finite_values(starts_a, "starts"), finite_values(starts_b, "starts")
    if a.size > b.size:
        second, first = pair_neighbours(b, a)
        return first, second
    order_a = np.argsort(a, kind="stable").astype(np.int64)
    order_b = np.argsort(b, kind="stable").astype(np.int64)
    if a.size == b.size:
        return order_a, order_b
    distance = np.abs(a[order_a][:, None] - b[order_b][None, :])
    # best[i, j]: least cost of pairing the first i of A within the first j of B.
    best = np.full((a.size + 1, b.size + 1), np.inf)
    best[0, :] = 0.0
    for i in range(1, a.size + 1):
        best[i, i:] = np.minimum.accumulate(best[i - 1, i - 1 : -1] + distance[i - 1, i - 1 :])
    chosen, j = [], b.size
    for i in range(a.size, 0, -1):
        while best[i, j - 1] <= best[i, j]:
            j -= 1
        j -= 1
        chosen.append(j)
    return order_a, order_b[np.array(chosen[::-1], dtype=np.int64)]
