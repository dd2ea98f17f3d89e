"""Explaining a mechanism: traced and untraced launches side by side, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from statistics import median

from clonometer.answers import Trace
from clonometer.errors import UnavailableError, UsageError
from clonometer.families import family, is_launch
from clonometer.plan.types import Catalogue, Target
from clonometer.tracing.arguments import listing_of
from clonometer.tracing.budget import BAND, budget_of
from clonometer.tracing.calls import calls_of, tasks_and_programs
from clonometer.tracing.counters import counters_of
from clonometer.tracing.overhead import overhead_of, plan_alternation
from clonometer.tracing.partition import FAULT_RUN, TracedLaunch, creates_no_task, not_whole, traced_launches
from clonometer.tracing.rounds import LEAST_PROCESSES, Rounds, launch_in_turn
from clonometer.tracing.source import Tracer
from clonometer.tracing.stacks import fold
from clonometer.tracing.tiers import TRACEPOINTS, TraceBackends, best_tier
from clonometer.tracing.timeline import make_timeline, nearest
from clonometer.tracing.types import Counters, Explanation, LaunchCounts, Tier

_EVENTS = ("tasks", "sched", "calls", "faults")
# Of the calls only those that make, run, await and end tasks.
_MAIN = ("tasks", "sched", "main", "faults")
# What an event costs a launch by measurement, roughly, and how much of a launch all of them may take.
_EVENT_NS = 150
_MOST_EVENTS = 0.1
_BACKENDS = TraceBackends(
    of_tier={"tracepoints": ("fast", "tracepoints"), "own": ("own",), "stamps": ("none",)},
    means={
        **TRACEPOINTS,
        "own": "perf events of the parent alone: its own switches and page faults",
        "none": "timestamps in user code only",
    },
    cannot_see={
        "tracepoints": ("interrupts: their time counts in the part that they interrupt",),
        "own": (
            "system calls and wake-ups: only the parent's switches separate the call, the wait and the reaping",
            "how long page faults take, and their cause",
            "the child, except its timestamps: its waiting, its faults, its exit",
        ),
        "stamps": (
            "everything inside the kernel: each part lies between two timestamps",
            "who waited for a CPU, page faults, system calls, exit and reaping",
        ),
    },
)
# Events of the first thread alone say little of the one that launches.
_OF_RUNTIMES = replace(_BACKENDS, of_tier={name: ways for name, ways in _BACKENDS.of_tier.items() if name != "own"})
_NO_COUNTERS = {
    "own": "they are read at the kernel's tracepoints, which are not used; --counters software counts the parent's own "
    "page faults and switches",
    "stamps": "they are read at the kernel's events, of which none are used",
}
_CALL_SAMPLES = 20
_COUNTED_PROCESSES = 3
_INFLATED = "system calls were counted by ptrace, which stops each of them twice: their times are many times too long"
_STACK_PERIOD_NS = 50_000


@dataclass(frozen=True)
class TraceOptions:
    """What is asked of an explanation.

    ``processes`` traced ones, and as many untraced; ``tier`` to use no better than that; ``stacks`` for samples of the
    kernel's stacks, whose addresses ``symbol`` names; ``counters`` is the set to count (``hardware``, ``software``);
    ``arguments`` for the arguments of calls. ``by_runtime``: the launches are a language's, whose process has threads.
    """

    processes: int = 6
    tier: str | None = None
    stacks: bool = False
    symbol: Callable[[int], str] = hex
    counters: str | None = None
    arguments: bool = False
    by_runtime: bool = False
    watch: Callable[[int, int], None] = field(default=lambda done, of: None)


def launching(catalogue: Catalogue) -> list[str]:
    """Names of the workloads that launch tasks, each of which can be explained."""
    return sorted(name for name, workload in catalogue.workloads.items() if is_launch(workload.family))


def admit(target: Target, catalogue: Catalogue) -> None:
    """Refuse what has no launch that can be taken to pieces.

    Raises
    ------
    UsageError
        For a workload that is no launch of a task, or launches several at once.
    UnavailableError
        For one that this machine does not have.
    """
    workload = catalogue.workloads[target.workload]
    if not is_launch(workload.family):
        raise UsageError(
            f"{workload.id} launches no task, so it cannot be explained",
            f"what can be explained: {', '.join(launching(catalogue))}",
        )
    if "reaped_ns" not in workload.quantities:
        raise UsageError(f"nothing waits for what {workload.id} launches, so there is no end to explain")
    if target.condition.get("detached") == "yes":
        raise UsageError(
            "nothing waits for a detached thread, so its launch has no end to explain", "detached=no has one"
        )
    if target.condition.get("concurrency", 1) not in (1, None):
        raise UsageError("launches are explained one at a time", "leave concurrency at 1")
    if not workload.available:
        raise UnavailableError(f"{workload.id} is not available on this machine: {workload.reason}")


def is_of_runtime(target: Target, catalogue: Catalogue) -> bool:
    """Whether a language makes the launches."""
    return bool(family(catalogue.workloads[target.workload].family).language_tasks)


def explain(tracer: Tracer, target: Target, options: TraceOptions) -> Explanation:
    """Trace a target's launches and say where their time went.

    Raises
    ------
    UnavailableError
        If no launch succeeded.
    """
    trace = partial(tracer.trace, target, events=_EVENTS, fault_run=FAULT_RUN)
    tier, _, detailed = best_tier(Tier, _OF_RUNTIMES if options.by_runtime else _BACKENDS, options.tier, trace)
    if options.by_runtime and creates_no_task(detailed):
        raise UsageError(
            f"{target.workload} creates no task of the kernel, so there is nothing to trace: "
            "the runtime's scheduler runs the function, or a thread that is there already",
            "clonometer run measures it; --tier stamps cuts it at its timestamps; temperature=cold is a first launch",
        )
    first, events = _lighter(tracer, target, detailed)
    # Who does not listen all the time does not see which threads there are.
    turns = None if options.by_runtime else plan_alternation(target, first)
    rounds = launch_in_turn(
        tracer, target, first, events, turns=turns, processes=options.processes, watch=options.watch
    )
    _check_launches(target, rounds)
    return _gather(tracer, target, options, tier, rounds, detailed=detailed if events is _MAIN else None)


def _check_launches(target: Target, rounds: Rounds) -> None:
    if not rounds.within and not rounds.untraced_ns:
        raise UnavailableError(f"no launch of {target.workload} succeeded", "clonometer run says why")
    if len(rounds.traces) < LEAST_PROCESSES or not rounds.pairs:
        raise UnavailableError(
            f"in {rounds.left_out} of {rounds.left_out + len(rounds.traces)} processes every launch of "
            f"{target.workload} was disturbed while it was traced",
            "run it again; if it persists, use --tier stamps, which traces nothing",
        )


def _lighter(tracer: Tracer, target: Target, detailed: Trace) -> tuple[Trace, tuple[str, ...]]:
    """Listen to fewer events where all of them would lengthen so short a launch too much."""
    launches = list(traced_launches(detailed))
    if detailed.how != "fast" or not launches:
        return detailed, _EVENTS
    each = [len(traced.events) * _EVENT_NS / traced.launch.reaped_ns for traced in launches]
    if median(each) <= _MOST_EVENTS:
        return detailed, _EVENTS
    light = tracer.trace(target, detailed.how, _MAIN, fault_run=FAULT_RUN)
    return (detailed, _EVENTS) if light.refused is not None else (light, _MAIN)


def _gather(
    tracer: Tracer, target: Target, options: TraceOptions, tier: Tier, rounds: Rounds, *, detailed: Trace | None
) -> Explanation:
    """Put it all together; ``detailed`` has every event where the budget's launches were listened to less."""
    reaped, budget, unexplained = budget_of(rounds.processes)
    overhead = overhead_of(rounds.pairs)
    closely = list(chain(*rounds.processes) if detailed is None else traced_launches(detailed))
    sees_calls = tier.name == "tracepoints"
    followed, refusal = ([], None) if sees_calls and not options.arguments else _follow(tracer, target)
    words = refusal or (None if sees_calls else _INFLATED)
    calls = calls_of(closely if sees_calls else followed)
    new_tasks, programs = tasks_and_programs(closely if sees_calls else followed)
    traces = [*rounds.traces, *([] if detailed is None else [detailed])]
    lost = sum({id(trace): trace.lost for trace in traces}.values())
    left_out = sum(not_whole(trace) for trace in rounds.traces)
    unexplained_share = unexplained.value / reaped.value
    return Explanation(
        cell=target.cells[0].text,
        workload=target.workload,
        tier=tier,
        launches=LaunchCounts(sum(map(len, rounds.processes)), len(rounds.untraced_ns), len(rounds.traces)),
        band=BAND,
        reaped_ns=reaped,
        budget=budget,
        unexplained_ns=unexplained,
        unexplained=unexplained_share,
        overhead=overhead,
        traced_median_ns=median(rounds.traced_ns),
        untraced_median_ns=median(rounds.untraced_ns),
        timelines=tuple(
            make_timeline(which, nearest(closely, share)) for which, share in (("median", 0.5), ("p99", 0.99))
        ),
        calls=calls,
        calls_inflated=not sees_calls and bool(calls),
        new_tasks=new_tasks,
        programs=programs,
        stacks=_sampled(tracer, target, options),
        lost=lost,
        grown=tracer.grown,
        counters=_counted(tracer, target, options.counters, tier.name),
        listing=listing_of(nearest(followed, 0.5)) if options.arguments and followed else (),
        notes=(
            *_left_out(rounds),
            *_notes(lost, left_out, overhead.value, unexplained_share, words, light=detailed is not None),
        ),
    )


