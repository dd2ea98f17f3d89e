"""What an explanation is once it has been made: pure data, times in ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clonometer.results.startup import traps


@dataclass(frozen=True)
class Segment:
    """A piece of a launch, from ``start_ns`` (from the launch's own start) to ``end_ns``, spent on one part."""

    start_ns: int
    end_ns: int
    part: str


@dataclass(frozen=True)
class Figure:
    """A number with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """A part of the budget: its id (`clonometer.explain.parts.PARTS`), mean time, and share of the whole."""

    part: str
    mean_ns: Figure
    share: float


@dataclass(frozen=True)
class Tier:
    """How much this machine lets be seen.

    ``name`` is ``tracepoints``, ``own`` or ``stamps``; ``how`` the means; ``refused`` gives for each better one why it
    is not used; ``cannot_see`` what is missing.
    """

    name: str
    how: str
    refused: Mapping[str, str]
    cannot_see: tuple[str, ...]


@dataclass(frozen=True)
class Moment:
    """An event on a timeline: from the launch's start, whose, on which CPU, in words, and what it means."""

    time_ns: int
    who: str
    cpu: int
    words: str
    meaning: str


@dataclass(frozen=True)
class Timeline:
    """One launch in detail. ``which`` is ``median`` (the one nearest to it) or ``p99``."""

    which: str
    reaped_ns: int
    stages: Mapping[str, int]
    moments: tuple[Moment, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class CallUse:
    """A system call: who makes it, how often a launch, how long each, and all together a launch; ns, medians."""

    who: str
    name: str
    count: float
    each_ns: float
    launch_ns: float


@dataclass(frozen=True)
class CallText:
    """One system call of one launch, as `strace` would write it; ``result`` is ``?`` where it never returns."""

    who: str
    text: str
    result: str


@dataclass(frozen=True)
class Counts:
    """What counters showed of a piece of a launch, in means over launches.

    ``kind`` is ``part`` (``id`` as in the budget), ``stage`` (from the launch's start to that stamp), ``mode``
    (``user`` or ``kernel``) or ``all``. ``values`` are in the order of the names; ``ipc`` is instructions a cycle,
    None without these two.
    """

    kind: str
    id: str
    values: tuple[float, ...]
    ipc: float | None


@dataclass(frozen=True)
class Counters:
    """Counters over launches that were traced for them alone.

    Attributes
    ----------
    set
        ``hardware`` or ``software``.
    names
        What was counted; empty where ``reason`` says why nothing was.
    missing
        Counters of the set that this processor does not give, each with the reason.
    launches
        How many launches the means are over.
    running
        The share of the time in which they counted; counts are scaled up by it.
    """

    set: str
    names: tuple[str, ...] = ()
    reason: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    launches: int = 0
    running: float = 1.0
    rows: tuple[Counts, ...] = ()


@dataclass(frozen=True)
class StepsPhase:
    """Instructions of one part of a program (an id of `clonometer.explain.parts.PARTS`), and CPUID among them."""

    part: str
    instructions: int
    cpuid: int


@dataclass(frozen=True)
class ProgramSteps:
    """What the new program executes in user code, counted by single steps of one start.

    Attributes
    ----------
    instructions, cpuid
        All of them, and those that are CPUID.
    ended
        Whether it ran to its end; else these are the first ones.
    phases
        By the part of its life. Where its main was not found, all from its entry on is the library's start.
    cpuid_ns, cpuid_least_ns
        What one CPUID takes here: median and minimum of repetitions that were measured beside it.
    reason
        Why nothing was counted; None where something was.
    """

    instructions: int = 0
    cpuid: int = 0
    ended: bool = False
    phases: tuple[StepsPhase, ...] = ()
    cpuid_ns: float = 0.0
    cpuid_least_ns: float = 0.0
    reason: str | None = None

    @property
    def traps(self) -> bool:
        """Whether CPUID leaves for a hypervisor, by what it takes."""
        return traps(self.cpuid_ns)


@dataclass(frozen=True)
class Explanation:
    """Where the time of one mechanism's launches went.

    Attributes
    ----------
    cell
        Canonical text of the condition.
    tier
        What could be seen.
    launches, processes, untraced
        How many launches were traced, in how many processes; how many launches ran untraced beside them.
    band
        Lower and upper quantile of the launches that the budget is the mean of, within each process.
    reaped_ns
        Mean duration in that band.
    budget
        The parts, in the order of `clonometer.explain.parts.ORDER`, with those that took no time left out. With
        ``unexplained_ns`` their means sum to that of ``reaped_ns``.
    unexplained_ns, unexplained
        Time that no part covers, and its share.
    overhead
        How much longer traced launches are than untraced ones that were their neighbours in time, as a share; signed.
    traced_median_ns, untraced_median_ns
        Medians of all launches on either side, whenever they were.
    timelines
        The launch nearest the median, and the p99 one.
    calls
        System calls; empty where the tier sees none.
    calls_inflated
        Whether the times of the calls come from ptrace and are many times too long.
    flags, programs
        Clone flags by name, of each kind of new task, and the programs that were executed, each with how often a
        launch.
    stacks
        Folded kernel stacks with their counts; empty where they were not asked for, or may not be sampled.
    lost, grown
        Events that are missing, and how often more room was taken for them.
    notes
        What a reader must know.
    counters
        What the processor counted, or why nothing was; None where nobody asked.
    listing
        The calls of one launch with their arguments; empty where nobody asked, or ptrace is forbidden.
    steps
        What the new program executes, and what its CPUID cost; None where no program is started.
    """

    cell: str
    workload: str
    tier: Tier
    launches: int
    processes: int
    untraced: int
    band: tuple[float, float]
    reaped_ns: Figure
    budget: tuple[Share, ...]
    unexplained_ns: Figure
    unexplained: float
    overhead: Figure
    traced_median_ns: float
    untraced_median_ns: float
    timelines: tuple[Timeline, ...]
    calls: tuple[CallUse, ...] = ()
    calls_inflated: bool = False
    flags: tuple[tuple[tuple[str, ...], float], ...] = ()
    programs: tuple[tuple[str, float], ...] = ()
    stacks: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0
    grown: int = 0
    notes: tuple[str, ...] = ()
    counters: Counters | None = None
    listing: tuple[CallText, ...] = ()
    steps: ProgramSteps | None = None


@dataclass(frozen=True)
class Reason:
    """What one part adds to a ratio: the first's mean less the second's, and its share of the whole difference."""

    part: str
    first_ns: float
    second_ns: float
    difference_ns: float
    share: float


@dataclass(frozen=True)
class Versus:
    """Two mechanisms side by side; ``ratio`` is the first's mean over the second's, and the reasons sum to the rest."""

    first: Explanation
    second: Explanation
    ratio: float
    difference_ns: float
    reasons: tuple[Reason, ...]
