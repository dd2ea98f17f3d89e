"""A predicted time as JSON has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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

    def plus(self, low: float, median: float, high: float) -> PredictedTime:
        """Add a time whose own ends are these, in ns."""
        return PredictedTime(self.low + low, self.median + median, self.high + high)
