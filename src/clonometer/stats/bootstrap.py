"""Ratios and differences of medians, by a bootstrap over processes and the blocks within.

The percentile interval, widened for the narrowness of small samples (`clonometer.stats.percentile`), and not BCa:
the acceleration of BCa comes from the jackknife, which fails for medians [1]_, and its bias correction made the
intervals cover less in our simulations (docs/methods.md).

References
----------
.. [1] B. Efron, "The jackknife, the bootstrap and other resampling plans", SIAM 1982, section 3.4.
.. [2] A. C. Davison, D. V. Hinkley, "Bootstrap methods and their application", Cambridge 1997, section 3.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.interval import LEAST_NOMINAL, Interval
from clonometer.stats.percentile import exponential, medians_drawn, percentile_interval, places_drawn
from clonometer.stats.quantiles import Floats, Integers, finite_values, median, row_medians

_EQUAL_ISH = 1.25


@dataclass(frozen=True)
class Processes:
    """What one side of a comparison brings: a value for each process, when it started, and its blocks.

    Attributes
    ----------
    values
        Shape (processes,): the median of each process's samples, finite; in order of time where ``starts`` is None.
    starts
        Shape (processes,): when each process started, in any one unit, for pairing neighbours in time; None
        if not known.
    blocks
        For each process the medians of its blocks, shape (blocks,); None where there is but one block.
    numbers
        The number of each process in its run; None if not known.

    Raises
    ------
    ValueError
        If there is no process, a number is not finite, or the lengths differ.
    """

    values: Floats
    starts: Floats | None = None
    blocks: tuple[Floats, ...] | None = None
    numbers: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls,
        values: ArrayLike,
        starts: ArrayLike | None = None,
        blocks: Sequence[ArrayLike] | None = None,
    ) -> Processes:
        """Build from anything array-like, checked."""
        checked = finite_values(values, "process values")
        when = None if starts is None else finite_values(starts, "starts")
        parts = None if blocks is None else tuple(finite_values(block, "block medians") for block in blocks)
        for other in (when, parts):
            if other is not None and len(other) != checked.size:
                raise ValueError(f"{checked.size} processes, but {len(other)} starts or lists of blocks")
        return cls(checked, when, parts)

    @property
    def in_time(self) -> Floats:
        """The values in the order in which their processes started."""
        return self.values if self.starts is None else self.values[np.argsort(self.starts, kind="stable")]

    @cached_property
    def least(self) -> float:
        """The least value of any process and block; a row is compared with many."""
        return float(min(part.min() for part in (self.values, *(self.blocks or ()))))

    def at(self, places: Sequence[int]) -> Processes:
        """Some of the processes, or all in another order."""
        return Processes(
            self.values[places],
            None if self.starts is None else self.starts[places],
            None if self.blocks is None else tuple(self.blocks[place] for place in places),
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


def ratio_of_medians(a: Processes, b: Processes, *, seed: int) -> Interval:
    """Median of A's processes over the median of B's, with a bootstrap interval.

    Parameters
    ----------
    a, b
        The two sides; all values must be positive.
    seed
        Seed of the generator: the same seed gives the same interval.

    Returns
    -------
    Interval
        Dimensionless; ``n`` is the smaller number of processes. With fewer than 6 ``reaches_nominal`` is False
        (`clonometer.stats.percentile`); with one process on a side nothing can be resampled but its blocks.

    Raises
    ------
    ValueError
        If a value is not positive: there is no ratio to nothing.

    Notes
    -----
    Sides of similar number (within a quarter) with known starts are resampled in pairs of neighbours in time,
    so that drift that both share cancels. With 6 processes or more only processes are resampled: their spread
    contains the blocks' [2]_. With fewer, blocks are resampled as well, because few processes make the
    interval too narrow. It takes pairs, or processes, as independent: `clonometer.stats.trend.keeps_level` says where
    they are not.

    Examples
    --------
    >>> ratio = ratio_of_medians(Processes.of([3.0] * 8), Processes.of([2.0] * 8), seed=1)
    >>> ratio.value, ratio.low, ratio.high
    (1.5, 1.5, 1.5)
    """
    if min(a.least, b.least) <= 0:
        raise ValueError("a ratio needs positive values on both sides")
    pairs = _pairs(a, b)
    drawn_a, drawn_b = _draw(a, b, pairs, seed)
    ratio = median(a.values) / median(b.values)
    # On the logarithm the ratio and its reciprocal get the same interval.
    drawn = np.log(drawn_a / drawn_b)
    logarithm = percentile_interval(float(np.log(ratio)), drawn, _fewer(a, b), _method(a, b, pairs))
    return exponential(logarithm, ratio)


def difference_of_medians(a: Processes, b: Processes, *, seed: int) -> Interval:
    """Median of A's processes minus the median of B's, signed, with a bootstrap interval.

    Parameters, notes and errors are those of `ratio_of_medians`, but values of any sign are accepted; the
    result has the unit of the data.

    Examples
    --------
    >>> difference_of_medians(Processes.of([3.0] * 8), Processes.of([5.0] * 8), seed=1).value
    -2.0
    """
    pairs = _pairs(a, b)
    drawn_a, drawn_b = _draw(a, b, pairs, seed)
    value = median(a.values) - median(b.values)
    return percentile_interval(value, drawn_a - drawn_b, _fewer(a, b), _method(a, b, pairs))


def _fewer(a: Processes, b: Processes) -> int:
    return int(min(a.values.size, b.values.size))


def _method(a: Processes, b: Processes, pairs: tuple[Integers, Integers] | None) -> str:
    units = "processes" if pairs is None else "pairs of neighbouring processes"
    blocks = " and blocks" if _with_blocks(a) or _with_blocks(b) else ""
    return f"bootstrap over {units}{blocks}, percentile"


def _pairs(a: Processes, b: Processes) -> tuple[Integers, Integers] | None:
    """Pair neighbours in time; None where the sides are resampled apart."""
    larger = max(a.values.size, b.values.size)
    if a.starts is None or b.starts is None or larger > _EQUAL_ISH * _fewer(a, b):
        return None
    return pair_neighbours(a.starts, b.starts)


def _with_blocks(side: Processes) -> bool:
    return side.blocks is not None and side.values.size < LEAST_NOMINAL


def _draw(a: Processes, b: Processes, pairs: tuple[Integers, Integers] | None, seed: int) -> tuple[Floats, Floats]:
    """Draw medians of resampled processes for both sides; each of shape (resamples,)."""
    generator = np.random.default_rng(seed)
    if pairs is not None:
        pair_a, pair_b = pairs
        drawn = places_drawn(pair_a.size, generator)
        chosen_a, chosen_b = pair_a[drawn], pair_b[drawn]
    else:
        chosen_a, chosen_b = (places_drawn(side.values.size, generator) for side in (a, b))
    return _medians_drawn(a, chosen_a, generator), _medians_drawn(b, chosen_b, generator)


def _medians_drawn(side: Processes, chosen: Integers, generator: np.random.Generator) -> Floats:
    """Medians of the chosen processes, each taken from resampled blocks where processes are few."""
    if side.blocks is None or not _with_blocks(side):
        return medians_drawn(side.values, chosen)
    counts = np.array([part.size for part in side.blocks])
    padded = np.full((counts.size, int(counts.max())), np.inf)
    for row, part in zip(padded, side.blocks, strict=True):
        row[: part.size] = part
    n_blocks = counts[chosen]
    picks = (generator.random((*chosen.shape, padded.shape[1])) * n_blocks[..., None]).astype(np.int64)
    drawn = padded[chosen[..., None], picks]
    # A process with fewer blocks than others fills up with infinities, which sort behind its own.
    drawn[np.arange(padded.shape[1]) >= n_blocks[..., None]] = np.inf
    drawn.sort(axis=-1)
    lower = np.take_along_axis(drawn, ((n_blocks - 1) // 2)[..., None], axis=-1)
    upper = np.take_along_axis(drawn, (n_blocks // 2)[..., None], axis=-1)
    return row_medians((lower + upper)[..., 0] / 2)
