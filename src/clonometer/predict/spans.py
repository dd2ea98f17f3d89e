"""A predicted time as JSON has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.model.types import CostRange
from clonometer.records import Least

Nanoseconds = Annotated[float, Least(0)]


@dataclass(frozen=True)
class PredictedTime:
    """A predicted time, ns: nine in ten lie from low to high."""

    low: Nanoseconds
    median: Nanoseconds
    high: Nanoseconds

    @classmethod
    def of(cls, cost: CostRange) -> PredictedTime:
        """Take a cost of the model."""
        return cls(cost.low_ns, cost.median_ns, cost.high_ns)

    def reaching(self, least: PredictedTime, most: PredictedTime) -> PredictedTime:
        """The same from the low end of the least to the high end of the most that the process may have."""
        return PredictedTime(min(self.low, least.low), self.median, max(self.high, most.high))
