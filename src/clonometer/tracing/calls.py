"""System calls of launches: which, by whom, how often and how long; and what the kernel made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from clonometer.tracing.actors import GONE, SWITCH
from clonometer.tracing.flags import flag_names
from clonometer.tracing.partition import TracedLaunch
from clonometer.tracing.types import CallUse, NewTasks, ProgramUse

# Calls that never return to their caller.
_NO_RETURN = frozenset({"exit", "exit_group"})


def calls_of(launches: Sequence[TracedLaunch]) -> tuple[CallUse, ...]:
    """Every system call that launches make, by the parent or by what it makes, in the order of its first use.

    A call's time is from its entry to its exit, sleep included; one that does not return lasts until its task has left
    the CPU for ever, or the launch is over.
    """
    times: dict[tuple[str, str], list[int]] = defaultdict(list)
    sums: dict[tuple[str, str], list[int]] = defaultdict(list)
    for traced in launches:
        of_launch: dict[tuple[str, str], int] = defaultdict(int)
        for who, name, lasted in _spans(traced):
            times[who, name].append(lasted)
            of_launch[who, name] += lasted
        for key, total in of_launch.items():
            sums[key].append(total)
    n = max(1, len(launches))
    return tuple(
        CallUse(who, name, len(lasted) / n, float(median(lasted)), sum(sums[who, name]) / n)
        for (who, name), lasted in times.items()
    )


def _spans(traced: TracedLaunch) -> Iterable[tuple[str, str, int]]:
    open_calls: dict[int, tuple[str, int]] = {}
    for event in traced.events:
        if event.kind == "call_enter":
            open_calls[event.task] = (event.name, event.time_ns)
        elif event.kind == "call_exit" and event.task in open_calls:
            name, began = open_calls.pop(event.task)
            yield _caller(traced, event.task), name, event.time_ns - began
        elif event.kind == SWITCH and event.values[0] in open_calls:
            name, began = open_calls[event.values[0]]
            if name in _NO_RETURN and event.values[1] & GONE:
                del open_calls[event.values[0]]
                yield _caller(traced, event.values[0]), name, event.time_ns - began
    for task, (name, began) in open_calls.items():
        yield _caller(traced, task), name, traced.launch.reaped_ns - began


def _caller(traced: TracedLaunch, task: int) -> str:
    return "child" if task in traced.children else "parent"


def tasks_and_programs(launches: Sequence[TracedLaunch]) -> tuple[tuple[NewTasks, ...], tuple[ProgramUse, ...]]:
    """Clone flags of new tasks, and executed programs, each with how often a launch; most frequent first."""
    flags: Counter[tuple[str, ...]] = Counter()
    programs: Counter[str] = Counter()
    for traced in launches:
        flags.update(flag_names(event.values[1]) for event in traced.events if event.kind == "new_task")
        programs.update(event.name for event in traced.events if event.kind == "exec")
    n = max(1, len(launches))
    return (
        tuple(NewTasks(names, count / n) for names, count in flags.most_common()),
        tuple(ProgramUse(name, count / n) for name, count in programs.most_common()),
    )
