"""A predicted time as JSON has it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clonometer.model.stretch import StretchAt, stretch_at
from clonometer.model.types import CostRange, Ns


@dataclass(frozen=True)
class PredictedTime:
    """A predicted time, ns: nine in ten lie from low to high."""

    low: Ns
    median: Ns
    high: Ns

    @classmethod
    def of(cls, cost: CostRange, ends: Iterable[CostRange] = ()) -> PredictedTime:
        """Take a cost of the model, reaching from the least to the most that it is at any of the ``ends``."""
        costs = [cost, *ends]
        return cls(min(each.low_ns for each in costs), cost.median_ns, max(each.high_ns for each in costs))

    def stretched(self, stretches: Sequence[StretchAt] | None) -> PredictedTime:
        """Make wall time of CPU time; the same where nothing was measured (None).

        What is uncertain of the work and of the CPUs is independent: on the logarithm their squares add.
        """
        if not stretches or self.median <= 0:
            return self
        stretch = stretch_at(stretches, self.median)

        def width(ratio: float, other: float) -> float:
            return math.exp(math.hypot(math.log(ratio), math.log(other)))

        median = self.median * stretch.median
        return PredictedTime(
            median / width(self.median / max(self.low, 1.0), stretch.median / stretch.low),
            median,
            median * width(self.high / self.median, stretch.high / stretch.median),
        )

    def plus(self, low: float, median: float, high: float) -> PredictedTime:
        """Add a time whose own ends are these, in ns."""
        return PredictedTime(self.low + low, self.median + median, self.high + high)
