"""The parts of a launch: what a moment of it can be spent on, in the order in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One part: its id, who is at work, what is done, and what that means."""

    id: str
    who: str
    label: str
    meaning: str


# Those whose name begins with until_, and away, are of tiers that see less.
_ALL = (
    Part("parent_user", "parent", "user code", "the program's and the C library's own instructions in the parent"),
    Part("launch_call", "parent", "the launching call", "inside clone, clone3, fork or vfork in the parent"),
    Part("parent_calls", "parent", "other system calls", "every other call of the parent before it waits"),
    Part("parent_faults", "parent", "page faults", "its own: memory that fork has write-protected, new stacks"),
    Part("until_returned", "parent", "until the call returned", "all until the parent's call had returned"),
    Part("wait_begins", "parent", "goes to sleep", "from the call that waits until the parent has left the CPU"),
    Part("child_waits", "child", "waits to run", "ready, but not on a CPU yet"),
    Part("until_task_ran", "child", "until the task ran", "until the first instruction of the new task's own code"),
    Part("child_starts", "child", "first steps in the kernel", "from its first moment on a CPU to user code"),
    Part("child_cow", "child", "faults: copy on write", "its writes to pages that it shares with the parent"),
    Part("child_stack", "child", "faults: stack", "its stack's pages, touched for the first time"),
    Part("child_file", "child", "faults: file", "code and data that are mapped from a file"),
    Part("child_other_faults", "child", "faults: other memory", "anonymous and shared memory, first touched"),
    Part("child_user", "child", "user code", "its own instructions, before exec where it becomes a new program"),
    Part("child_loader", "child", "program: loader", "ld.so, from exec to the entry of the program's file: it maps and "
         "relocates libraries, and sets itself up as a C library does; a static program has none"),
    Part("child_library_start", "child", "program: library's start", "the C library, from the entry of the program's "
         "file to main"),
    Part("child_main", "child", "program: main", "from main's first line to its last"),
    Part("child_library_exit", "child", "program: library's exit", "from main's last line to the call that exits: "
         "handlers, streams that are written out"),
    Part("child_program", "child", "program: all its user code", "loader, the C library's start, main and exit of a "
         "program that is not ours and stamps nothing"),
    Part("child_calls", "child", "system calls", "its calls but those that exec or exit"),
    Part("child_exec", "child", "exec", "inside execve, which replaces the program"),
    Part("child_exit", "child", "exit", "from its last call until it has left the CPU for ever"),
    Part("until_image_entered", "child", "until the program's entry", "until the entry of the new program's file"),
    Part("until_image_ran", "child", "until the program's main", "until the first line of the new program's main"),
    Part("until_image_ended", "child", "until main's end", "until the last line of the new program's main"),
    Part("away", "child", "the parent is off the CPU", "the child's life from its first own instruction, as far as the "
         "parent slept meanwhile"),
    Part("parent_waits", "parent", "waits to run again", "woken, but not on a CPU yet"),
    Part("reaping", "parent", "reaps", "on a CPU again, inside the call that waited, until that returns"),
    Part("until_reaped", "both", "until reaped", "until wait or join had returned"),
)  # fmt: skip

PARTS = {part.id: part for part in _ALL}
ORDER = tuple(PARTS)
UNEXPLAINED = "unexplained"
#: Where user code of a new program is from each stamp of it on.
PROGRAM_PARTS = {
    "image_entered": "child_library_start",
    "image_runs": "child_main",
    "image_ends": "child_library_exit",
}
LOADER, FOREIGN = "child_loader", "child_program"
USER_PARTS = frozenset({"parent_user", "child_user", LOADER, FOREIGN, *PROGRAM_PARTS.values()})
FAULT_PARTS = {"cow": "child_cow", "stack": "child_stack", "file": "child_file"}
MAKES_TASK = frozenset({"clone", "clone3", "fork", "vfork"})
EXECS = frozenset({"execve", "execveat"})
EXITS = frozenset({"exit", "exit_group"})
WAITS = frozenset({"wait4", "waitid", "futex", "futex_wait", "futex_waitv", "poll", "ppoll", "read"})
