"""``paths``: the book of launch paths, and whether it is right on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.app.shown import shown_as
from clonometer.errors import MissingFileError, UsageError
from clonometer.launch_paths.checks import CheckedBook, CheckedLine, CheckedVersion
from clonometer.launch_paths.judging import UNSEEN, Stack, difference, differing_tasks, named
from clonometer.launch_paths.types import SeenTask
from clonometer.verdicts import Status

if TYPE_CHECKING:
    from clonometer.launch_paths.types import LaunchPath, PathBook, RuntimeBook, SeenBook
    from clonometer.runner.launches import Located, Ran

__all__ = ["check_paths", "paths"]

_THREAD = "thread"
#: Where the stacks of threads begin.
_STARTS = {"_start", "main", "start_thread", "__clone3"}


def _nothing(line: str) -> None:
    """Say nothing."""


@shown_as("paths", "paths_document")
def paths(names: Iterable[str] = ()) -> PathBook:
    """The book, or those runtimes of it that are named, and what was seen of it with which versions.

    Raises
    ------
    UsageError
        For an unknown runtime, with the nearest.
    """
    from clonometer.launch_paths.reading import load_book

    return load_book().only(names)


def check_paths(
    words: Iterable[str] = (), say: Callable[[str], None] = _nothing, book: PathBook | None = None
) -> CheckedBook:
    """Run the snippets of each line whose runtime is on this machine, and compare what the kernel sees.

    Parameters
    ----------
    words
        Runtimes by name, each of which is looked for along PATH, or as ``NAME=PROGRAM``; empty: all.
    say
        Hears which version is next.
    book
        What is checked; None: the book that comes with Clonometer.

    Raises
    ------
    UsageError
        For an unknown runtime, or a program that is none.
    DriverError, UnavailableError
        If no census can be taken.
    """
    if book is None:
        from clonometer.launch_paths.reading import load_book

        book = load_book()
    ways: set[str] = set()
    checked = [
        each for runtime, program in _named_runtimes(book, words) for each in _check(runtime, program, say, ways)
    ]
    machine = os.uname()
    how = "ptrace" if "ptrace" in ways else next(iter(ways), None)
    return CheckedBook(machine.machine, machine.release, how, tuple(checked))


def recorded(checked: CheckedBook, file: Path) -> SeenBook:
    """What a file has seen of the book, with what a check saw in place of the same versions.

    Raises
    ------
    InputError
        If there is such a file, but it is another or cannot be read.
    """
    from clonometer.inputs import read_text
    from clonometer.launch_paths.reading import BOOK, load_book, parse_seen
    from clonometer.launch_paths.types import SeenBook

    try:
        before = parse_seen(read_text(file, BOOK))
    except MissingFileError:
        before = SeenBook()
    return before.having(checked.seen(load_book()))


def _named_runtimes(book: PathBook, words: Iterable[str]) -> Iterator[tuple[RuntimeBook, str | None]]:
    """The runtimes that words name, each with the program that one gives."""
    for word in dict.fromkeys(words) or [runtime.name for runtime in book.runtimes]:
        name, _, program = word.partition("=")
        yield book.runtime(name), program or None


def _check(
    runtime: RuntimeBook, program: str | None, say: Callable[[str], None], ways: set[str]
) -> Iterator[CheckedVersion]:
    from clonometer.runner.launches import locate

    located = locate(runtime, program)
    if not located and program is not None:
        raise UsageError(f"{program} is not {runtime.title}", f"'{' '.join(runtime.identify)}' must say its version")
    if not located:
        reason = f"Debian's {' and '.join(runtime.packages)}" if runtime.packages else "not of Debian"
        lines = [
            CheckedLine(path.name, Status.NOT_MEASURABLE, reason=f"{runtime.title} is not here")
            for path in runtime.paths
        ]
        yield CheckedVersion(runtime.name, None, None, reason, tuple(lines))
    for each in located:
        say(f"{runtime.title} {each.version}: {each.program}")
        lines = [_line(runtime, path, each, ways) for path in runtime.paths]
        yield CheckedVersion(runtime.name, each.version, each.program, None, tuple(lines))


def _line(runtime: RuntimeBook, path: LaunchPath, located: Located, ways: set[str]) -> CheckedLine:
    from clonometer.runner.launches import lacking, run_snippet

    if not path.is_of(located.version):
        return CheckedLine(path.name, Status.NOT_MEASURABLE, reason=f"of versions {path.versions}")
    need = lacking(path)
    if need is not None:
        return CheckedLine(path.name, Status.NOT_MEASURABLE, reason=f"needs {need}")
    ran = run_snippet(runtime, path, located)
    if ran.failure is not None:
        return CheckedLine(path.name, Status.UNKNOWN, reason=ran.failure)
    ways.add(ran.how)
    saw, threads = _seen(ran.tasks, Path(located.program).name)
    calls, machine = _calls(ran), os.uname().machine
    wrong = difference(runtime, path, saw, threads, stacks=_stacks(ran), calls=calls, architecture=machine)
    wrong = wrong or _unmended(runtime, path, located) or _no_better(runtime, path, located)
    return CheckedLine(path.name, Status.FAILS if wrong else Status.HOLDS, tuple(map(str, saw)), threads, calls, wrong)


def _unmended(runtime: RuntimeBook, path: LaunchPath, located: Located) -> str | None:
    """Say where the setting does not bring what the book says; None where it does."""
    from clonometer.runner.launches import run_snippet

    if not path.setting:
        return None
    name, _, value = path.setting.partition("=")
    ran = run_snippet(runtime, path, located, environment={name: value})
    if ran.failure is not None:
        return f"with {path.setting} it {ran.failure}"
    saw, _ = _seen(ran.tasks, Path(located.program).name)
    wrong = differing_tasks(tuple(map(SeenTask.read, path.mended)), saw, os.uname().machine)
    return None if wrong is None else f"with {path.setting} {wrong}"


def _no_better(runtime: RuntimeBook, path: LaunchPath, located: Located) -> str | None:
    """Say where what the book has instead fails or copies memory as well; None where it does not."""
    from clonometer.runner.launches import run_snippet

    if not path.better:
        return None
    ran = run_snippet(runtime, replace(path, snippet=path.better), located)
    if ran.failure is not None:
        return f"the alternative {ran.failure}"
    saw, _ = _seen(ran.tasks, Path(located.program).name)
    copying = [str(task) for task in saw if task.copies]
    return f"the alternative copies memory too: {', '.join(copying)}" if copying else None


def _calls(ran: Ran) -> tuple[str, ...] | None:
    """What the tasks but threads did before their programs, in the book's words; None where it was not seen of all."""
    from clonometer.launch_paths.explaining import option_calls

    calls: set[str] = set()
    for task in ran.tasks:
        if "CLONE_THREAD" not in task["flag_names"]:
            if task.get("did") is None or task["did_cut"]:
                return None
            calls |= option_calls(task["did"])
    return tuple(sorted(calls))


