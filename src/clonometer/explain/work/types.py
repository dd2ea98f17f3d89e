"""What is found of a program of workers: pure data, times in ns, every figure with its 95% interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clonometer.explain.types import Figure, Tier
from clonometer.explain.work.life import Piece
from clonometer.results.series.types import AblationSeries


@dataclass(frozen=True)
class WorkReason:
    """What one part adds to the gap between threads and processes.

    Attributes
    ----------
    part
        Its id (`clonometer.explain.work.parts`), or ``unexplained``.
    thread_ns, process_ns
        Mean over the workers of each side.
    difference_ns
        Threads less processes, over pairs of processes.
    share
        Of the gap; None where the gap's interval contains 0.
    """

    part: str
    thread_ns: Figure
    process_ns: Figure
    difference_ns: Figure
    share: Figure | None


@dataclass(frozen=True)
class UserReason:
    """What one thing adds to the difference in user code, by estimate: ``frequency`` or ``migrations``.

    ``each_ns`` is the cost of one migration; None for the frequency.
    """

    what: str
    difference_ns: Figure
    each_ns: Figure | None = None


@dataclass(frozen=True)
class FutexUse:
    """Where workers slept in futex: the place, at how many addresses; means of an execution over all its workers.

    ``place`` is that of `clonometer.explain.work.read.futex_place`.
    """

    place: str
    addresses: int
    sleeps: float
    wait_ns: float


@dataclass(frozen=True)
class Delay:
    """What one part adds to slow executions: the slowest quarter of a side less all others, mean over workers."""

    part: str
    extra_ns: Figure
    share: float


@dataclass(frozen=True)
class WorkTimeline:
    """One execution near its process's median: for the starter and every worker what it did from when to when."""

    whole_ns: int
    tasks: tuple[tuple[str, tuple[Piece, ...]], ...]


@dataclass(frozen=True)
class WorkSide:
    """One side: workers that are threads, or processes.

    Attributes
    ----------
    kind, cell
        ``thread`` or ``process``, and the condition.
    whole_ns, untraced_ns
        Mean duration of the program, traced and untraced.
    overhead
        How much longer traced programs take, as a share; signed, over neighbours in time.
    executions, untraced_executions, slow
        How many executions were traced, how many not, and how many of the traced ones `delays` calls slow.
    counts
        Events of a worker in the order of `clonometer.explain.work.parts.COUNTS`.
    frequency_hz
        Effective frequency of its CPUs; None where it was not measured.
    futexes
        Where its workers slept, longest first.
    delays
        What makes its slow executions slow, greatest first; empty where there are too few.
    timeline
        One execution; None where the tier sees none.
    """

    kind: str
    cell: str
    whole_ns: Figure
    untraced_ns: Figure
    overhead: Figure
    executions: int
    untraced_executions: int
    slow: int
    counts: Mapping[str, Figure]
    frequency_hz: Figure | None
    futexes: tuple[FutexUse, ...] = ()
    delays: tuple[Delay, ...] = ()
    timeline: WorkTimeline | None = None


@dataclass(frozen=True)
class WorkExplanation:
    """Why workers that are threads and workers that are processes take different times.

    Attributes
    ----------
    workload, workers, numbers, cpus
        What ran, with how many workers up to which number, on how many CPUs.
    condition
        Canonical text of the condition, without the kind of task.
    tier
        What could be seen.
    pairs
        Traced processes of each side; as many ran untraced.
    thread, process
        The two sides.
    gap_ns, gap
        Threads less processes, and the same as a share of the processes' time; traced.
    untraced_gap
        The share when nobody listens.
    reasons
        Parts of the workers' lives, in the order of `clonometer.explain.work.parts.LIFE_ORDER`, ``unexplained`` last
        and always there; their differences sum to `gap_ns`.
    cpu_reasons
        What the CPUs did meanwhile; the same sum. Empty where the tier does not see it.
    user_reasons
        Of the difference in user code.
    unexplained
        Share of the workers' time, of both sides, that no part covers.
    overhead
        How much longer traced programs take, both sides together.
    missing
        Executions whose tasks were not all seen.
    lost, grown
        Events that are missing, and how often more room was taken for them.
    ablation
        Shared things taken away one after the other, if that was measured beside it.
    notes
        What a reader must know.
    """

    workload: str
    workers: int
    numbers: int
    cpus: int
    condition: str
    tier: Tier
    pairs: int
    thread: WorkSide
    process: WorkSide
    gap_ns: Figure
    gap: Figure
    untraced_gap: Figure
    reasons: tuple[WorkReason, ...]
    cpu_reasons: tuple[WorkReason, ...]
    user_reasons: tuple[UserReason, ...]
    unexplained: float
    overhead: Figure
    missing: int = 0
    lost: int = 0
    grown: int = 0
    ablation: AblationSeries | None = None
    notes: tuple[str, ...] = field(default=())

    def reason(self, part: str) -> WorkReason | None:
        """What one part of the workers' lives adds; None where no worker spends time on it."""
        return next((one for one in self.reasons if one.part == part), None)

    @property
    def is_told_apart(self) -> bool:
        """Whether the gap's interval leaves out 0."""
        return not self.gap_ns.low <= 0 <= self.gap_ns.high
