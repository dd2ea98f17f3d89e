"""Which lines of the book fit what was seen of a task: the option that chose its path, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from clonometer.launch_paths.types import CALLS, LaunchPath, RuntimeBook, SeenTask

#: What the book's snippets execute: any program stands for it.
_ANY = "true"
_SHARING = ("CLONE_VM", "CLONE_VFORK")
#: System calls, and names that others give them -> the book's name of what the child did.
_CALLS: Mapping[str, str] = {
    **{name: name for name in CALLS},
    "close_range": "close_fds",
    "closefrom": "close_fds",
    "close_loop": "close_fds",
    "closing loop": "close_fds",
    "getdents64": "close_fds",
    "dup3": "dup2",
    "fchdir": "chdir",
    "prlimit64": "setrlimit",
    "rt_sigaction": "sigaction",
    "setregid": "setgid",
    "setresgid": "setgid",
    "setresuid": "setuid",
    "setreuid": "setuid",
}
#: Closing one by one: a few descriptors are closed in any launch.
_CLOSES, _LEAST_CLOSES = "close", 20
#: Giving all signals their default action; programs handle a few.
_SIGACTION, _LEAST_RESETS = "rt_sigaction", 20
#: Runtimes name their threads and children whatever they are asked for.
_RENAMES = "prctl(PR_SET_NAME)"
_LONGEST_QUOTE = 40
#: What children do in many ways of launching, and names no option.
_USUAL = frozenset({"close_fds", "dup2", "reset_signals", "sigaction"})


def option_calls(did: Mapping[str, int]) -> frozenset[str]:
    """Name what a child did before its program as the book does, from its system calls and how often it made each.

    Examples
    --------
    >>> sorted(option_calls({"setsid": 1, "close": 1021, "prctl(PR_SET_NAME)": 1, "read": 2}))
    ['close_fds', 'setsid']
    """
    names = (name.partition("(")[0] for name in did if name != _RENAMES)
    calls = {_CALLS[name] for name in names if name in _CALLS}
    if did.get(_CLOSES, 0) >= _LEAST_CLOSES:
        calls.add("close_fds")
    if did.get(_SIGACTION, 0) >= _LEAST_RESETS:
        calls.add("reset_signals")
    return frozenset(calls)


@dataclass(frozen=True)
class SourceText:
    """What the source of a program has where it launches: the text of the call, and the whole file."""

    call: str
    file: str = ""


#: Of a program whose source was not read.
NO_SOURCE = SourceText("")


@dataclass(frozen=True)
class PathFit:
    """A line of the book that fits a task.

    Attributes
    ----------
    path
        The line: API, option, why, instead, lose.
    is_only
        Whether no other fits: only then is the option known.
    unexplained
        What the child did besides, of which no line that fits knows.
    evidence
        What was seen that the line says, in words.
    """

    path: LaunchPath
    is_only: bool
    unexplained: tuple[str, ...]
    evidence: tuple[str, ...] = ()


def seen_task(mechanism: str, flag_names: Collection[str], programs: Sequence[str] = ()) -> SeenTask:
    """Make a task of what a census knows: its name of the mechanism, the flags, base names of the programs.

    Examples
    --------
    >>> str(seen_task("container", ["CLONE_NEWNS", "CLONE_VM", "CLONE_VFORK"], ["bwrap"]))
    'container(VM|VFORK) > bwrap'
    """
    shares = mechanism == "container" and all(flag in flag_names for flag in _SHARING)
    return SeenTask("container(VM|VFORK)" if shares else mechanism, tuple(programs))


def explain(
    runtime: RuntimeBook,
    version: str | None,
    task: SeenTask,
    calls: Collection[str] | None,
    *,
    functions: Sequence[str | None] = (),
    called: Sequence[str] = (),
    source: SourceText = NO_SOURCE,
    is_root: bool | None = None,
) -> tuple[PathFit, ...]:
    """Name the lines of the book that fit a task.

    Parameters
    ----------
    runtime, version
        What its creator runs; None: the version is not known, and lines of all versions may fit.
    task
        How it was made, and the base names of the programs that it executed, in order.
    calls
        What it did before the first of them: names of `CALLS`, or of system calls. None where that was not seen: then
        options that only these tell apart all fit.
    functions
        The functions in the native stack of the creator, innermost first, None for each whose name is not known, and
        at the end of a stack that is not whole; empty: no stack was seen.
    called
        The functions of the language that were called, innermost first, the last by the program itself; empty: no
        hook said so.
    source
        The text at that line, as far as it could be read: what is not in it may be elsewhere, and rules nothing out.
    is_root
        Whether the creator is root; None where that is not known.

    Returns
    -------
    tuple
        The lines that say most of what was seen; empty where none fits. Two of them may have been used together.
    """
    did = None if calls is None else frozenset(_CALLS[call] for call in calls if call in _CALLS)
    fitting = [
        path
        for path in (runtime.paths if version is None else runtime.of_version(version))
        if any(_fits(each, task) for each in path.tasks) and _may_be(path, did, is_root)
    ]
    on_stack = {path.name: path.frames_in(functions) for path in fitting}
    # Of a stack that names the functions of some lines, or all of its own, the lines are not that have others.
    if any(on_stack.values()) or (functions and None not in functions):
        fitting = [path for path in fitting if on_stack[path.name] or not path.frames]
    fitting = _of_api(fitting, called)
    claims = {
        path.name: _claims(path, task, did)
        | {f"{name}() in the stack" for name in on_stack[path.name]}
        | {f"{name}() called" for name in _called(path, called)}
        | _in_source(path, source)
        for path in fitting
    }
    best = [path for path in fitting if not any(claims[path.name] < other for other in claims.values())]
    known = {call for path in best for call in (*path.child, *_USUAL)}
    unexplained = tuple(sorted((did or frozenset()) - known))
    return tuple(PathFit(path, len(best) == 1, unexplained, tuple(sorted(claims[path.name]))) for path in best)


def _called(path: LaunchPath, called: Sequence[str]) -> list[str]:
    """The outermost of the functions called that a line names, if any."""
    return [name for name in called if any(fnmatchcase(name, pattern) for pattern in path.called)][-1:]


def _of_api(fitting: Sequence[LaunchPath], called: Sequence[str]) -> list[LaunchPath]:
    """The lines whose API a hook said was called, where the book knows that; else all that may be."""
    if not called:
        return list(fitting)
    # A hook tells every call of the runtime's library: what would have been called was not.
    may_be = [path for path in fitting if not path.called or _called(path, called)]
    api = called[-1]
    by_module = [
        path
        for path in may_be
        if _called(path, called) or any(api == name or api.endswith(f".{name}") for name in _functions(path.api))
    ]
    last = api.rpartition(".")[2]
    return by_module or [path for path in may_be if last in map(_last, _functions(path.api))] or may_be


def _functions(api: str) -> list[str]:
    """The names of the functions of an API, with their modules where it has them."""
    return api.replace(",", " ").split()


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _in_source(path: LaunchPath, source: SourceText) -> frozenset[str]:
    """What a line has in the source, as phrases; nothing unless all that it asks for is there."""
    claims = set()
    for where, expressions, text in (
        ("in the call", path.in_call, source.call),
        ("in its file", path.in_file, source.file),
    ):
        matches = [match for each in expressions if text and (match := re.search(each, text, re.MULTILINE))]
        if expressions and not matches:
            return frozenset()
        claims |= {f"{' '.join(match.group().split())[:_LONGEST_QUOTE]!r} {where}" for match in matches[:1]}
    return frozenset(claims)


def _fits(line: SeenTask, task: SeenTask) -> bool:
    """Whether a task may be one of a line: made like it, and the same programs executed, whatever the last is."""
    if line.mechanism != task.mechanism or bool(line.programs) != bool(task.programs):
        return False
    if line.programs[-1:] == (_ANY,):
        helpers = line.programs[:-1]
        return task.programs[: len(helpers)] == helpers and len(task.programs) > len(helpers)
    return task.programs[: len(line.programs)] == line.programs


def _claims(path: LaunchPath, task: SeenTask, did: frozenset[str] | None) -> frozenset[str]:
    """What a line says that was seen of a task: what it did, if anybody saw that, and the helpers that it executed."""
    helpers = {program for each in path.tasks if _fits(each, task) for program in each.programs if program != _ANY}
    claims = {f"{program} executed first" for program in helpers}
    if did is not None:
        claims |= {f"{call} by the child" for call in did & {*path.child}}
        claims |= {f"no {call} by the child" for call in path.without}
    return frozenset(claims)


def _may_be(path: LaunchPath, did: frozenset[str] | None, is_root: bool | None) -> bool:
    if is_root is not None and ("not root" if is_root else "root") in path.needs:
        return False
    if did is None:
        return True
    # Of a launch with several tasks, each does a part of what the line says.
    does_all = did >= {*path.child} or len(path.tasks) > 1
    return does_all and not did & {*path.without}