def _follow(tracer: Tracer, target: Target) -> tuple[list[TracedLaunch], str | None]:
    """Few launches by ptrace: each call stops twice, which its time says nothing about."""
    limits = replace(target.limits, samples=_CALL_SAMPLES, blocks=1, warmup=3)
    trace = tracer.trace(replace(target, limits=limits), "ptrace")
    if trace.refused is not None:
        return [], f"the calls and their arguments cannot be read by ptrace: {trace.refused}"
    return list(traced_launches(trace)), None


def _counted(tracer: Tracer, target: Target, wanted: str | None, tier: str) -> Counters | None:
    """Launches whose events each carry the counters: more to note, and so no part of the budget."""
    if wanted is None:
        return None
    if tier != "tracepoints" and (tier, wanted) != ("own", "software"):
        return Counters(wanted, reason=_NO_COUNTERS[tier])
    traces: list[Trace] = []
    for _ in range(_COUNTED_PROCESSES):
        # A tier that counts is named as its way of tracing; that of one's own events has no counters to be read.
        trace = tracer.trace(target, tier, _EVENTS, counters=None if tier == "own" else wanted)
        if trace.refused is not None:
            none = f"no {wanted} counters here: "
            return Counters(wanted, reason=trace.refused.removeprefix(none), missing=dict(trace.counters_refused))
        traces.append(trace)
    if not any(any(True for _ in traced_launches(trace)) for trace in traces):
        return Counters(wanted, reason=f"no launch could be traced completely: {traces[0].lost:,} events were lost")
    return counters_of(wanted, traces)


