"""Whether the book is right: a line of it against what the kernel saw of its snippet."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from clonometer.launch_paths.types import PROGRAM, LaunchPath, RuntimeBook, SeenLine, SeenTask, SeenVersion
from clonometer.verdicts import Status
from clonometer.words import counted

#: A program that was executed, and whose name was not seen.
UNSEEN = "..."
#: Where there is no system call vfork: the C library asks clone for the same.
_WITHOUT_VFORK = ("aarch64", "riscv64", "loongarch64")


#: The functions in the native stack of a task's creator, innermost first, None for each without a name.
Stack = Sequence[str | None]


def difference(
    runtime: RuntimeBook,
    path: LaunchPath,
    saw: Sequence[SeenTask],
    threads: int,
    *,
    stacks: Sequence[Stack] = (),
    calls: Collection[str] | None = None,
    architecture: str = "x86_64",
) -> str | None:
    """Say where a line differs from what was seen of its snippet; None where it does not.

    ``stacks`` has the stack of each task whose stack was seen. They are compared only where all their names are known.
    ``calls`` is what its tasks did before their programs, in the book's words; None where that was not seen of all.

    Examples
    --------
    >>> from clonometer.launch_paths.reading import load_book
    >>> perl = load_book().runtime("perl")
    >>> system = perl.paths[0]
    >>> difference(perl, system, [SeenTask("fork", ("true",))], 0)
    >>> difference(perl, system, [SeenTask("vfork", ("true",))], 0)
    'the book has fork > true, the kernel saw vfork > true'
    """
    wrong = differing_tasks(path.tasks, saw, architecture)
    if wrong is not None:
        return wrong
    if runtime.counts_threads and threads != path.threads:
        return f"the book has {counted(path.threads, 'thread')}, the kernel saw {threads}"
    if path.frames and stacks and not any(None in stack or path.frames_in(stack) for stack in stacks):
        return f"the book has {' or '.join(path.frames)}, the stack has {', '.join(map(str, stacks[-1][:8]))}"
    if calls is not None:
        lacks, does = {*path.child} - {*calls}, {*path.without} & {*calls}
        if lacks or does:
            return f"the book has a child that {_clauses(lacks, does)}, which was seen otherwise"
    return None


def _clauses(lacks: Collection[str], does: Collection[str]) -> str:
    """What a child does and does not do by the book, where that was seen otherwise."""
    clauses = [f"does {', '.join(sorted(lacks))}"] * bool(lacks) + [f"does no {', '.join(sorted(does))}"] * bool(does)
    return " and ".join(clauses)


def differing_tasks(wanted: Sequence[SeenTask], saw: Sequence[SeenTask], architecture: str) -> str | None:
    """Say where tasks differ from those that the book has; None where they do not."""
    if _are_alike(wanted, saw, architecture):
        return None
    return f"the book has {_listed(wanted)}, the kernel saw {_listed(saw)}"


def judge_line(runtime: RuntimeBook, path: LaunchPath, line: SeenLine, seen: SeenVersion) -> Status | None:
    """What an earlier run says of a line; None where it is of another snippet."""
    if line.program != runtime.digest(path):
        return None
    saw = list(map(SeenTask.read, line.saw))
    wrong = difference(runtime, path, saw, line.threads, calls=line.calls, architecture=seen.architecture)
    return Status.FAILS if wrong else Status.HOLDS


def named(programs: Sequence[str], runtime_program: str) -> tuple[str, ...]:
    """Base names of programs as the book has them, given that of the runtime."""
    return tuple(PROGRAM if program == runtime_program else program for program in programs)


def _listed(tasks: Sequence[SeenTask]) -> str:
    return ", ".join(map(str, tasks)) or "no task"


def _are_alike(wanted: Sequence[SeenTask], saw: Sequence[SeenTask], architecture: str) -> bool:
    rest = list(saw)
    for task in wanted:
        if rest and _is_alike(task, rest[0], architecture):
            del rest[0]
        elif not task.is_optional:
            return False
    return not rest


def _is_alike(wanted: SeenTask, saw: SeenTask, architecture: str) -> bool:
    mechanism = wanted.mechanism
    if architecture in _WITHOUT_VFORK and mechanism == "vfork":
        mechanism = "clone(VM|VFORK)"
    return (
        mechanism == saw.mechanism
        and len(wanted.programs) == len(saw.programs)
        and all(name in (program, UNSEEN) for program, name in zip(wanted.programs, saw.programs, strict=True))
    )
