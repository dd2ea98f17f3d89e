"""What an explanation is once it has been made, and what ``clonometer explain --json`` writes of it: times in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from clonometer.families.other import traps
from clonometer.records import Check, Count, Ge, Key, Le, Mark, OneOf, Positive, computed_field, version
from clonometer.tracing.parts import ANY_PART, PARTS, UNEXPLAINED, part_of

EXPLAIN_SCHEMA = 1
TIERS = ("tracepoints", "own", "stamps")

NotNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
LaunchPart = Annotated[str, OneOf(PARTS, closed=False)]
#: Its id, or ``unexplained``.
PartOrRest = Annotated[str, OneOf((*PARTS, UNEXPLAINED), closed=False)]


@dataclass(frozen=True)
class IntervalEstimate:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float, float]:
        """The value, and the ends of its interval."""
        return self.value, self.low, self.high

    @property
    def excludes_zero(self) -> bool:
        """Whether its interval leaves out 0."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True)
class Segment:
    """A piece of a timeline, from its start, spent on one part."""

    start_ns: Count
    end_ns: Count
    part: Annotated[str, OneOf(ANY_PART, closed=False)]

    def fault(self) -> str | None:
        """Say what is wrong with one that was read."""
        return "ends before it begins" if self.end_ns < self.start_ns else None


@dataclass(frozen=True)
class OfPart:
    """What is told of one part, of a launch or of work, with its words."""

    part: str

    @computed_field(after="part")
    def label(self) -> str:
        """What the part is called."""
        return part_of(self.part).label

    @computed_field(after="label")
    def meaning(self) -> str:
        """What it means."""
        return part_of(self.part).meaning


@dataclass(frozen=True)
class BudgetPart(OfPart):
    """Mean time in one part over the launches in the band, with its 95% interval, and its share of the whole."""

    part: LaunchPart
    mean_ns: Annotated[IntervalEstimate, Mark.ENDS, Ge(0)]
    share: float

    @computed_field("parent, child, or what else is at work.", after="part")
    def who(self) -> str:
        """Who is at work."""
        return part_of(self.part).who


@dataclass(frozen=True)
class Tier:
    """How much this machine lets be seen: its name, and the means."""

    name: Annotated[str, OneOf(TIERS)]
    how: str
    refused: Annotated[Mapping[str, str], "Why each better way is not used here."]
    cannot_see: tuple[str, ...]


@dataclass(frozen=True)
class Moment:
    """An event on a timeline: from the launch's start, whose, on which CPU (-1: a stamp), in words, what it means."""

    time_ns: int
    who: str
    cpu: Annotated[int, Ge(-1)]
    words: str
    meaning: str


@dataclass(frozen=True)
class Timeline:
    """One launch in detail: the one nearest to the median, or to the 99th percentile."""

    which: Annotated[str, OneOf(("median", "p99"))]
    reaped_ns: Positive
    stages: Annotated[Mapping[str, int], Key("stages_ns")]
    moments: Annotated[tuple[Moment, ...], Key("events")]
    segments: Annotated[
        tuple[Segment, ...],
        Check(bool, "has no segment"),
        "Segments follow each other and sum to reaped_ns.",
    ]


@dataclass(frozen=True)
class CallUse:
    """A system call: who makes it, how often a launch, how long each (the median), and all together a launch."""

    who: str
    name: Annotated[str, Key("call")]
    count: Annotated[NotNegative, Key("per_launch")]
    each_ns: NotNegative
    launch_ns: NotNegative


@dataclass(frozen=True)
class CallText:
    """One system call of one launch, as strace would write it; the result is ? where it never returns."""

    who: str
    text: str
    result: str


@dataclass(frozen=True)
class NewTasks:
    """New tasks of one kind: their clone flags by name, and how many there are a launch."""

    flags: tuple[str, ...]
    count: Annotated[NotNegative, Key("per_launch")]


@dataclass(frozen=True)
class ProgramUse:
    """A program that was executed, and how often a launch."""

    file: str
    count: Annotated[NotNegative, Key("per_launch")]


@dataclass(frozen=True)
class Counts:
    """What counters showed of a piece of a launch, in means over launches, by the counter's name.

    ``kind`` is ``part`` (``id`` as in the budget), ``stage`` (from the launch's start to that stamp), ``mode``
    (``user`` or ``kernel``) or ``all``.
    """

    kind: Annotated[str, OneOf(("part", "stage", "mode", "all"))]
    id: str
    values: Annotated[Mapping[str, float], Mark.REST]
    ipc: Annotated[float | None, Key("instructions_per_cycle"), Mark.OMITTED] = None

    def fault(self) -> str | None:
        """Say what is wrong with one that was read."""
        strange = self.kind == "part" and self.id not in (*PARTS, UNEXPLAINED)
        return f"is of the part {self.id!r}, which this version does not know" if strange else None


