"""A line of the book of launch paths, a runtime that has such lines, and what was seen of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from clonometer.errors import unknown
from clonometer.launch_paths.versions import covers, numbers
from clonometer.records import Check, Count, Ge, Key, Mark, OneOf, Pattern, version

#: How a task is made, as a census names it, and whether its creator's memory is copied for it.
COPIES = {
    "fork": True,
    "container": True,
    "vfork": False,
    "posix_spawn": False,
    "clone(VM|VFORK)": False,
    "container(VM|VFORK)": False,
    "shares memory": False,
}
#: What a child may do before it executes its program, by which an option is recognized.
CALLS = (
    "chdir",
    "chroot",
    "close_fds",
    "dup2",
    "prctl",
    "reset_signals",
    "sched_setaffinity",
    "sched_setscheduler",
    "setgid",
    "setgroups",
    "setpgid",
    "setrlimit",
    "setsid",
    "setuid",
    "sigaction",
    "umask",
    "unshare",
)
#: What a line may need of the machine before it can be checked.
NEEDS = ("root", "not root", "user namespaces", "cgroup 2", "musl")
_THEN, _MAYBE = " > ", "?"
_CALLED_BY = " < "
_LONGEST = 400
_NAME = re.compile(r"[\w.+-]+\Z")
#: In place of the name of the runtime's own program.
PROGRAM = "{program}"

_Text = Annotated[str, Check(lambda text: bool(text.strip()), "is empty")]
_Name = Annotated[str, Pattern(r"^[\w.+-]+$"), Check(lambda text: bool(_NAME.match(text)), "is not a name")]


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


_Expression = Annotated[str, Check(_is_expression, "is not a regular expression")]


@dataclass(frozen=True)
class SeenTask:
    """A task as the kernel sees it: how it is made, and the base names of the programs that it executes, in order."""

    mechanism: str
    programs: tuple[str, ...] = ()
    #: Whether it may be missing, as what is only tried once in a process.
    is_optional: bool = False

    @classmethod
    def read(cls, text: str) -> SeenTask:
        """Read it as the book has it.

        Examples
        --------
        >>> SeenTask.read("posix_spawn > jspawnhelper > true").programs
        ('jspawnhelper', 'true')
        >>> SeenTask.read("vfork?").is_optional
        True
        """
        mechanism, *programs = text.split(_THEN)
        return cls(mechanism.removesuffix(_MAYBE), tuple(programs), mechanism.endswith(_MAYBE))

    def __str__(self) -> str:
        return _THEN.join([self.mechanism + _MAYBE * self.is_optional, *self.programs])

    @property
    def copies(self) -> bool:
        """Whether the memory of its creator is copied for it."""
        return COPIES[self.mechanism]


@dataclass(frozen=True)
class LaunchPath:
    """A line of the book: one way to launch something, in some versions of a runtime."""

    name: Annotated[_Name, "Unique within its runtime."]
    api: Annotated[_Text, "What is called."]
    sees: Annotated[
        tuple[str, ...],
        "The tasks that the kernel sees, in order: mechanism > program > program. With a question mark it may be "
        "missing; {program} is the runtime itself.",
    ]
    why: Annotated[_Text, "The file of the runtime's sources that decides, a colon, and what it does."]
    snippet: Annotated[_Text, "What performs this launch."]
    reason: Annotated[
        str, Mark.OPTIONAL, "Why it takes long, where that is neither a copied memory map nor another program."
    ] = ""
    option: Annotated[str, Mark.OPTIONAL, "The option that chooses this path; empty: none."] = ""
    since: Annotated[str | None, Key("from"), Mark.OPTIONAL, "The first version; null: any."] = None
    until: Annotated[str | None, Mark.OPTIONAL, "The last version; null: any."] = None
    when: Annotated[str, Mark.OPTIONAL, "What else must hold."] = ""
    needs: Annotated[tuple[Annotated[str, OneOf(NEEDS)], ...], Mark.OPTIONAL, "What a machine needs to run it."] = ()
    child: Annotated[
        tuple[Annotated[str, OneOf(CALLS)], ...],
        Mark.OPTIONAL,
        "What the child does before its program.",
    ] = ()
    without: Annotated[
        tuple[Annotated[str, OneOf(CALLS)], ...], Mark.OPTIONAL, "What the child does not do, unlike others."
    ] = ()
    frames: Annotated[
        tuple[str, ...],
        Mark.OPTIONAL,
        "Functions of which one is in the native stack of the creator, unless symbols are missing; * is any text, and "
        "a < b is a called by b.",
    ] = ()
    called: Annotated[
        tuple[str, ...],
        Mark.OPTIONAL,
        "Functions of the language, with their modules, of which one was called, if a hook tells that; * is any text.",
    ] = ()
    in_call: Annotated[
        tuple[_Expression, ...],
        Mark.OPTIONAL,
        "Regular expressions, of which one finds the option in the source text of the call.",
    ] = ()
    in_file: Annotated[
        tuple[_Expression, ...],
        Mark.OPTIONAL,
        "The same for the whole file of the call, where the option need not be in the call itself.",
    ] = ()
    threads: Annotated[Count, Mark.OPTIONAL, "Threads that it makes beside."] = 0
    instead: Annotated[str, Mark.OPTIONAL, "What to write instead; empty: nothing better is known."] = ""
    lose: Annotated[str, Mark.OPTIONAL, "What one loses by that."] = ""
    better: Annotated[str, Mark.OPTIONAL, "A snippet that does as instead says: none of its tasks copies memory."] = ""
    setting: Annotated[str, Mark.OPTIONAL, "A variable of the environment that mends it: NAME=VALUE."] = ""
    mended: Annotated[tuple[str, ...], Mark.OPTIONAL, "The tasks that the kernel sees with that setting."] = ()
    options: Annotated[tuple[str, ...], Mark.OPTIONAL, "Words for the runtime, where its `run` has {options}."] = ()

    @property
    def tasks(self) -> tuple[SeenTask, ...]:
        """The tasks that the kernel sees."""
        return tuple(map(SeenTask.read, self.sees))

    @property
    def copies(self) -> bool:
        """Whether memory of the program is copied."""
        return any(task.copies for task in self.tasks)

    @property
    def title(self) -> str:
        """API and option."""
        return f"{self.api}, {self.option}" if self.option else self.api

    @property
    def versions(self) -> str:
        """Its versions in words; empty: all."""
        if self.since is not None and self.until is not None:
            return self.since if self.since == self.until else f"{self.since} to {self.until}"
        return f"from {self.since}" if self.since is not None else f"to {self.until}" if self.until is not None else ""

    def frames_in(self, functions: Sequence[str | None]) -> frozenset[str]:
        """The functions of a stack, innermost first, that its frames name; their names may end in @ and a version.

        Examples
        --------
        >>> path = LaunchPath("a", "a", (), "a: a", "a", frames=("*_spawn < run",))
        >>> sorted(path.frames_in(["os_spawn@1", "run", "main"])), path.frames_in(["run", "os_spawn"])
        (['os_spawn', 'run'], frozenset())
        """
        names = [None if name is None else name.partition("@")[0] for name in functions]
        named: set[str] = set()
        for frame in self.frames:
            patterns = frame.split(_CALLED_BY)
            for start in range(len(names) - len(patterns) + 1):
                part = [name for name in names[start : start + len(patterns)] if name is not None]
                if len(part) == len(patterns) and all(map(fnmatchcase, part, patterns)):
                    named.update(part)
        return frozenset(named)

    def is_of(self, version: str) -> bool:
        """Whether a version of the runtime has it."""
        return covers(self.since, self.until, version)

    def fault(self) -> str | None:
        """What makes it no line of the book."""
        unknown = [text for text in (*self.sees, *self.mended) if SeenTask.read(text).mechanism not in COPIES]
        bounds = [bound for bound in (self.since, self.until) if bound is not None and not numbers(bound)]
        texts = (self.api, self.option, self.when, self.why, self.reason, self.instead, self.lose)
        faults = {
            f"sees {', '.join(unknown)}; mechanisms are {', '.join(COPIES)}": bool(unknown),
            f"has {', '.join(bounds)} for a version": bool(bounds),
            "does not begin its why with the file that decides": ": " not in self.why,
            "has only one of instead and lose": bool(self.instead) != bool(self.lose),
            "has something better, but not in words": bool(self.better) and not self.instead,
            "has only one of setting and mended": bool(self.setting) != bool(self.mended),
            "has a setting that is not NAME=VALUE": "=" not in (self.setting or "="),
            f"has a text of more than {_LONGEST} characters": any(len(text) > _LONGEST for text in texts),
        }
        return next((words for words, holds in faults.items() if holds), None)


@dataclass(frozen=True)
class RuntimeBook:
    """A runtime or library, how it is found and run, and its lines."""

    name: _Name
    title: _Text
    source: Annotated[_Text, "Where its sources are."]
    packages: Annotated[tuple[str, ...], Ge(1), "Debian's packages that bring it."]
    programs: Annotated[tuple[str, ...], Ge(1), "What it is looked for as, along PATH."]
    identify: Annotated[tuple[str, ...], Ge(1), "The command that says its version."]
    version_pattern: Annotated[
        _Text, Key("version"), "A regular expression for that: version and, where it tells the real one, program."
    ]
    suffix: Annotated[_Text, "Of the file of a snippet."]
    run: Annotated[tuple[str, ...], Ge(1), "The command that runs a snippet."]
    counts_threads: Annotated[bool, "Whether a program that launches nothing has one thread."]
    paths: Annotated[tuple[LaunchPath, ...], Key("path"), Ge(1)]
    build: Annotated[tuple[str, ...], Mark.OPTIONAL, "The command that builds a snippet first."] = ()
    frame: Annotated[str, Mark.OPTIONAL, "What stands around a snippet, which is {snippet}."] = "{snippet}"

    def of_version(self, version: str) -> tuple[LaunchPath, ...]:
        """The lines that a version has."""
        return tuple(path for path in self.paths if path.is_of(version))

    def line_of(self, name: str, version: str | None) -> LaunchPath | None:
        """The line of a name, or the one that a version has for the same API and option; None where it has none.

        ``version`` None: any.
        """
        named = next((path for path in self.paths if path.name == name), None)
        if named is None or version is None or named.is_of(version):
            return named
        asked = named.api, named.option, named.needs
        return next((path for path in self.of_version(version) if (path.api, path.option, path.needs) == asked), None)

    def program_text(self, path: LaunchPath) -> str:
        """The whole program that performs a launch."""
        return self.frame.replace("{snippet}", path.snippet.strip("\n")).lstrip("\n") + "\n"

    def digest(self, path: LaunchPath) -> str:
        """What tells a program and its options from those of an earlier book."""
        text = "\0".join([self.program_text(path), *self.build, *self.run, *path.options, path.setting])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def fault(self) -> str | None:
        """What makes it no runtime of the book."""
        names = [path.name for path in self.paths]
        twice = sorted({name for name in names if names.count(name) > 1})
        return f"has two lines named {', '.join(twice)}" if twice else None


@dataclass(frozen=True)
class SeenLine:
    """What the kernel saw of a line."""

    name: str
    program: Annotated[str, "Tells the snippet that ran from other versions of it."]
    saw: Annotated[tuple[str, ...], "The tasks, as in the book; of several programs of a task only the last is named."]
    threads: Count
    calls: Annotated[
        tuple[str, ...] | None, Mark.OPTIONAL, "What the children did before their programs; null: not seen."
    ] = None


@dataclass(frozen=True)
class SeenVersion:
    """What was seen of a version of a runtime."""

    runtime: str
    version: str
    architecture: str
    kernel: str
    how: Annotated[str, "tracepoints or ptrace."]
    lines: tuple[SeenLine, ...]


@dataclass(frozen=True)
class PathBook:
    """Runtimes, and what was seen of their lines."""

    runtimes: tuple[RuntimeBook, ...]
    seen: Annotated[tuple[SeenVersion, ...], "What the kernel saw of each version that was checked, oldest first."] = ()

    schema = version(1)

    def runtime(self, name: str) -> RuntimeBook:
        """A runtime by its name.

        Raises
        ------
        UsageError
            If there is none of that name, with the nearest.
        """
        runtime = self.find(name)
        if runtime is None:
            raise unknown("runtime", name, [each.name for each in self.runtimes])
        return runtime

    def find(self, name: str) -> RuntimeBook | None:
        """A runtime by its name; None where the book does not have it."""
        return next((runtime for runtime in self.runtimes if runtime.name == name), None)

    def only(self, names: Iterable[str]) -> PathBook:
        """The runtimes of these names, each once; all of them where none is named."""
        chosen = tuple(self.runtime(name) for name in dict.fromkeys(names)) or self.runtimes
        named = {runtime.name for runtime in chosen}
        return PathBook(chosen, tuple(each for each in self.seen if each.runtime in named))

    def seen_of(self, runtime: RuntimeBook) -> list[SeenVersion]:
        """What was seen of a runtime."""
        return [each for each in self.seen if each.runtime == runtime.name]


@dataclass(frozen=True)
class SeenBook:
    """What has been seen of the book, in the order of runtimes and versions."""

    versions: tuple[SeenVersion, ...] = ()

    schema = version(1)

    def having(self, newer: Sequence[SeenVersion]) -> SeenBook:
        """These, with some in place of those of the same version on the same kind of machine."""
        kept = {_place(each): each for each in (*self.versions, *newer)}
        return SeenBook(tuple(kept[place] for place in sorted(kept)))


def _place(seen: SeenVersion) -> tuple[str, tuple[int, ...], str, str]:
    return (seen.runtime, numbers(seen.version), seen.version, seen.architecture)
