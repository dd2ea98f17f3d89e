"""Quantiles of sequences too long to hold: whole numbers are counted one by one, the rest in narrow buckets.

References
----------
.. [1] G. Tene, HdrHistogram: buckets of a constant relative width, made from the bits of the number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats, Integers

COUNTED_BELOW = 1 << 21
_MANTISSA_BITS = 11
_SHIFT = 52 - _MANTISSA_BITS
RELATIVE_ERROR = 2.0 ** -(_MANTISSA_BITS + 1)


class Digest:
    """Counts of values, to which more can be added and with which others can be merged.

    Whole numbers from 0 to 2,097,151 in an integer array are counted exactly. All else falls into buckets [1]_ of
    relative width 2^-11, known by their middles: off by 2^-12 (0.025%) at most.

    Examples
    --------
    >>> digest = Digest()
    >>> digest.add(np.array([5, 1, 3]))
    >>> digest.add(np.array([2, 4]))
    >>> digest.count, digest.quantile(0.5), digest.mean, digest.relative_error
    (5, 3.0, 3.0, 0.0)
    """

    def __init__(self) -> None:
        self.count = 0
        self.minimum = np.inf
        self.maximum = -np.inf
        self._sum = 0.0
        self._counts: Integers = np.zeros(0, np.int64)
        self._codes: Integers = np.zeros(0, np.int64)
        self._code_counts: Integers = np.zeros(0, np.int64)

    @property
    def mean(self) -> float:
        """The mean, from the values themselves."""
        return self._sum / self.count

    @property
    def relative_error(self) -> float:
        """The largest relative error of a quantile: 0 where all values were counted exactly."""
        return RELATIVE_ERROR if self._codes.size else 0.0

    def add(self, values: Integers | NDArray[np.int32] | Floats) -> None:
        """Add values: shape (n,), finite.

        Raises
        ------
        ValueError
            If a value is not finite.
        """
        if values.size == 0:
            return
        low, high, total = float(values.min()), float(values.max()), float(values.sum(dtype=np.float64))
        if not np.isfinite(total):
            raise ValueError("values must be finite")
        self.count += int(values.size)
        self.minimum, self.maximum = min(self.minimum, low), max(self.maximum, high)
        self._sum += total
        if not np.issubdtype(values.dtype, np.integer):
            self._add_codes(values.astype(np.float64))
            return
        if low < 0 or high >= COUNTED_BELOW:
            small = (values >= 0) & (values < COUNTED_BELOW)
            self._add_codes(values[~small].astype(np.float64))
            values = values[small]
        self._add_counts(np.bincount(values))

    def merge(self, other: Digest) -> None:
        """Add all that another digest has."""
        self.count += other.count
        self.minimum, self.maximum = min(self.minimum, other.minimum), max(self.maximum, other.maximum)
        self._sum += other._sum
        self._add_counts(other._counts)
        self._join(other._codes, other._code_counts)

    def _add_counts(self, counts: Integers) -> None:
        if counts.size > self._counts.size:
            grown = np.zeros(counts.size, np.int64)
            grown[: self._counts.size] = self._counts
            self._counts = grown
        self._counts[: counts.size] += counts

    def _add_codes(self, values: Floats) -> None:
        # Floats of one sign sort as the integers that their bits make.
        codes = np.abs(values).view(np.int64) >> _SHIFT
        self._join(*np.unique(np.where(values < 0, -codes, codes), return_counts=True))

    def _join(self, codes: Integers, counts: Integers) -> None:
        if codes.size == 0:
            return
        joined, inverse = np.unique(np.concatenate([self._codes, codes]), return_inverse=True)
        both = np.concatenate([self._code_counts, counts])
        self._codes = joined
        self._code_counts = np.bincount(inverse, both).astype(np.int64)

    def points(self) -> tuple[Floats, Integers]:
        """Give distinct values, or middles of buckets, in rising order, and how often each came."""
        whole = np.flatnonzero(self._counts)
        edges = np.abs(np.stack([self._codes, self._codes + np.sign(self._codes) + (self._codes == 0)])) << _SHIFT
        middles = np.sign(self._codes) * edges.view(np.float64).mean(axis=0)
        # The smallest and the largest are known better than their buckets.
        places = np.concatenate([whole.astype(np.float64), middles])
        counts = np.concatenate([self._counts[whole], self._code_counts])
        order = np.argsort(places, kind="stable")
        return np.clip(places[order], self.minimum, self.maximum), counts[order]

    def quantiles(self, probabilities: ArrayLike) -> Floats:
        """Quantiles by linear interpolation between order statistics (numpy's default).

        Parameters
        ----------
        probabilities
            Shape (k,), from 0 to 1.

        Returns
        -------
        numpy.ndarray
            Shape (k,), float64.

        Raises
        ------
        ValueError
            If nothing was added.
        """
        if self._codes.size == 0:
            # Every value has a count of its own: where it stands is its value.
            return weighted_quantiles(np.arange(self._counts.size, dtype=np.float64), self._counts, probabilities)
        places, counts = self.points()
        return weighted_quantiles(places, counts, probabilities)

    def quantile(self, probability: float) -> float:
        """One of `quantiles`."""
        return float(self.quantiles([probability])[0])

    def median_deviation(self) -> float:
        """Median absolute deviation from the median, not scaled."""
        places, counts = self.points()
        away = np.abs(places - weighted_quantiles(places, counts, [0.5])[0])
        order = np.argsort(away, kind="stable")
        return float(weighted_quantiles(away[order], counts[order], [0.5])[0])


def weighted_quantiles(places: Floats, counts: Integers, probabilities: ArrayLike) -> Floats:
    """Quantiles of values of which each came so many times.

    Parameters
    ----------
    places, counts
        Shape (n,): values in rising order, and how often each came.
    probabilities
        Shape (k,), from 0 to 1.

    Returns
    -------
    numpy.ndarray
        Shape (k,), as `numpy.quantile` gives them of the repeated values.

    Raises
    ------
    ValueError
        If there is no value.

    Examples
    --------
    >>> weighted_quantiles(np.array([1.0, 2.0]), np.array([3, 1]), [0.5, 1.0]).tolist()
    [1.0, 2.0]
    """
    last = np.cumsum(counts)
    if last.size == 0 or last[-1] == 0:
        raise ValueError("no values, so no quantiles")
    rank = np.asarray(probabilities, dtype=np.float64) * float(last[-1] - 1)
    # Whole numbers: sought by a float, all of the sums would be made floats first.
    below = np.floor(rank).astype(np.int64)
    lower = places[np.searchsorted(last, below, side="right")]
    upper = places[np.searchsorted(last, np.minimum(below + 1, last[-1] - 1), side="right")]
    return np.asarray(lower + (upper - lower) * (rank - below), dtype=np.float64)
