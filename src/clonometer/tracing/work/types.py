"""What is found of a program of workers, and what ``explain work.factor --json`` writes of it: times in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from clonometer.records import Check, Count, Ge, Key, Mark, OneOf, Positive, computed_field, version
from clonometer.results.series_types import AblationSeries
from clonometer.tracing.parts import CPUS, LIFE, UNEXPLAINED, part_of
from clonometer.tracing.types import Explanation, IntervalEstimate, NotNegative, OfPart, Segment, Tier, Versus

WORK_SCHEMA = 2
TIERS = ("tracepoints", "proc")
#: Where a futex lies (`clonometer.tracing.work.read.futex_place`), and what that means.
FUTEX_PLACES = {
    "heap": "a lock in the heap, where stdio streams are",
    "program": "a lock in the program's data, where the library's locks are",
    "shared": "a word that processes share",
    "stack": "a word on a stack",
    "other": "a word of other memory",
}

WorkPart = Annotated[str, OneOf((*LIFE, *CPUS, UNEXPLAINED), closed=False)]


@dataclass(frozen=True)
class WorkTier(Tier):
    """How much this machine lets be seen of workers: its name, and the means."""

    name: Annotated[str, OneOf(TIERS)]


@dataclass(frozen=True)
class GapPart(OfPart):
    """What one part adds to the gap between threads and processes: means over the workers of each side."""

    part: WorkPart
    thread_ns: Annotated[IntervalEstimate, Mark.ENDS]
    process_ns: Annotated[IntervalEstimate, Mark.ENDS]
    difference_ns: Annotated[IntervalEstimate, Mark.ENDS, "Threads less processes, over pairs of processes."]
    share: Annotated[IntervalEstimate | None, "Of the gap; None where the gap's interval contains 0."]

    @computed_field("What kind of time it is.", after="meaning")
    def kind(self) -> str:
        """Which kind of time it is."""
        return part_of(self.part).kind


@dataclass(frozen=True)
class UserCodePart:
    """What one thing adds to the difference in user code, by estimate."""

    what: Annotated[str, OneOf(("frequency", "migrations"))]
    difference_ns: Annotated[IntervalEstimate, Mark.ENDS]
    each_ns: Annotated[IntervalEstimate | None, "The cost of one migration; None for the frequency."] = None


@dataclass(frozen=True)
class FutexUse:
    """Where workers slept in futex: the place, at how many addresses; of an execution, all its workers together."""

    place: Annotated[str, OneOf(FUTEX_PLACES)]
    addresses: Count
    sleeps: NotNegative
    wait_ns: NotNegative


@dataclass(frozen=True)
class Delay:
    """What one part adds to slow executions: the slowest quarter of a side less all others, mean over workers."""

    part: WorkPart
    extra_ns: IntervalEstimate
    share: float


@dataclass(frozen=True)
class TaskTimeline:
    """What the starter or a worker did from when to when."""

    task: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class WorkTimeline:
    """One execution near its process's median."""

    whole_ns: Positive
    tasks: tuple[TaskTimeline, ...]


@dataclass(frozen=True)
class WorkSide:
    """One side: workers that are threads, or processes; means of the whole program, with 95% intervals."""

    cell: str
    whole_ns: Annotated[IntervalEstimate, Mark.ENDS, Ge(0), "Mean duration, traced."]
    untraced_ns: Annotated[IntervalEstimate, Mark.ENDS, Ge(0), "The same, untraced."]
    overhead: Annotated[
        IntervalEstimate,
        Mark.ENDS,
        "How much longer traced programs take, as a share; signed, over neighbours in time.",
    ]
    executions: Annotated[Count, "How many were traced."]
    untraced_executions: Count
    counts: Annotated[Mapping[str, IntervalEstimate], "Events of a worker in one execution."]
    frequency_hz: Annotated[IntervalEstimate | None, "Effective frequency of its CPUs; None where it was not measured."]
    futexes: Annotated[tuple[FutexUse, ...], "Where workers slept, longest first."] = ()
    slow: Annotated[Count, Key("slow_executions"), "How many of the traced ones the delays call slow."] = 0
    delays: Annotated[
        tuple[Delay, ...],
        "What the slowest quarter of the executions takes longer than the rest, greatest first; empty where they are "
        "too few.",
    ] = ()
    timeline: Annotated[WorkTimeline | None, "One execution; None where the tier sees none."] = None


@dataclass(frozen=True)
class WorkSides:
    """Workers that are threads, and workers that are processes."""

    thread: WorkSide
    process: WorkSide


@dataclass(frozen=True, kw_only=True)
class WorkExplanation:
    """Why workers that are threads and workers that are processes take different times."""

    schema = version(WORK_SCHEMA)

    condition: Annotated[str, Key("cell"), "The condition, without task_kind."]
    workload: Literal["work.factor"]
    workers: Positive
    numbers: Annotated[Positive, "Up to which each worker factors."]
    cpus: Positive
    tier: Annotated[WorkTier, "What could be seen."]
    pairs: Annotated[Positive, "Traced processes of each side; as many ran untraced."]
    conclusion: Annotated[str, "Who is slower, by how much, and where that time goes."] = ""
    gap_ns: Annotated[IntervalEstimate, Mark.ENDS, "Threads less processes, traced."]
    gap: Annotated[
        IntervalEstimate,
        Mark.ENDS,
        Check(lambda gap: gap.value > -1, "is -1 or less: threads would need no time"),
        "The same over the processes' time.",
    ]
    untraced_gap: Annotated[IntervalEstimate, Mark.ENDS, "The share without tracing."]
    reasons: Annotated[
        tuple[GapPart, ...],
        Key("budget"),
        "Parts of a worker's life, unexplained last; each side's sum to its whole_ns, their differences to gap_ns.",
    ]
    cpu_reasons: Annotated[
        tuple[GapPart, ...],
        Key("cpu_budget"),
        "What the CPUs did meanwhile, with the same sums; empty where that cannot be seen.",
    ]
    user_reasons: Annotated[tuple[UserCodePart, ...], Key("user_code"), "Of the difference in user code, by estimate."]
    unexplained: Annotated[float, "Share of the workers' time of both sides that no part covers."]
    overhead: Annotated[IntervalEstimate, Mark.ENDS, "How much longer traced programs take, both sides together."]
    sides: WorkSides
    ablation: Annotated[
        AblationSeries | None, "Shared things taken away one after the other; None where it was not measured."
    ] = None
    missing: Annotated[Count, Key("executions_not_seen"), "Executions whose tasks were not all seen."] = 0
    lost: Annotated[Count, "Events that are missing."] = 0
    grown: Annotated[Count, Key("buffer_grown"), "How often more room was taken for events."] = 0
    notes: Annotated[tuple[str, ...], "What a reader must know."] = ()

    @computed_field("Whether the interval of gap_ns excludes 0.", after="untraced_gap")
    def distinguishable(self) -> bool:
        """Whether the gap's interval leaves out 0."""
        return self.gap_ns.excludes_zero

    @property
    def thread(self) -> WorkSide:
        """Workers that are threads."""
        return self.sides.thread

    @property
    def process(self) -> WorkSide:
        """Workers that are processes."""
        return self.sides.process


#: Whatever ``explain`` gives.
AnyExplanation = Explanation | Versus | WorkExplanation
