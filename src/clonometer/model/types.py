"""What a prediction hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, Gt

Ns = Annotated[float, Ge(0)]
#: Nine in ten of a normal distribution lie within so many standard deviations.
NINE_IN_TEN = 1.6449


@dataclass(frozen=True)
class CostRange:
    """A predicted cost: the median, and between which times nine in ten lie."""

    low_ns: Ns
    median_ns: Ns
    high_ns: Ns

    def times(self, count: float) -> CostRange:
        """The cost of so many."""
        return CostRange(self.low_ns * count, self.median_ns * count, self.high_ns * count)

    def plus(self, after: CostRange) -> CostRange:
        """The cost of both in turn; what makes one of them slow makes the other slow too, so that ends add up."""
        return CostRange(self.low_ns + after.low_ns, self.median_ns + after.median_ns, self.high_ns + after.high_ns)


@dataclass(frozen=True)
class Scale:
    """The machine's state of the moment, by the reference scan.

    Raises
    ------
    ValueError
        If ``factor`` is not greater than 0 or ``spread`` is below 0.
    """

    factor: Annotated[float, Gt(0), "Present times over those of the calibration."]
    spread: Annotated[float, Ge(0), "Its standard deviation, on the logarithm."]

    def __post_init__(self) -> None:
        if not self.factor > 0 or not self.spread >= 0:
            raise ValueError(f"a scale needs a factor above 0 and a spread from 0, not {self}")


#: Calibrated and predicted at one moment.
SAME_MOMENT = Scale(1.0, 0.0)


@dataclass(frozen=True)
class Scales:
    """The machine's state of the moment for each kind of time: cold caches meet other memory than hot ones."""

    cold: Annotated[Scale, "Of calls with cold caches."]
    hot: Annotated[Scale, "Of forks in a tight loop, whose caches are hot."]
    waits: Annotated[Scale, "Of the waits after a call: for the child's end, or for its execve."]

    @classmethod
    def alike(cls, scale: Scale) -> Scales:
        """Take one for all."""
        return cls(scale, scale, scale)


#: Where no reference scan was made.
UNSCALED = Scales.alike(SAME_MOMENT)


@dataclass(frozen=True)
class ForkCost:
    """What fork's call costs, by what cannot be seen from outside."""

    first: Annotated[CostRange, "Pages written since the last fork, cold caches: a first fork, or a busy server's."]
    unwritten: Annotated[CostRange, "Pages not written since the last fork, cold caches."]
    first_hot: Annotated[CostRange, "As first, with hot caches: forks in a tight loop."]
    unwritten_hot: Annotated[CostRange, "As unwritten, with hot caches."]


@dataclass(frozen=True)
class Contributor:
    """One term of a fork's cost."""

    term: Annotated[str, "Its name."]
    count: Annotated[float, Ge(0), "How many the process has."]
    first_ns: Annotated[Ns, "Its part of fork.first's median."]
    unwritten_ns: Annotated[Ns, "Its part of fork.unwritten's median."]


@dataclass(frozen=True)
class Prediction:
    """What fork and its kin cost one process; ranges hold nine in ten."""

    fork: ForkCost
    exit: Annotated[CostRange, "After the call, the parent's wait for a child that ends without an exec."]
    exec: Annotated[CostRange, "After the call, the parent's wait until its child has executed a program."]
    posix_spawn: Annotated[CostRange | None, "posix_spawn's call instead of fork's; None where not calibrated."]
    vfork: Annotated[CostRange | None, "vfork's call, with a child that ends at once; None where not calibrated."]
    page_tables_bytes: Annotated[Count, "Page tables that the child needs."]
    cow: Annotated[Mapping[str, CostRange], "The first write to a page after a fork, by the calibration's names."]
    contributors: Annotated[Sequence[Contributor], "Parts of fork's medians, the largest first; they add up to them."]
    beyond: Annotated[
        Sequence[str], "Terms of which the process has more than was measured, or that were not measured."
    ]
    scales: Scales = UNSCALED
