"""What a comparison of start methods hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, OneOf, Positive, version
from clonometer.verdicts import Direction

START_METHOD_SCHEMA = 1
#: What is measured of a method, by the name that people have for it; memory in bytes, all else times in ns.
QUANTITIES = {
    "first": "first worker",
    "later": "later worker",
    "pool": "pool ready",
    "task": "task in pool",
    "compute": "computing in all workers",
    "memory": "memory",
    "private": "private memory",
}
MEMORY = ("memory", "private")
WORKS, WARNS, BREAKS, UNKNOWN, NOT_TRIED = "works", "warns", "breaks", "unknown", "not tried"


@dataclass(frozen=True)
class StartMethodFigure:
    """The median over the trials of a method, with its 95% interval."""

    quantity: Annotated[
        str,
        OneOf(QUANTITIES),
        "first, later: from the call until the result, hand-over of the data included; pool: until its first result; "
        "task: of 200 that do nothing; compute: until as many tasks as workers have ended, each of which computes for "
        "20 ms; memory, private: PSS and private pages of all processes while the pool has its workers.",
    ]
    value: Annotated[float, Ge(0), "In ns, memory in bytes."]
    low: Annotated[float | None, Ge(0), "Null below 6 trials."]
    high: Annotated[float | None, Ge(0), "As low."]
    n: Annotated[Positive, "Trials, a process each."]


@dataclass(frozen=True)
class StartMethodCase:
    """What came of a case that was tried with a method."""

    case: str
    tried: Annotated[str, "What that is, in words."]
    outcome: Annotated[str, OneOf((WORKS, WARNS, BREAKS, UNKNOWN, NOT_TRIED)), "unknown: the trial ended before."]
    words: Annotated[str | None, "What the runtime said, or what was seen; null where it works."] = None


@dataclass(frozen=True)
class StartMethodRow:
    """A start method: what it costs and what breaks."""

    method: str
    name: Annotated[str, "What people call it."]
    is_default: Annotated[bool, "Whether the runtime uses it where none is named."]
    status: Annotated[str, OneOf(("measured", "unavailable", "failed", "not run"))]
    reason: Annotated[str | None, "Why it has no figures, or not of each trial."]
    failures: Annotated[Count, "Trials that failed."]
    figures: Sequence[StartMethodFigure]
    cases: Sequence[StartMethodCase]

    def figure(self, quantity: str) -> StartMethodFigure | None:
        """Its figure for a quantity, if there is one."""
        return next((each for each in self.figures if each.quantity == quantity), None)


@dataclass(frozen=True)
class RankedMethod:
    """A method's place: its ratio to the next cheaper, from pairs of trials of the same round."""

    method: str
    ratio: Annotated[float, Ge(0), "To the method before it; 1 for the cheapest."]
    low: Annotated[float | None, Ge(0), "Of the 95% interval; null for the cheapest, and below 6 pairs."]
    high: Annotated[float | None, Ge(0), "As low."]
    verdict: Annotated[
        Direction, "more: certainly; equal: it is the cheapest; unknown: too close to call, or fewer than 6 pairs."
    ]


@dataclass(frozen=True)
class StartMethodRanking:
    """The methods by one quantity, the cheapest first."""

    quantity: Annotated[str, OneOf(QUANTITIES)]
    methods: Sequence[RankedMethod]


@dataclass(frozen=True, kw_only=True)
class StartMethodAnswer:
    """What each start method costs and breaks in a runtime of the user's."""

    schema = version(START_METHOD_SCHEMA)

    status: Annotated[str, OneOf(("complete", "partial", "failed")), "partial: the budget was spent, or interrupted."]
    status_reason: str | None
    program: Annotated[Sequence[str], "The words of the runtime."]
    version: str
    implementation: str
    lock: Annotated[str | None, "Which lock threads take turns by: GIL or no GIL; null where none is known."]
    code: Annotated[str, "What is imported."]
    data_bytes: Count
    workers: Annotated[Positive, "Of a pool."]
    cpus: Annotated[Positive, "That the workers could use."]
    rounds: Annotated[Count, "In each round every method had its turn, in random order."]
    seed: int
    imports_ns: Annotated[float | None, "The median time of the import."]
    threads: Annotated[int | None, "Of the program after the import, at most."]
    rows: Sequence[StartMethodRow]
    rankings: Sequence[StartMethodRanking]

    def names(self) -> Mapping[str, str]:
        """What people call each method."""
        return {row.method: row.name for row in self.rows}

    def counted(self, outcome: str) -> Mapping[str, int]:
        """How many cases had an outcome, by method."""
        return {row.method: sum(each.outcome == outcome for each in row.cases) for row in self.rows}
