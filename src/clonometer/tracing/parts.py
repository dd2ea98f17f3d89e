"""The parts that an explained time is spent on: of a launch, of a worker's life, and of the CPUs' time meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from clonometer.families import stages

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Part:
    """One part: its id, what it is called, what it means, which kind of time it is (for colours), who is at work."""

    id: str
    label: str
    meaning: str
    kind: str
    who: str = ""

    @property
    def title(self) -> str:
        """Who is at work, where there are several, and what it is called."""
        return f"{self.who}: {self.label}" if self.who else self.label


# In the order in which they are shown. Those whose name begins with until_, and away, are of tiers that see less.
_LAUNCH = (
    Part("parent_user", "user code",
         "the program's and the C library's own instructions in the parent", "user code", "parent"),
    Part("launch_call", "the launching call",
         "inside clone, clone3, fork or vfork in the parent", "launching call", "parent"),
    Part("parent_calls", "other system calls",
         "every other call of the parent before it waits", "other system calls", "parent"),
    Part("parent_faults", "page faults",
         "its own: memory that fork has write-protected, new stacks", "page faults", "parent"),
    Part("parent_threads", "another thread of its process", "a thread that is not the caller works or waits for a CPU, "
         "such as one of a runtime that waits for children", "to and from sleep", "parent"),
    Part("until_returned", "until the call returned",
         "all until the parent's call had returned", "launching call", "parent"),
    Part("wait_begins", "goes to sleep",
         "from the call that waits until the parent has left the CPU", "to and from sleep", "parent"),
    Part("child_waits", "waits to run", "ready, but not on a CPU yet", "waits to run", "child"),
    Part("until_task_ran", "until the task ran",
         "until the first instruction of the new task's own code", "waits to run", "child"),
    Part("child_starts", "first steps in the kernel",
         "from first running on a CPU to user code", "to and from sleep", "child"),
    Part("child_cow", "faults: copy on write",
         "its writes to pages shared with the parent", "page faults", "child"),
    Part("child_stack", "faults: stack", "its stack's pages, touched for the first time", "page faults", "child"),
    Part("child_file", "faults: file", "code and data that are mapped from a file", "page faults", "child"),
    Part("child_other_faults", "faults: other memory",
         "anonymous and shared memory, first touched", "page faults", "child"),
    Part("child_user", "user code",
         "its own instructions, before exec where it becomes a new program", "user code", "child"),
    Part("child_helper", "program executed first: its user code", "a helper, such as jspawnhelper of Java, which then "
         "executes the program", "loader, library's start", "child"),
    Part("child_loader", "program: loader", "ld.so, from exec to the entry of the program's file: it maps and "
         "relocates libraries, and sets itself up as a C library does; a static program has none",
         "loader, library's start", "child"),
    Part("child_library_start", "program: library's start",
         "the C library, from the entry of the program's file to main", "loader, library's start", "child"),
    Part("child_main", "program: main", "from main's first line to its last", "user code", "child"),
    Part("child_library_exit", "program: library's exit", "from main's last line to the call that exits: handlers, "
         "streams that are written out", "exit, reaping", "child"),
    Part("child_program", "program: all its user code", "loader, the C library's start, main and exit of a program "
         "in which these places cannot be noted", "user code", "child"),
    Part("child_calls", "system calls", "its calls except exec and exit", "other system calls", "child"),
    Part("child_exec", "exec", "inside execve, which replaces the program", "exec", "child"),
    Part("child_exit", "exit", "from its last call until it has left the CPU for good", "exit, reaping", "child"),
    Part("until_image_entered", "until the program's entry",
         "until the entry of the new program's file", "exec", "child"),
    Part("until_image_ran", "until the program's main",
         "until the first line of the new program's main", "loader, library's start", "child"),
    Part("until_image_ended", "until main's end",
         "until the last line of the new program's main", "user code", "child"),
    Part("away", "the parent is off the CPU",
         "the child's life from its first instruction, while the parent was asleep", UNEXPLAINED, "child"),
    Part("parent_waits", "waits to run again", "woken, but not on a CPU yet", "waits to run", "parent"),
    Part("reaping", "reaps",
         "on a CPU again, inside the call that waited, until that returns", "exit, reaping", "parent"),
    Part("until_reaped", "until the task was reaped", "until wait or join had returned", "exit, reaping", "both"),
)  # fmt: skip

_LIFE = (
    # Of the tier that has only what /proc tells.
    Part("not_begun", "before its first timestamp", "not launched yet, or not at its first instruction", "launching"),
    Part("on_cpu", "on a CPU", "CPU time, of user code and kernel together", "user code"),
    Part("blocked", "blocked", "neither on a CPU nor ready: locks, writing, page faults together", "blocked"),
    # Of the tier that sees all.
    Part("not_launched", "not launched yet", "the program is still busy before this worker's launch", "launching"),
    Part("starts", "first steps in the kernel", "from first running on a CPU to user code", "launching"),
    Part("user", "user code", "own instructions: dividing, formatting, the C library", "user code"),
    Part("write", "write()", "on a CPU inside write", "system calls"),
    Part("write_wait", "blocked in write()",
         "asleep inside write: another writes the same file, or the disk", "blocked"),
    Part("futex_call", "futex calls", "on a CPU inside futex: queueing, waking others", "futex"),
    Part("futex_wait", "blocked in futex", "asleep until a lock or another word of memory is free", "futex"),
    Part("fault", "page faults", "on a CPU inside a page fault", "page faults"),
    Part("fault_wait", "blocked in page faults", "asleep inside a page fault", "page faults"),
    Part("mmap_lock", "waiting for mmap lock",
         "from requesting the lock of the address space until it is acquired", "page faults"),
    Part("memory_call", "memory calls", "on a CPU inside mmap, munmap, brk, mprotect or madvise", "page faults"),
    Part("other_call", "other system calls", "on a CPU inside any other call", "system calls"),
    Part("other_wait", "blocked elsewhere", "asleep inside any other call", "blocked"),
    Part("run_queue", "waiting to run", "ready, but others have the CPUs", "waiting to run"),
    Part("exit", "exit", "from its last call until it has left the CPU for good", "exit"),
    Part("ended", "ended before the others", "done, while the program still works or reaps", "ended"),
)  # fmt: skip

_CPUS = (
    Part("launching", "the program launches", "the starter inside fork, clone or clone3", "launching"),
    Part("starter", "the program, otherwise", "the starter's own code, faults, reaping", "launching"),
    Part("withheld", "other programs",
         "workers wait, but another program, or the scheduler, keeps a CPU from them", "waiting to run"),
    Part("idle", "nothing to run", "CPUs for which there is no worker: blocked, ended or not launched", "ended"),
)  # fmt: skip

#: Of a launch.
PARTS = {part.id: part for part in _LAUNCH}
ORDER = tuple(PARTS)
#: Where user code of a new program is from each stamp of it on.
PROGRAM_PARTS = {name: stage.begins_part for name, stage in stages().items() if stage.begins_part}
#: The same of a program that is not ours, by the places that the tracer notes (`clonometer.tracing.marks`).
MARKED_PARTS = tuple(PROGRAM_PARTS.values())
HELPER, LOADER, FOREIGN = "child_helper", "child_loader", "child_program"
USER_PARTS = frozenset({"parent_user", "child_user", HELPER, LOADER, FOREIGN, *PROGRAM_PARTS.values()})
FAULT_PARTS = {"cow": "child_cow", "stack": "child_stack", "file": "child_file"}
MAKES_TASK = frozenset({"clone", "clone3", "fork", "vfork"})
EXECS = frozenset({"execve", "execveat"})
EXITS = frozenset({"exit", "exit_group"})
WAITS = frozenset({
    "wait4", "waitid", "futex", "futex_wait", "futex_waitv", "poll", "ppoll", "epoll_wait", "epoll_pwait", "read",
})  # fmt: skip

#: Of a worker's life, and of what the CPUs do meanwhile.
LIFE = {part.id: part for part in _LIFE}
LIFE_ORDER = (*LIFE, UNEXPLAINED)
# What of a life is spent on a CPU.
ON_CPU = ("starts", "user", "write", "futex_call", "fault", "mmap_lock", "memory_call", "other_call", "exit")
CPUS = {**{name: LIFE[name] for name in ON_CPU}, **{part.id: part for part in _CPUS}}
CPU_ORDER = tuple(CPUS)
WORK_KINDS = tuple(dict.fromkeys(part.kind for part in (*_LIFE, *_CPUS)))

COUNTS = {
    "preemptions": "pushed off its CPU",
    "sleeps": "times asleep",
    "futex_sleeps": "of these, in futex",
    "futex_calls": "futex calls",
    "write_calls": "write calls",
    "faults": "page faults",
    "migrations": "migrations",
}

_EVERY = {**PARTS, **LIFE, **CPUS}
#: Ids of all parts that a timeline may have.
ANY_PART = (*_EVERY, UNEXPLAINED)


def part_of(id_: str) -> Part:
    """Find a part; one that is not known, as `UNEXPLAINED`, is named by its id."""
    return _EVERY.get(id_) or Part(id_, id_, "time that no part covers", UNEXPLAINED)
