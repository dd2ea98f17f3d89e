"""Explaining a program of workers: threads and processes, alternately, traced and untraced, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from clonometer.answers import Trace
from clonometer.errors import UnavailableError, UsageError
from clonometer.plan.adhoc import parse_settings, plan_from_arguments
from clonometer.plan.limits import estimated_launch_ns
from clonometer.plan.types import Catalogue, Target
from clonometer.results.series_types import SIDES, TASK_KIND
from clonometer.tracing.source import Tracer
from clonometer.tracing.tiers import TRACEPOINTS, TraceBackends, best_tier
from clonometer.tracing.types import IntervalEstimate, Segment
from clonometer.tracing.work import budget, read
from clonometer.tracing.work.budget import Account, Process
from clonometer.tracing.work.life import Lives, thinned
from clonometer.tracing.work.notes import conclusion, notes_of
from clonometer.tracing.work.types import (
    FutexUse,
    TaskTimeline,
    WorkExplanation,
    WorkSide,
    WorkSides,
    WorkTier,
    WorkTimeline,
)
from clonometer.words import cell_parts, cell_text

WORKLOAD: Literal["work.factor"] = "work.factor"
_EVENTS = ("tasks", "sched", "calls", "faults", "futex", "locks")
_BACKENDS = TraceBackends(
    of_tier={"tracepoints": ("fast", "tracepoints"), "proc": ("none",)},
    means={
        **TRACEPOINTS,
        "none": "what each worker read in /proc and from getrusage",
    },
    cannot_see={
        "tracepoints": (
            "interrupts: their time counts in the part that they interrupt",
            "cold caches: their time counts in user code",
        ),
        "proc": (
            "what a blocked worker waits for: locks, files and page faults are one part",
            "system calls and page faults: their time counts as ordinary CPU time",
            "what the CPUs do meanwhile",
        ),
    },
)
# Of one process: how long it may work, and how many executions are of use.
_PROCESS_NS = 4e8
_EXECUTIONS = (2, 20)


@dataclass(frozen=True)
class WorkWish:
    """What is asked: ``pairs`` of processes, traced and as many untraced; ``tier`` to look no closer than that."""

    pairs: int = 12
    tier: str | None = None
    watch: Callable[[int, int], None] = field(default=lambda done, of: None)


def work_sides(settings: Iterable[str], catalogue: Catalogue) -> tuple[Target, Target]:
    """Make the two targets that `explain_work` compares: threads, and processes.

    Raises
    ------
    UsageError
        For an unknown axis or value, several values of an axis, or ``task_kind``.
    UnavailableError
        If this machine does not have the workload.
    """
    given = list(settings)
    read_ = parse_settings(given)
    if TASK_KIND in read_:
        hint = f"leave out --set {TASK_KIND}=..."
        raise UsageError(f"{TASK_KIND} is what is compared here: threads with processes", hint)
    several = next((axis for axis, values in read_.items() if len(values) > 1), None)
    if several is not None:
        raise UsageError(
            f"{several} has {len(read_[several])} values, but one condition is explained at a time",
            "give each axis one value",
        )
    workload = catalogue.workloads.get(WORKLOAD)
    if workload is None or not workload.available:
        why = workload.reason if workload is not None else "no probe has it"
        raise UnavailableError(f"{WORKLOAD} is not available on this machine: {why}")
    plans = (plan_from_arguments([WORKLOAD], [*given, f"{TASK_KIND}={side}"], catalogue) for side in SIDES)
    threads, processes = (limited(plan.targets[0]) for plan in plans)
    return threads, processes


def limited(target: Target) -> Target:
    """Give a target as many executions as its process has time for."""
    least, most = _EXECUTIONS
    samples = int(min(most, max(least, _PROCESS_NS // max(1.0, estimated_launch_ns(target.condition)))))
    return replace(target, limits=replace(target.limits, samples=samples, blocks=1, warmup=1, block_limit_ns=0))


@dataclass
class _Heard:
    """What was heard of one side; `typical` is of its first traced process."""

    traced: list[Process] = field(default_factory=list)
    untraced: list[float] = field(default_factory=list)
    untraced_executions: int = 0
    missing: int = 0
    lost: int = 0
    saw_locks: bool = False
    places: dict[str, dict[str, float]] = field(default_factory=dict)
    typical: WorkTimeline | None = None


def explain_work(
    tracer: Tracer, sides: tuple[Target, Target], wish: WorkWish | None = None, *, cpus: int
) -> WorkExplanation:
    """Run workers as threads and as processes in turn, and attribute the gap between them part by part.

    Raises
    ------
    UnavailableError
        If no execution succeeded, or nothing can be traced.
    """
    asked = wish or WorkWish()
    cpus = 1 if sides[0].condition.get("cpus") == "one" else cpus
    small = replace(sides[0], limits=replace(sides[0].limits, samples=1, warmup=0))
    tier, how, _ = best_tier(WorkTier, _BACKENDS, asked.tier, partial(tracer.trace, small, events=_EVENTS))
    heard = {side: _Heard() for side in SIDES}
    targets = dict(zip(SIDES, sides, strict=True))
    for round_ in range(asked.pairs):
        for side, listening in _order(round_, traced=how != "none"):
            trace = tracer.trace(targets[side], how if listening else "none", _EVENTS if listening else ())
            _hear(heard[side], trace, listening=listening, proc=how == "none", cpus=cpus)
        asked.watch(round_ + 1, asked.pairs)
    pairs = min(len(side_heard.traced) for side_heard in heard.values())
    if pairs == 0 or not all(side_heard.untraced for side_heard in heard.values()):
        raise UnavailableError(f"no execution of {sides[0].workload} was traced completely", "clonometer run says why")
    return _gather(tracer, targets, heard, tier, cpus)


def _order(round_: int, *, traced: bool) -> list[tuple[str, bool]]:
    """Who runs when in a round: both sides next to each other, each first in half of the rounds."""
    sides = SIDES if round_ % 2 == 0 else SIDES[::-1]
    listening = (True, False) if round_ // 2 % 2 == 0 else (False, True)
    return [(side, is_listening) for is_listening in (listening if traced else (False,)) for side in sides]


def _hear(heard: _Heard, trace: Trace, *, listening: bool, proc: bool, cpus: int) -> None:
    if not listening:
        executions = list(read.executions(trace))
        if executions:
            heard.untraced.append(sum(execution.whole_ns for execution in executions) / len(executions))
            heard.untraced_executions += len(executions)
        if proc and executions:
            accounts = [
                Account(execution.whole_ns, read.parts_recorded(execution), {}, read.counts_recorded(execution))
                for execution in executions
            ]
            heard.traced.append(Process(tuple(accounts), executions[0].frequency_hz))
        return
    heard.lost += trace.lost
    followed = list(read.follow(trace))
    lives = [life for _, life in followed if life is not None]
    heard.missing += len(followed) - len(lives)
    if not lives:
        return
    heard.saw_locks = heard.saw_locks or bool((trace.events["kind"] == trace.kinds.index("lock_wanted")).any())
    process = Process(tuple(budget.account_of(life, cpus) for life in lives), followed[0][0].frequency_hz)
    heard.traced.append(process)
    _note_places(heard, process, trace.maps)
    if heard.typical is None:
        heard.typical = _typical(lives)


def _typical(lives: Sequence[Lives]) -> WorkTimeline:
    ordered = sorted(lives, key=lambda life: life.whole_ns)
    middle = ordered[(len(ordered) - 1) // 2]
    tasks = [("program", middle.starter), *((f"worker {number}", life) for number, life in enumerate(middle.workers))]
    return WorkTimeline(
        middle.whole_ns,
        tuple(
            TaskTimeline(name, tuple(Segment(*piece) for piece in thinned(life.pieces, middle.whole_ns)))
            for name, life in tasks
        ),
    )


def _note_places(heard: _Heard, process: Process, maps: str) -> None:
    for account in process.accounts:
        addresses: dict[str, int] = {}
        for address, sleeps in account.futex_sleeps.items():
            place = read.futex_place(maps, address)
            addresses[place] = addresses.get(place, 0) + 1
            sums = heard.places.setdefault(place, {"sleeps": 0.0, "wait_ns": 0.0, "addresses": 0.0})
            sums["sleeps"] += sleeps
            sums["wait_ns"] += account.futex_ns.get(address, 0)
            sums["addresses"] = max(sums["addresses"], addresses[place])


def _gather(
    tracer: Tracer, targets: Mapping[str, Target], heard: Mapping[str, _Heard], tier: WorkTier, cpus: int
) -> WorkExplanation:
    pairs = min(len(side_heard.traced) for side_heard in heard.values())
    traced = {side: side_heard.traced[:pairs] for side, side_heard in heard.items()}
    wholes = [[process.mean_whole_ns() for process in traced[side]] for side in SIDES]
    gap_ns, gap = budget.gap_of(*wholes)
    bare = min(len(side_heard.untraced) for side_heard in heard.values())
    untraced = [heard[side].untraced[:bare] for side in SIDES]
    apart = gap_ns.excludes_zero
    reasons = budget.reasons_of(traced["thread"], traced["process"], "parts", apart=apart)
    sees = tier.name == "tracepoints"
    both = [sum(pair) for pair in zip(*wholes, strict=True)], [sum(pair) for pair in zip(*untraced, strict=True)]
    nothing = sum(
        reason.thread_ns.value + reason.process_ns.value for reason in reasons if reason.part == "unexplained"
    )
    explained = WorkExplanation(
        workload=WORKLOAD,
        workers=int(targets["thread"].condition["workers"]),
        numbers=int(targets["thread"].condition["numbers"]),
        cpus=cpus,
        condition=_condition(targets["process"]),
        tier=_without_locks(tier, heard) if sees else tier,
        pairs=pairs,
        sides=WorkSides(*(_side(targets[side], heard[side], traced[side]) for side in SIDES)),
        gap_ns=gap_ns,
        gap=gap,
        untraced_gap=budget.gap_of(*untraced)[1],
        reasons=reasons,
        cpu_reasons=budget.reasons_of(traced["thread"], traced["process"], "cpu_parts", apart=apart) if sees else (),
        user_reasons=budget.user_reasons_of(traced["thread"], traced["process"]) if sees else (),
        unexplained=nothing / sum(sum(side) / pairs for side in wholes),
        overhead=_overhead(*both),
        missing=sum(side_heard.missing for side_heard in heard.values()),
        lost=sum(side_heard.lost for side_heard in heard.values()),
        grown=tracer.grown,
    )
    return replace(explained, conclusion=conclusion(explained), notes=tuple(notes_of(explained)))


def _condition(target: Target) -> str:
    """Canonical text of the condition, with the kind of task left out."""
    workload, parts = cell_parts(target.cells[0].text)
    return cell_text(workload, (part for part in parts if not part.startswith(f"{TASK_KIND}=")))


def _without_locks(tier: WorkTier, heard: Mapping[str, _Heard]) -> WorkTier:
    if any(side_heard.saw_locks for side_heard in heard.values()):
        return tier
    more = "the lock of address spaces (this kernel has no tracepoints mmap_lock:*): it is within faults and calls"
    return replace(tier, cannot_see=(*tier.cannot_see, more))


def _side(target: Target, heard: _Heard, traced: Sequence[Process]) -> WorkSide:
    executions = sum(len(process.accounts) for process in heard.traced)
    wholes = [process.mean_whole_ns() for process in traced]
    bare = heard.untraced[: len(wholes)]
    slow, delays = budget.delays_of(traced)
    frequencies = [process.frequency_hz for process in traced]
    known = [hz for hz in frequencies if hz is not None]
    futexes = [
        FutexUse(place, int(sums["addresses"]), sums["sleeps"] / executions, sums["wait_ns"] / executions)
        for place, sums in heard.places.items()
    ]
    return WorkSide(
        cell=target.cells[0].text,
        whole_ns=budget.mean_of(wholes),
        untraced_ns=budget.mean_of(heard.untraced),
        overhead=_overhead(wholes[: len(bare)], bare),
        executions=executions,
        untraced_executions=heard.untraced_executions,
        slow=slow,
        counts=budget.counts_of(traced),
        frequency_hz=budget.mean_of(known) if len(known) == len(frequencies) else None,
        futexes=tuple(sorted(futexes, key=lambda use: -use.wait_ns)),
        delays=delays,
        timeline=heard.typical,
    )


def _overhead(traced: Sequence[float], untraced: Sequence[float]) -> IntervalEstimate:
    count = min(len(traced), len(untraced))
    return budget.gap_of(traced[:count], untraced[:count])[1]