def _stacks(ran: Ran) -> list[Stack]:
    """The stack of each task but threads that has one; None at the end of one that does not reach where it begins."""
    stacks: list[Stack] = []
    for task in ran.tasks:
        site = ran.sites.get(task.get("site", -1))
        if site is not None and "CLONE_THREAD" not in task["flag_names"]:
            names = [frame.get("function") for frame in site["frames"]]
            # Of code without tables for unwinding, as musl's, a stack may end early and seem complete.
            stacks.append(names if _STARTS & {*names} else [*names, None])
    return stacks


def _seen(tasks: Sequence[Mapping[str, Any]], program: str) -> tuple[list[SeenTask], int]:
    """The tasks of a census but threads, as the book names them, and how many threads there were."""
    from clonometer.launch_paths.explaining import seen_task
    from clonometer.tracing.census.tally import mechanism

    saw, threads = [], 0
    for line in tasks:
        own_stack = None if line["own_stack"] is None else bool(line["own_stack"])
        how = mechanism(line["call"], line["flag_names"], exit_signal=line["exit_signal"], own_stack=own_stack)
        if how == _THREAD:
            threads += 1
            continue
        # Of the programs that a task executed only the last has a name.
        last = [Path(line["program"]).name] if line["execs"] and line["program"] else [UNSEEN] * bool(line["execs"])
        programs = [UNSEEN] * (line["execs"] - 1) + last
        saw.append(seen_task(how, line["flag_names"], named(programs, program)))
    return saw, threads
