"""The one shape in which an estimate leaves this package: a value with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

#: The coverage that intervals are made for.
CONFIDENCE = 0.95
#: Fewer values have no interval of their median that covers so much, and none made from them claims it.
LEAST_NOMINAL = 6


@dataclass(frozen=True)
class Interval:
    """An estimate with a two-sided confidence interval.

    Attributes
    ----------
    value, low, high
        Finite numbers in the unit of the data, ``low <= value <= high``. Never NaN.
    confidence
        The coverage that ``low`` and ``high`` are made for, as a fraction. It is what was asked for, unless
        ``reaches_nominal`` is False.
    method
        How the interval was made, in words for a reader.
    n
        How many independent values it rests on.
    reaches_nominal
        False where too few values exist for the confidence that was asked for: ``confidence`` then says what the
        range of so many values covers, and of a median ``low`` and ``high`` are that range.

    Raises
    ------
    ValueError
        If a number is not finite or the order is broken.

    Examples
    --------
    >>> Interval(2.0, 1.5, 2.5, 0.95, "by hand", 12).relative_half_width
    0.25
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str
    n: int
    reaches_nominal: bool = True

    def __post_init__(self) -> None:
        if not all(math.isfinite(number) for number in (self.value, self.low, self.high)):
            raise ValueError(f"an interval needs finite numbers, not {self.low}, {self.value}, {self.high}")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"an interval needs low <= value <= high, not {self.low}, {self.value}, {self.high}")

    @property
    def ends(self) -> tuple[float, float, float]:
        """The value, and the ends of its interval."""
        return self.value, self.low, self.high

    @property
    def relative_half_width(self) -> float | None:
        """Half the width over the value's magnitude; None where the value is zero."""
        return None if self.value == 0 else (self.high - self.low) / 2 / abs(self.value)

    def over(self, divisor: float) -> Interval:
        """The same in another unit, of which one is a positive ``divisor`` of these."""
        return replace(self, value=self.value / divisor, low=self.low / divisor, high=self.high / divisor)

    def contains(self, number: float) -> bool:
        """Whether ``number`` lies between ``low`` and ``high``, ends included."""
        return self.low <= number <= self.high