@dataclass(frozen=True)
class Counters:
    """Counters over launches that were traced for them alone."""

    set: Annotated[str, OneOf(("hardware", "software"))]
    reason: Annotated[str | None, "Why nothing was counted."] = None
    missing: Annotated[
        Mapping[str, str], "Counters of the set that this processor does not give, each with the reason."
    ] = field(default_factory=dict)
    launches: Annotated[Count, "How many launches the means are over."] = 0
    running: Annotated[NotNegative, "Share of the time in which the counters counted; counts are scaled up by it."] = (
        1.0
    )
    rows: Annotated[tuple[Counts, ...], Key("counts"), "Means of a launch, by the counter's name."] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What was counted."""
        return tuple(self.rows[0].values) if self.rows else ()

    def fault(self) -> str | None:
        """Say what is wrong with one that was read."""
        differ = any(set(row.values) != set(self.names) for row in self.rows)
        return "has counts of which some lack a counter" if differ else None


@dataclass(frozen=True)
class StepsPhase:
    """Instructions of one part of a program, and CPUID among them."""

    part: LaunchPart
    instructions: Count
    cpuid: Count


@dataclass(frozen=True)
class ProgramSteps:
    """What the new program executes in user code, counted by single steps of one start."""

    instructions: Count = 0
    cpuid: Annotated[Count, "Instructions among them that are CPUID."] = 0
    ended: Annotated[bool, "Whether the program ran to its end; else these are its first instructions."] = False
    phases: Annotated[
        tuple[StepsPhase, ...],
        "By the part of its life. Where its main was not found, all from its entry on is the library's start.",
    ] = ()
    cpuid_ns: Annotated[NotNegative, "What one CPUID takes here: the median of repetitions."] = 0.0
    cpuid_least_ns: Annotated[NotNegative, "The shortest of them."] = 0.0
    reason: Annotated[str | None, "Why nothing was counted."] = None
    main_from_entry: Annotated[int | None, "Bytes from its file's entry to main; null: no main was found."] = None

    @property
    def traps(self) -> bool:
        """Whether CPUID leaves for a hypervisor, by what it takes."""
        return traps(self.cpuid_ns)


@dataclass(frozen=True)
class LaunchCounts:
    """How many launches were traced, how many ran untraced in between, and in how many processes."""

    traced: Count
    untraced: Count
    processes: Count


@dataclass(frozen=True)
class PredictedCall:
    """What this machine's calibration expects of fork's call with cold caches: nine in ten lie from low to high."""

    low_ns: NotNegative
    median_ns: NotNegative
    high_ns: NotNegative


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Where the time of one mechanism's launches went."""

    schema = version(EXPLAIN_SCHEMA)

    cell: Annotated[str, "Canonical text of the condition."]
    workload: str
    tier: Annotated[Tier, "What could be seen."]
    launches: LaunchCounts
    band: Annotated[
        tuple[Share, Share],
        Check(lambda ends: ends[0] <= ends[1], "is not two shares, the lower first"),
        "Quantiles of each process's launches between which the means are taken.",
    ]
    reaped_ns: Annotated[IntervalEstimate, Mark.ENDS, Ge(0), "Mean duration in that band."]
    budget: Annotated[tuple[BudgetPart, ...], "The parts; with unexplained_ns their means sum to reaped_ns."]
    unexplained: Annotated[float, "Share of reaped_ns that no part covers."]
    unexplained_ns: Annotated[IntervalEstimate, Mark.ENDS]
    overhead: Annotated[
        IntervalEstimate,
        Mark.ENDS,
        "Traced launches over untraced ones that were their neighbours in time, less 1: the median over such pairs.",
    ]
    traced_median_ns: Annotated[NotNegative, "Of all launches that were traced, whenever they were."]
    untraced_median_ns: NotNegative
    timelines: Annotated[tuple[Timeline, ...], "The launch nearest the median, and the p99 one."]
    calls: Annotated[tuple[CallUse, ...], Key("system_calls"), "Empty where the tier sees none."] = ()
    calls_inflated: Annotated[
        bool,
        Key("system_calls_inflated"),
        "Whether their times come from ptrace, which makes them many times too long.",
    ] = False
    new_tasks: tuple[NewTasks, ...] = ()
    programs: tuple[ProgramUse, ...] = ()
    stacks: Annotated[Mapping[str, Count], "Folded kernel stacks and how often each was met."] = field(
        default_factory=dict
    )
    lost: Annotated[Count, "Events that are missing."] = 0
    grown: Annotated[Count, Key("buffer_grown"), "How often more room was taken for events."] = 0
    notes: Annotated[tuple[str, ...], "What a reader must know."] = ()
    counters: Annotated[Counters | None, Mark.OPTIONAL, "What was counted in each part; None where nobody asked."] = (
        None
    )
    listing: Annotated[
        tuple[CallText, ...],
        Key("arguments"),
        Mark.OPTIONAL,
        "The calls of one launch with their arguments, by ptrace.",
    ] = ()
    steps: Annotated[
        ProgramSteps | None,
        Key("program_steps"),
        Mark.OPTIONAL,
        "The new program's own instructions, counted by single steps, and how many are CPUID; None where no program "
        "is started.",
    ] = None
    predicted: Annotated[
        PredictedCall | None,
        Key("predicted_call"),
        Mark.OPTIONAL,
        "Of the same fork in a process that forks now and then; None without a calibration, and for other launches.",
    ] = None

    @property
    def mechanisms(self) -> tuple[Explanation, ...]:
        """Itself, as of several mechanisms each."""
        return (self,)


@dataclass(frozen=True)
class RatioPart:
    """What one part adds to a ratio: the first's mean less the second's, and its share of the whole difference."""

    part: PartOrRest
    first_ns: float
    second_ns: float
    difference_ns: float
    share: float


@dataclass(frozen=True)
class Against:
    """Another mechanism beside the first: the first's mean over the other's, and the parts that make the difference."""

    other: Explanation
    ratio: NotNegative
    difference_ns: Annotated[float, "The first's mean less the other's, to which the reasons sum."]
    reasons: tuple[RatioPart, ...]


@dataclass(frozen=True)
class Versus:
    """Two mechanisms side by side: the keys of the first, and versus with the other."""

    first: Annotated[Explanation, Mark.MERGED]
    against: Annotated[Against, Key("versus"), Mark.OPTIONAL]

    @property
    def second(self) -> Explanation:
        """The other mechanism."""
        return self.against.other

    @property
    def mechanisms(self) -> tuple[Explanation, ...]:
        """Both."""
        return self.first, self.second
