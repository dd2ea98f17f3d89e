"""Single launches in detail: the one nearest the median and the p99 one, every event in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clonometer.families import CALL
from clonometer.tracing.actors import GONE, PUSHED_OFF, SWITCH, WAKES, Event
from clonometer.tracing.flags import flag_names
from clonometer.tracing.memory import COW, Memory
from clonometer.tracing.partition import TracedLaunch
from clonometer.tracing.types import Moment, Timeline
from clonometer.words import stage_stamp


def nearest(launches: Sequence[TracedLaunch], probability: float) -> TracedLaunch:
    """The launch whose duration is that quantile of all, by nearest rank."""
    ordered = sorted(launches, key=lambda traced: traced.launch.reaped_ns)
    return ordered[round(probability * (len(ordered) - 1))]


def make_timeline(which: str, traced: TracedLaunch) -> Timeline:
    """Put a launch's events and stamps into words."""
    names = traced.names
    moments = [Moment(0, "parent", -1, "before the call (stamp)", "the parent's own clock reading: zero")]
    for stage, at in traced.launch.stages.items():
        words, reading = stage_stamp(stage)
        moments.append(Moment(at, "parent" if stage == CALL else "child", -1, f"{words} (stamp)", reading))
    others: set[int] = set()
    for event in traced.events:
        if event.kind == "exec":
            others.add(event.task)
        moment = _moment(event, names, traced.memory, another_program=event.task in others)
        moments += [moment] if moment is not None else []
    moments.append(Moment(traced.launch.reaped_ns, "parent", -1, "reaped (stamp)", "wait or join has returned"))
    moments.sort(key=lambda moment: moment.time_ns)
    return Timeline(which, traced.launch.reaped_ns, dict(traced.launch.stages), tuple(moments), traced.segments)


def _moment(event: Event, names: Mapping[int, str], memory: Memory, *, another_program: bool) -> Moment | None:
    who = names.get(event.task, "another task" if event.task else "idle CPU")
    words, meaning = _words(event, names, memory, another_program=another_program)
    if event.kind == SWITCH:
        who = names.get(event.values[2], names.get(event.values[0], who))
    return None if not words else Moment(event.time_ns, who, event.cpu, words, meaning)


def _words(event: Event, names: Mapping[int, str], memory: Memory, *, another_program: bool) -> tuple[str, str]:
    kind, values = event.kind, event.values
    if kind in ("fault_user", "fault_kernel"):
        return _fault_words(event, memory, another_program=another_program)
    if kind == SWITCH:
        return _switch_words(values, names)
    writer = _WRITERS.get(kind)
    return ("", "") if writer is None else writer(event, names)


_Writer = Callable[[Event, Mapping[int, str]], tuple[str, str]]
_WAKES: _Writer = lambda event, names: (  # noqa: E731 (one of a table of such)
    f"wakes {names.get(event.values[0], 'another task')}",
    "puts a task on a CPU's run queue",
)
_MARKS = (
    ("the program's entry", "ld.so, if it has one, is done; its C library starts"),
    ("main begins", "the first instruction of main"),
    ("main ends", "main has returned to the C library"),
)
_WRITERS: Mapping[str, _Writer] = {
    "call_enter": lambda event, names: (f"enters {event.name}", "a system call starts"),
    "call_exit": lambda event, names: (_result(event.values[1]), "a system call ends, with this result"),
    "new_task": lambda event, names: (
        f"makes {names.get(event.values[0], 'a task')}: {' | '.join(flag_names(event.values[1])) or 'no flags'}",
        "the kernel has copied the task; these clone flags reached it (without the exit signal)",
    ),
    **dict.fromkeys(WAKES, _WAKES),
    "minor_fault": lambda event, names: ("page is there", "the fault is over"),
    "major_fault": lambda event, names: ("page is there", "the fault is over; a disk was read"),
    "exec": lambda event, names: (f"becomes {event.name}", "exec has replaced its program"),
    "mark": lambda event, names: _MARKS[event.values[0]],
    "exit": lambda event, names: (
        "starts to exit",
        "from here on the kernel takes back its memory, files and all else",
    ),
    "switched_out": lambda event, names: ("leaves the CPU", "a context switch of the parent"),
    "switched_in": lambda event, names: ("is on the CPU again", "a context switch of the parent"),
}


def _result(value: int) -> str:
    # An address says nothing to a reader.
    return f"returns {value}" if abs(value) < 1 << 22 else "returns"


def _fault_words(event: Event, memory: Memory, *, another_program: bool) -> tuple[str, str]:
    address, _, code = event.values[:3]
    cause = memory.cause(address, code, another_program=another_program)
    place = memory.kind(address, another_program=another_program) or "unknown memory"
    by = "its own code" if event.kind == "fault_user" else "the kernel on its behalf"
    words = f"copy on write, {place}" if cause == COW else f"first touch, {place}"
    return f"page fault: {words}", f"{by} touched address {address & (1 << 64) - 1:#x}"


def _switch_words(values: Sequence[int], names: Mapping[int, str]) -> tuple[str, str]:
    leaves, comes = names.get(values[0]), names.get(values[2])
    state = values[1]
    if leaves is None:
        return (f"{comes} gets the CPU" if comes else ""), "the scheduler puts it on this CPU"
    why = "pushed off" if state == 0 or state >= PUSHED_OFF else "gone" if state & GONE else "asleep"
    after = f"; {comes} gets the CPU" if comes else ""
    return f"{leaves} leaves the CPU ({why}){after}", "a context switch on this CPU"
