"""What an answer says in sentences, and what it takes for granted."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.advice.answer import Comparison, DesignAnswer
from clonometer.advice.wish import KEPT, Wish
from clonometer.units import format_duration, format_ratio

#: Designs that differ by less are too close to call, as in `compare`.
LEAST_DIFFERENCE = 0.02
#: What is near the best: of that much nobody builds another server.
NEAR = 0.05
_BY = {"p50": "median latency", "p99": "99th percentile", "cpu": "CPU time of a request", "memory": "memory"}

_ALWAYS = (
    "Requests arrive at random (Poisson) and all do the same work.",
    "Tasks that are ready wait in one queue for all CPUs; the kernel has a queue for each CPU and moves tasks later.",
    "Where one task accepts and another answers, each pays half of what an idle connection costs.",
    "Not in the model: caches lost between tasks, contention of locks and allocators, other load on the machine.",
    "A request's own work takes as long in every design.",
    "CPU time is measured at 500 and 4,000 requests a second, since servers that hardly sleep find their caches warm.",
)


def sentence(ranked: Sequence[DesignAnswer], comparisons: Sequence[Comparison], wish: Wish, order: str) -> str:
    """Say which design is first, and how surely."""
    if not ranked:
        return "No design satisfies this: each has its reason below. Ask for less, or give it more CPUs."
    first = ranked[0]
    if not comparisons:
        return f"Only {first.title} satisfies this."
    close = [first.title]
    for answer, comparison in zip(ranked[1:], comparisons, strict=True):
        if not comparison.is_close:
            break
        close.append(answer.title)
    if len(close) > 1:
        return f"Too close to call by {_BY[order]}: {'; '.join(close[:3])}{' and others' if len(close) > 3 else ''}."
    ratio = comparisons[0].ratio
    ahead = format_ratio(ratio.value, ratio.low, ratio.high)
    p50 = "" if first.p50_ns is None else f" ({format_duration(first.p50_ns.value)} at the median)"
    return f"Use {first.title}{p50}: by {_BY[order]} the next, {ranked[1].title}, takes {ahead} times as much."


def assumptions(wish: Wish, slice_ns: float) -> list[str]:
    """Say what the model takes for granted for a wish."""
    more = [f"While others wait, a task runs for {format_duration(slice_ns)} at a time."]
    if wish.block_ns:
        more.append("A request that waits holds its task: a loop answers nobody meanwhile.")
        more.append("It waits once, after its work; half of what a connection costs comes after that.")
    if wish.language != "c":
        more.append(
            f"Of {wish.language} only what a launch, a hand-over and a connection cost more than in C is known; "
            "all else is as in C."
        )
    if wish.connections == KEPT:
        more.append("Connections last long: what opening one costs is not counted.")
    return [*_ALWAYS, *more]
