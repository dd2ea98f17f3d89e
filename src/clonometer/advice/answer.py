"""The answer: what ``clonometer advise --json`` prints (docs/schemas/advise.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from clonometer.advice.children import KINDS, MEASURED, UnknownTerm
from clonometer.advice.terms import TermSpan
from clonometer.advice.wish import ORDERS, Wish
from clonometer.records import Count, Ge, Mark, OneOf, Positive, version

ADVICE_SCHEMA = 1


@dataclass(frozen=True)
class CostPart:
    """A part of what a request costs: CPU time."""

    name: str
    cpu_ns: TermSpan
    place: Annotated[
        str,
        OneOf(("acceptor", "worker", "after")),
        "Who pays: the task that accepts, the one that answers, or whoever runs after the client has its answer.",
    ]
    measured_by: Annotated[Sequence[str], "The cells that measured it, each by itself."]
    known: Annotated[str, OneOf(KINDS), "How: what was counted or stated has measured prices."] = MEASURED


@dataclass(frozen=True, kw_only=True)
class DesignAnswer:
    """What a design does under the load."""

    id: str
    name: str
    title: str
    workload: Annotated[str, "The workload that runs it."]
    rank: Annotated[Positive | None, "From 1; null where it does not qualify."]
    reason: Annotated[str | None, "Why it does not qualify; null where it does."]
    parts: Annotated[Sequence[CostPart], "What a request costs besides its own work; empty where not known."]
    cpu_ns: Annotated[TermSpan | None, "CPU time of a request, with its work."] = None
    p50_ns: Annotated[TermSpan | None, "Latency, from the intended time of sending."] = None
    p99_ns: Annotated[TermSpan | None, "The same."] = None
    cpu_share: Annotated[float | None, Ge(0), "The share of the server's CPUs that it keeps busy."] = None
    most_hz: Annotated[float | None, Ge(0), "The rate at which it would be saturated."] = None
    memory_bytes: Annotated[Count | None, "Memory in all, what the first process has included; null: not known."] = None
    crash: Annotated[str, "What a crash in the code of one request takes along."]


@dataclass(frozen=True)
class Comparison:
    """Two designs that qualify, one rank after the other."""

    first: str
    second: str
    ratio: Annotated[TermSpan, "The second's figure over the first's, by which they are ranked."]
    is_close: Annotated[bool, "Whether the interval contains 1, or they differ by less than 2%: too close to call."]


@dataclass(frozen=True)
class CurvePoint:
    """What the designs would do at another value of one thing."""

    value: Annotated[float, Ge(0)]
    ns: Annotated[Mapping[str, float | None], "By design: what ranks them; null where it cannot keep up."]


@dataclass(frozen=True)
class BreakEven:
    """How the answer depends on one thing, all else as wished."""

    of: Annotated[str, OneOf(("work_ns", "memory_bytes", "rate_hz", "response_bytes"))]
    title: str
    wished: Annotated[float, Ge(0)]
    sentences: Annotated[Sequence[str], "Where another design is first, and where they no longer differ."]
    points: Sequence[CurvePoint]


@dataclass(frozen=True, kw_only=True)
class ProvenDesign:
    """A design that was run under the load: what was predicted, and what was measured."""

    id: str
    predicted_p50_ns: TermSpan
    measured_p50_ns: TermSpan
    predicted_p99_ns: TermSpan
    measured_p99_ns: Annotated[TermSpan | None, "Null where too few requests were measured."]
    predicted_cpu_ns: TermSpan
    measured_cpu_ns: TermSpan | None


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The best two designs, run in turn."""

    designs: Sequence[ProvenDesign]
    ratio: Annotated[TermSpan, "Measured: the second's median over the first's."]
    faster: Annotated[str | None, "Whose median was certainly lower, by 2% or more; null: neither's."]
    agrees: Annotated[bool, "Whether that is what was predicted, too close to call included."]
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Which design a server should have for its load, on this machine."""

    schema = version(ADVICE_SCHEMA)

    wish: Wish
    order: Annotated[str, OneOf(ORDERS), "What designs are ranked by."]
    designs: Annotated[Sequence[DesignAnswer], "Those that qualify by rank, then the others."]
    comparisons: Annotated[Sequence[Comparison], "Of each with the first design of the rank before it."]
    sentence: Annotated[str, "The answer in a sentence."]
    depends_on: Sequence[BreakEven]
    assumptions: Annotated[Sequence[str], "What the model takes for granted, and what it does not contain."]
    made_at: Annotated[Count, "When the terms were measured: seconds since 1970."]
    commands: Annotated[Sequence[str], "What checks the answer here."]
    unknown: Annotated[Sequence[UnknownTerm], "What real servers pay, and nobody has said or seen of this one."] = ()
    cautions: Annotated[Sequence[str], "What makes the answer doubtful as a whole."] = ()
    observed: Annotated[Sequence[str], "What was read from a process or a census, and how."] = ()
    proof: Annotated[Proof | None, Mark.OMITTED] = None
    model: Annotated[Mapping[str, Any], Mark.UNWRITTEN, "What a page answers again with."] = field(default_factory=dict)
