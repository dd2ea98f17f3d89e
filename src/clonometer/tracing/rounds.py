"""Launching with somebody listening and with nobody, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from clonometer.answers import Trace
from clonometer.plan.types import Target
from clonometer.tracing.launches import Launch, launches_of
from clonometer.tracing.overhead import (
    Alternation,
    Span,
    listened,
    pairs_between,
    pairs_within,
    spans_of,
)
from clonometer.tracing.partition import FAULT_RUN, TracedLaunch, traced_launches
from clonometer.tracing.source import Tracer

LEAST_PROCESSES = 2
_FEWEST_TURNS = 4
# On a busy machine the kernel now and then takes a third of a second for one turn, all of a process's time.
_TRIES = 3
# As many as make a process's means; to take all of some ten thousand apart would take a while.
_LAUNCHES_A_PROCESS = 200


@dataclass
class Rounds:
    """What was traced and what ran beside it untraced, as it is filled.

    Attributes
    ----------
    wanted
        Of so many processes launches are to be seen; as many more may be left out.
    within
        Whether traced and untraced launches take turns within each process.
    traces, processes
        Of each process that was listened to its trace, and its launches that the budget is made of.
    pairs
        Logarithms of traced over untraced neighbours: a group for each process that was both, or one for all where
        processes were either.
    traced_ns, untraced_ns
        Durations of all launches on either side.
    left_out
        Processes that were listened to of which no launch was traced completely; they are in nothing of the above.
    """

    wanted: int
    within: bool
    traces: list[Trace] = field(default_factory=list)
    processes: list[list[TracedLaunch]] = field(default_factory=list)
    pairs: list[list[float]] = field(default_factory=list)
    traced_ns: list[int] = field(default_factory=list)
    untraced_ns: list[int] = field(default_factory=list)
    left_out: int = 0

    def take(self, trace: Trace, launches: Iterable[Launch] | None = None) -> bool:
        """Keep a process if one of its launches, by default of all, was traced completely; else count it."""
        seen = list(traced_launches(trace, launches))
        if seen:
            self.traces.append(trace)
            self.processes.append(seen)
        else:
            self.left_out += 1
        return bool(seen)

    def lack(self, of: int) -> bool:
        """Whether fewer than `of` are kept, and another may be started."""
        return len(self.traces) < of and self.left_out <= self.wanted


def launch_in_turn(
    tracer: Tracer,
    target: Target,
    first: Trace,
    events: tuple[str, ...],
    *,
    turns: Alternation | None,
    processes: int,
    watch: Callable[[int, int], None],
) -> Rounds:
    """Launch in ``processes`` processes as ``first`` was, and untraced beside it.

    Within each process where there are ``turns`` for it and the kernel is quick at them, else in processes of their
    own.
    """
    wanted = max(processes, LEAST_PROCESSES)

    def report(done: int) -> None:
        watch(done, processes)

    rounds = None if turns is None else _turns_in_processes(tracer, turns, events, wanted, report)
    return rounds or _processes_in_turn(tracer, target, first, events, wanted=wanted, report=report)


def _turns_in_processes(
    tracer: Tracer, alternation: Alternation, events: tuple[str, ...], wanted: int, report: Callable[[int], None]
) -> Rounds | None:
    """None where a process sees too few turns however often it is tried: on some kernels each takes half a second."""
    rounds = Rounds(wanted, within=True)
    while rounds.lack(wanted):
        turned = _process_of_turns(tracer, alternation, events)
        if turned is None:
            return None
        trace, spans, ratios = turned
        if not rounds.take(trace, listened(spans, _LAUNCHES_A_PROCESS)):
            continue
        rounds.pairs.append(ratios)
        for span in spans:
            side = rounds.traced_ns if span.listened else rounds.untraced_ns
            side.extend(launch.reaped_ns for launch in span.launches)
        report(len(rounds.traces))
    return rounds


def _process_of_turns(
    tracer: Tracer, alternation: Alternation, events: tuple[str, ...]
) -> tuple[Trace, list[Span], list[float]] | None:
    for _ in range(_TRIES):
        trace = tracer.trace(alternation.target, "fast", events, window_ns=alternation.window_ns)
        spans = spans_of(trace)
        pairs = pairs_within(spans)
        if len(pairs) >= _FEWEST_TURNS:
            return trace, spans, pairs
    return None


def _processes_in_turn(
    tracer: Tracer, target: Target, first: Trace, events: tuple[str, ...], *, wanted: int, report: Callable[[int], None]
) -> Rounds:
    """Each kind is first in half of the rounds, so that drift cancels."""
    rounds = Rounds(wanted, within=False)
    traced: list[tuple[float, list[Launch]]] = []
    untraced: list[tuple[float, list[Launch]]] = []

    def take(trace: Trace) -> None:
        if rounds.take(trace):
            traced.append((time.monotonic(), list(launches_of(trace))))

    def trace() -> None:
        # One that is left out is made up for at once, so that its untraced neighbour remains one.
        while rounds.lack(round_ + 1):
            take(tracer.trace(target, first.how, events, fault_run=FAULT_RUN))

    def launch() -> None:
        untraced.append((time.monotonic(), list(launches_of(tracer.trace(target, "none")))))

    take(first)
    for round_ in range(wanted):
        for act in (trace, launch) if round_ % 2 == 0 else (launch, trace):
            act()
        report(round_ + 1)
    pairs = pairs_between(traced, untraced) if traced else []
    rounds.pairs = [pairs] if pairs else []
    rounds.traced_ns, rounds.untraced_ns = (
        [launch.reaped_ns for _, launches in side for launch in launches] for side in (traced, untraced)
    )
    return rounds
