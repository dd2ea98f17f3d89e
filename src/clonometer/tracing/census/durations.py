"""Durations by the million in bounded memory: the first ones exact, then counted in log-linear buckets."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

#: So many are kept as they are: medians of most censuses are exact.
MOST_EXACT = 4096
_BITS = 7
_SUB_BUCKETS = 1 << _BITS
#: The normal quantile that an interval of 95% needs, in standard deviations of a rank, and a half.
_RANK_FACTOR = 0.98


class Durations:
    """Non-negative durations, ns: their number, their sum, and their order within a 256th.

    Log-linear buckets as in HdrHistogram: below 256 ns one of each value, above 128 per octave.

    Examples
    --------
    >>> times = Durations([3, 1, 2])
    >>> len(times), times.total_ns, times.median_ns
    (3, 6, 2.0)
    """

    __slots__ = ("_buckets", "_counted", "_counted_ns", "_exact")

    def __init__(self, durations_ns: Iterable[int] = ()) -> None:
        #: Those that are in no bucket yet: all of them, or the last ones.
        self._exact: array[int] = array("q")
        self._buckets: Counter[int] = Counter()
        self._counted = self._counted_ns = 0
        for duration_ns in durations_ns:
            self.append(duration_ns)

    def __len__(self) -> int:
        return self._counted + len(self._exact)

    @property
    def total_ns(self) -> int:
        """Their sum."""
        return self._counted_ns + sum(self._exact)

    def append(self, duration_ns: int) -> None:
        """Add a duration: of thousands of tasks a second several each, so no more than this is done at once."""
        self._exact.append(duration_ns)
        if len(self._exact) > MOST_EXACT:
            self._blur()

    def extend(self, other: Durations) -> None:
        """Add those of another."""
        self._exact.extend(other._exact)
        self._buckets.update(other._buckets)
        self._counted += other._counted
        self._counted_ns += other._counted_ns
        if self._buckets or len(self._exact) > MOST_EXACT:
            self._blur()

    def _blur(self) -> None:
        self._counted += len(self._exact)
        self._counted_ns += sum(self._exact)
        self._buckets.update(map(_bucket, self._exact))
        self._exact = array("q")

    def _at(self, ranks: Sequence[int]) -> list[float]:
        """The durations of these ranks, counted from zero and ascending."""
        if not self._buckets:
            ordered = sorted(self._exact)
            return [float(ordered[rank]) for rank in ranks]
        self._blur()
        values, passed, buckets = [], 0, iter(sorted(self._buckets.items()))
        bucket, count = next(buckets)
        for rank in ranks:
            while passed + count <= rank:
                passed += count
                bucket, count = next(buckets)
            values.append(_middle(bucket))
        return values

    @property
    def median_ns(self) -> float | None:
        """The median; None where there is none."""
        if len(self) == 0:
            return None
        low_ns, high_ns = self._at([(len(self) - 1) // 2, len(self) // 2])
        return (low_ns + high_ns) / 2

    @property
    def median_ends_ns(self) -> tuple[float, float]:
        """The 95% interval of the median, by order statistics: the normal rank, one further out; below 6 the range.

        A census does without numpy, which takes longer to load than most of what it watches.

        Raises
        ------
        IndexError
            If there is no duration.
        """
        if len(self) == 0:
            raise IndexError("no durations")
        rank = max(int(len(self) / 2 - _RANK_FACTOR * math.sqrt(len(self))) - 1, 0)
        low_ns, high_ns = self._at([rank, len(self) - 1 - rank])
        return low_ns, high_ns

    def at_most(self, bounds_ns: Sequence[int]) -> list[int]:
        """How many are at most as long as each bound; bounds ascend. A bucket counts by its middle."""
        counts = [0] * (len(bounds_ns) + 1)
        each = ((_middle(bucket), count) for bucket, count in self._buckets.items())
        for value, count in chain(each, ((value, 1) for value in self._exact)):
            # A duration that is equal to a bound is within it.
            counts[_first_at_least(bounds_ns, value)] += count
        sums, passed = [], 0
        for count in counts[:-1]:
            passed += count
            sums.append(passed)
        return sums


def _first_at_least(bounds_ns: Sequence[int], value: float) -> int:
    return bisect_right(bounds_ns, math.ceil(value) - 1)


def _bucket(duration_ns: int) -> int:
    # No call of max(): a census counts ten durations of each of thousands of tasks a second.
    shift = duration_ns.bit_length() - _BITS - 1
    return shift * _SUB_BUCKETS + (duration_ns >> shift) if shift > 0 else duration_ns


def _middle(bucket: int) -> float:
    shift = max(bucket // _SUB_BUCKETS - 1, 0)
    return float((bucket - shift * _SUB_BUCKETS) << shift) + ((1 << shift) - 1) / 2
