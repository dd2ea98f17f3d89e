"""What an answer rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clonometer.advice.costs import FORK_MEMORY
from clonometer.advice.terms import MemoryPoint, Term, Terms, TermSpan
from clonometer.advice.wish import Wish


@dataclass(frozen=True)
class AdviceBasis:
    """What an answer rests on: terms, what forks cost by the parent's memory, and the scheduler's slice."""

    terms: Terms
    memory: Sequence[MemoryPoint]
    slice_ns: float
    #: What was assumed about this machine, besides what the model assumes of all.
    notes: Sequence[str] = ()
    #: What was stated or observed of the server itself.
    stated: Mapping[str, Term] = field(default_factory=dict)

    def spans(self, wish: Wish) -> dict[str, TermSpan]:
        """All terms, and what a fork costs with so much memory."""
        spans = {name: term.span for name, term in self.terms.terms.items()}
        if self.memory:
            spans |= dict(zip(FORK_MEMORY, fork_memory(self.memory, wish.memory_bytes), strict=True))
        return spans | {name: term.span for name, term in self.stated.items()}

    def cell(self, term: str) -> str:
        """What measured a term; memory of a fork is calculated by the calibration."""
        known = {**self.terms.terms, **self.stated}
        return known[term].cell if term in known else "calibrate"


def fork_memory(points: Sequence[MemoryPoint], memory_bytes: int) -> tuple[TermSpan, TermSpan]:
    """What a fork costs more with so much memory, on a line between the points beside it, or on from the last two."""
    if len(points) == 1:
        return points[0].call_ns, points[0].exit_ns
    index = next((n for n, point in enumerate(points) if point.memory_bytes >= memory_bytes), len(points) - 1)
    before, after = points[max(0, index - 1)], points[max(1, index)]
    share = (memory_bytes - before.memory_bytes) / (after.memory_bytes - before.memory_bytes)

    def between(low: TermSpan, high: TermSpan) -> TermSpan:
        return TermSpan(*(max(0.0, a + share * (b - a)) for a, b in zip(_ends(low), _ends(high), strict=True)))

    return between(before.call_ns, after.call_ns), between(before.exit_ns, after.exit_ns)


def _ends(span: TermSpan) -> tuple[float, float, float]:
    return span.value, span.low, span.high
