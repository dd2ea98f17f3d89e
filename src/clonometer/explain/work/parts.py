"""The parts of a worker's life and of the CPUs' time, in the order in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class WorkPart:
    """One part: its id, what it is called, what it means, and which kind of time it is (for colours)."""

    id: str
    label: str
    meaning: str
    kind: str


_LIFE = (
    # Of the tier that has only what /proc tells.
    WorkPart("not_begun", "before its first stamp", "not launched yet, or not at its own first instruction",
             "launching"),
    WorkPart("on_cpu", "on a CPU", "CPU time, of user code and kernel together", "user code"),
    WorkPart("blocked", "blocked", "neither on a CPU nor ready: locks, writing, page faults together", "blocked"),
    # Of the tier that sees all.
    WorkPart("not_launched", "not launched yet", "the program is still busy before this worker's launch", "launching"),
    WorkPart("starts", "first steps in the kernel", "from its first moment on a CPU to user code", "launching"),
    WorkPart("user", "user code", "own instructions: dividing, formatting, the C library", "user code"),
    WorkPart("write", "write()", "on a CPU inside write", "system calls"),
    WorkPart("write_wait", "blocked in write()", "asleep inside write: another writes the same file, or the disk",
             "blocked"),
    WorkPart("futex_call", "futex calls", "on a CPU inside futex: queueing, waking others", "futex"),
    WorkPart("futex_wait", "blocked in futex", "asleep until a lock or another word of memory is free", "futex"),
    WorkPart("fault", "page faults", "on a CPU inside a page fault", "page faults"),
    WorkPart("fault_wait", "blocked in page faults", "asleep inside a page fault", "page faults"),
    WorkPart("mmap_lock", "waiting for mmap lock", "from asking for the lock of the address space until it is had",
             "page faults"),
    WorkPart("memory_call", "memory calls", "on a CPU inside mmap, munmap, brk, mprotect or madvise", "page faults"),
    WorkPart("other_call", "other system calls", "on a CPU inside any other call", "system calls"),
    WorkPart("other_wait", "blocked elsewhere", "asleep inside any other call", "blocked"),
    WorkPart("run_queue", "waiting to run", "ready, but others have the CPUs", "waiting to run"),
    WorkPart("exit", "exit", "from its last call until it has left the CPU for ever", "exit"),
    WorkPart("ended", "ended before the others", "done, while the program still works or reaps", "ended"),
)  # fmt: skip

_CPUS = (
    WorkPart("launching", "the program launches", "the starter inside fork, clone or clone3", "launching"),
    WorkPart("starter", "the program, else", "the starter's own code, faults, reaping", "launching"),
    WorkPart("withheld", "other programs", "workers wait, but another program, or the scheduler, keeps a CPU from them",
             "waiting to run"),
    WorkPart("idle", "nothing to run", "CPUs for which there is no worker: blocked, ended or not launched", "ended"),
)  # fmt: skip

LIFE = {part.id: part for part in _LIFE}
LIFE_ORDER = (*LIFE, UNEXPLAINED)
# What of a life is spent on a CPU.
ON_CPU = ("starts", "user", "write", "futex_call", "fault", "mmap_lock", "memory_call", "other_call", "exit")
CPUS = {**{name: LIFE[name] for name in ON_CPU}, **{part.id: part for part in _CPUS}}
CPU_ORDER = tuple(CPUS)
KINDS = tuple(dict.fromkeys(part.kind for part in (*_LIFE, *_CPUS)))

COUNTS = {
    "preemptions": "pushed off its CPU",
    "sleeps": "times asleep",
    "futex_sleeps": "of these, in futex",
    "futex_calls": "futex calls",
    "write_calls": "write calls",
    "faults": "page faults",
    "migrations": "migrations",
}

WRITES = frozenset({"write", "writev", "pwrite64", "pwritev", "pwritev2"})
FUTEXES = frozenset({"futex", "futex_wait", "futex_wake", "futex_requeue", "futex_waitv"})
MEMORY_CALLS = frozenset({"mmap", "munmap", "brk", "mprotect", "madvise", "mremap"})
EXITS = frozenset({"exit", "exit_group"})
MAKES = frozenset({"clone", "clone3", "fork", "vfork"})


def part_title(part: str) -> str:
    """What a part of a life or of the CPUs' time is called."""
    known = LIFE.get(part) or CPUS.get(part)
    return known.label if known is not None else part


def part_meaning(part: str) -> str:
    """What it means."""
    known = LIFE.get(part) or CPUS.get(part)
    return known.meaning if known is not None else "time that no part covers"


def part_kind(part: str) -> str:
    """Which kind of time it is."""
    known = LIFE.get(part) or CPUS.get(part)
    return known.kind if known is not None else UNEXPLAINED
