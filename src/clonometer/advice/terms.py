"""What this machine's measurements say of servers: terms, each measured by a workload, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Mark, version

#: Raised where terms of an earlier version mean something else, or lack what all answers need.
TERMS_SCHEMA = 4


@dataclass(frozen=True)
class TermSpan:
    """A value and its 95% interval."""

    value: float
    low: float
    high: float

    def fault(self) -> str | None:
        """Say what contradicts itself; None where nothing does."""
        return None if self.low <= self.value <= self.high else "has a value outside its own interval"

    def times(self, factor: float) -> TermSpan:
        """As many of it; a factor is not below 0."""
        return TermSpan(self.value * factor, self.low * factor, self.high * factor)


NOTHING = TermSpan(0.0, 0.0, 0.0)


def total(spans: Sequence[TermSpan]) -> TermSpan:
    """Add spans that are independent of each other: their ways to the ends add up as squares."""
    value = sum(span.value for span in spans)
    below = sum((span.value - span.low) ** 2 for span in spans) ** 0.5
    above = sum((span.high - span.value) ** 2 for span in spans) ** 0.5
    return TermSpan(value, value - below, value + above)


def difference(more: TermSpan, less: TermSpan) -> TermSpan:
    """What one is above the other, of which each was measured by itself."""
    return total([more, TermSpan(-less.value, -less.high, -less.low)])


@dataclass(frozen=True)
class Term:
    """A cost that was measured."""

    span: Annotated[TermSpan, "In ns, or in bytes where its name ends so."]
    cell: Annotated[str, "What measured it."]


@dataclass(frozen=True)
class MemoryPoint:
    """What a fork costs more for a parent's memory: its call, and the child's end."""

    memory_bytes: Count
    call_ns: TermSpan
    exit_ns: TermSpan


@dataclass(frozen=True)
class Terms:
    """All terms of one machine."""

    schema = version(TERMS_SCHEMA)

    made_at: Annotated[Count, "When: seconds since 1970."]
    machine: Annotated[Mapping[str, str], "The facts for which they hold."]
    terms: Annotated[Mapping[str, Term], "By name."]
    lacks: Annotated[Mapping[str, str], "What could not be measured, and why."]
    busy: Annotated[str, Mark.OPTIONAL, "What else used the CPUs as this was measured; empty: nothing much."] = ""

    def get(self, name: str) -> TermSpan | None:
        """The span of a term; None where it was not measured."""
        term = self.terms.get(name)
        return None if term is None else term.span