def _sampled(tracer: Tracer, target: Target, options: TraceOptions) -> Mapping[str, int]:
    if not options.stacks:
        return {}
    trace = tracer.trace(target, "tracepoints", ("tasks", "samples"), period_ns=_STACK_PERIOD_NS)
    if trace.refused is not None:
        raise UnavailableError(f"kernel stacks cannot be sampled here: {trace.refused}")
    return fold(trace, options.symbol)


def _left_out(rounds: Rounds) -> list[str]:
    """Say how many processes are not in the figures."""
    some, kept = rounds.left_out, len(rounds.traces)
    if some == 0:
        return []
    were, of_it = ("was", "it") if some == 1 else ("were", "them")
    return [
        f"{some} of {some + kept} processes {were} left out: every launch of {of_it} was disturbed while it was "
        f"traced; {kept} remain"
    ]


def _notes(
    lost: int, left_out: int, overhead: float, unexplained: float, calls: str | None, *, light: bool
) -> list[str]:
    notes = [calls] if calls is not None else []
    if light:
        notes.append(
            "in the budget, short system calls count as user code, because tracing each would slow a short launch "
            "too much; the system calls and the timelines come from separate launches, traced in full"
        )
    if lost > 0:
        kept = "launches of that time are left out" if left_out else "parts of some launches may be wrong"
        notes.append(f"{lost:,} {'event was' if lost == 1 else 'events were'} lost even with more room: {kept}")
    if left_out > 0:
        were = (
            "launch was not traced completely and is"
            if left_out == 1
            else "launches were not traced completely and are"
        )
        notes.append(f"{left_out:,} traced {were} left out: events are missing")
    if overhead > 0.15:
        notes.append(
            f"tracing made launches {overhead:.0%} longer: parts with many events (system calls, faults) are too long"
        )
    if unexplained > 0.1:
        notes.append(f"{unexplained:.0%} of the time belongs to no part: something else ran, or events are missing")
    return notes
