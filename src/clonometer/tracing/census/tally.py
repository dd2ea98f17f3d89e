"""Which tasks a program makes, how, and what they cost it: lines of the census, gathered as they come.

A census sees every task of one execution: medians and shares describe that execution, and have no interval.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.tracing.census.call_sites import CallSites
from clonometer.tracing.census.durations import Durations
from clonometer.tracing.census.executed import ExecutedTree
from clonometer.tracing.census.language import LanguageCall, LanguageRecords
from clonometer.tracing.census.services import Services
from clonometer.tracing.census.timeline import TaskLives
from clonometer.tracing.census.usage import Usage

NANOSECONDS = 1_000_000_000

#: What a task shares with its creator, and what else its creator asks for, tells which library call made it
#: (clone(2)).
_THREAD = "CLONE_THREAD"
AS_THREAD, AS_FORK = "thread", "fork"
_MEMORY = "CLONE_VM"
_VFORK = "CLONE_VFORK"
_CLEAR = "CLONE_CLEAR_SIGHAND"
_SPAWN = frozenset({_MEMORY, _VFORK, "CLONE_PIDFD"})
_SIGCHLD = 17
TIMES = ("call_ns", "making_ns", "cpu_wait_ns", "runs_ns", "exec_ns", "life_ns")
#: Why times of calls are null by ptrace.
PTRACE_SEES_NO_TIMES = "ptrace stops a task longer than its call takes, and sees no wake-up"


def mechanism(
    call: str | None, flag_names: Sequence[str], *, exit_signal: int | None = None, own_stack: int | None = None
) -> str:
    """Name how a task was made, from the system call and its arguments as the kernel received them.

    Sources: posix_spawn in glibc (sysdeps/unix/sysv/linux/spawni.c) and musl (src/process/posix_spawn.c) gives the
    child a stack of its own, and glibc clears signal handlers since 2.38 (CLONE_CLEAR_SIGHAND); Go's os/exec
    (syscall/exec_linux.go) calls clone without a stack, or clone3 for a cgroup.

    Parameters
    ----------
    call
        The system call's name, or None where it was not seen.
    flag_names
        Names of the clone flags.
    exit_signal, own_stack
        The signal that tells the creator of the end, and whether the task got a stack of its own; None where they were
        not seen, as those of clone3 by tracepoints.

    Returns
    -------
    str
        ``thread``, ``posix_spawn`` (as C libraries ask for it), ``vfork``, ``clone(VM|VFORK)`` (the same by somebody
        else), ``shares memory``, ``container`` (new namespaces) or ``fork``.

    Examples
    --------
    >>> mechanism("clone3", ["CLONE_VM", "CLONE_VFORK"]), mechanism("clone", ["CLONE_CHILD_SETTID"])
    ('posix_spawn', 'fork')
    >>> mechanism("clone", ["CLONE_VM", "CLONE_VFORK", "CLONE_PIDFD"], exit_signal=17, own_stack=False)
    'clone(VM|VFORK)'
    """
    flags = set(flag_names)
    if _THREAD in flags:
        return AS_THREAD
    if any(name.startswith("CLONE_NEW") for name in flags):
        return "container"
    if _MEMORY in flags and _VFORK in flags:
        if call == "vfork":
            return "vfork"
        library = _spawned_by_a_library(call, flags, own_stack) and exit_signal in (_SIGCHLD, None)
        return "posix_spawn" if library else "clone(VM|VFORK)"
    return "shares memory" if _MEMORY in flags else AS_FORK


def _spawned_by_a_library(call: str | None, flags: set[str], own_stack: int | None) -> bool:
    if own_stack is not None and not own_stack:
        return False
    if _CLEAR in flags:
        return flags <= _SPAWN | {_CLEAR, "CLONE_INTO_CGROUP"}
    # Where the stack was not seen: what asks for more than these flags, and clears no handlers, is no C library.
    return flags <= (_SPAWN if own_stack else {_MEMORY, _VFORK}) and call is not None


@dataclass
class Group:
    """Tasks that one program made in one way.

    Attributes
    ----------
    creator
        Path of the program that made them; None where it is not known.
    mechanism, call, flag_names
        As `mechanism` names it; the system call; the flags.
    times
        By name, what was seen of each task, ns: ``call_ns`` until the call returned to the creator, ``making_ns`` until
        the creator was ready to go on, ``cpu_wait_ns`` between the two of a creator that had to be woken, ``runs_ns``
        until the new task went on to user code, ``exec_ns`` its successful exec calls, ``life_ns`` from its making to
        its end.
    programs, program_life_ns
        How many of them executed each program (the last, where one executed several), and how long these lived in sum.
    cost_ns
        What their making and their exec calls took, of each task what both have in common once.
    used, used_so_far
        What they used themselves until their end; and those that still run when the census ends, until then.
    """

    creator: str | None
    mechanism: str
    call: str | None
    flag_names: tuple[str, ...]
    created: int = 0
    execed: int = 0
    failed_execs: int = 0
    running: int = 0
    cost_ns: int = 0
    times: dict[str, Durations] = field(default_factory=lambda: {name: Durations() for name in TIMES})
    used: Usage = field(default_factory=Usage)
    used_so_far: Usage = field(default_factory=Usage)
    programs: Counter[str] = field(default_factory=Counter)
    program_life_ns: Counter[str] = field(default_factory=Counter)

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a task."""
        self.created += 1
        self.execed += line["execs"] > 0
        self.failed_execs += line["failed_execs"]
        self.running += line["alive"]
        self.cost_ns += line["cost_ns"] or 0
        for name, values in self.times.items():
            if line[name] is not None:
                values.append(line[name])
        (self.used_so_far if line["alive"] else self.used).take(line)
        program = line["program"]
        if (
            line["execs"] > 0
            and program is not None
            and (program in self.programs or len(self.programs) < _MOST_PROGRAMS)
        ):
            self.programs[program] += 1
            self.program_life_ns[program] += line["life_ns"] or 0

    def median_ns(self, name: str) -> float | None:
        """The median of a time; None where it was seen of no task."""
        return self.times[name].median_ns

    @property
    def waits(self) -> bool:
        """Whether a creator sleeps until its child has begun another program or left."""
        return _VFORK in self.flag_names

    @property
    def cpu_wait_ns(self) -> int:
        """How long their creators were ready, but had no CPU."""
        return self.times["cpu_wait_ns"].total_ns


#: A program that makes ever new programs must not fill the memory with their names.
_MOST_PROGRAMS = 1000
_MOST_GROUPS = 10_000
#: Creator, mechanism, call and flags.
_GroupKey = tuple[str | None, str, str | None, tuple[str, ...]]
#: Creator, call, flags, exit signal and own stack, as the census writes them.
_Asked = tuple[str | None, str | None, tuple[str, ...], int | None, int | None]


@dataclass
class Census:
    """What a census found; filled by `take`, line by line.

    ``how`` is ``tracepoints``, or ``ptrace`` where these may not be read: then no times of calls, and others are
    inflated. ``without`` says why not by tracepoints; None where there is nothing to say. ``ended`` is the last line,
    empty before it has come.
    """

    how: str = ""
    without: str | None = None
    ended: Mapping[str, Any] = field(default_factory=dict)
    groups: dict[_GroupKey, Group] = field(default_factory=dict)
    executed: ExecutedTree = field(default_factory=ExecutedTree)
    sites: CallSites = field(default_factory=CallSites)
    written: LanguageRecords = field(default_factory=LanguageRecords)
    services: Services = field(default_factory=Services)
    #: When each task lived, where that is asked for.
    timeline: TaskLives | None = None
    #: From when times are counted, ns of CLOCK_MONOTONIC.
    begin_ns: int = 0
    #: Whether the program was started with hooks, and what a JVM can load as one.
    hooked: bool = False
    hook_library: str | None = None
    #: The group of what a task's creator asked for: thousands of tasks a second may ask for the same.
    _asked: dict[_Asked, Group] = field(default_factory=dict)

    def take(self, line: Mapping[str, Any]) -> None:
        """Take the next line of the answer."""
        kind = line["line"]
        if kind == "task":
            group = self._group(line)
            group.take(line)
            self.executed.take(line)
            service = self.services.take(line, group.mechanism)
            language = self._language(line, thread=group.mechanism == AS_THREAD)
            self.sites.take(line, group.mechanism, language, service)
            if self.timeline is not None:
                self.timeline.take(line, group.mechanism, language, is_thread=group.mechanism == AS_THREAD)
        elif kind == "cgroup":
            self.services.take_cgroup(line)
        elif kind == "begin":
            self.how, self.without = line["how"], line["without"]
            self.begin_ns = line.get("begin_ns", 0)
        elif kind == "hooks":
            self.hooked, self.hook_library = True, line["library"]
        elif kind == "call":
            self.written.take(line["text"], line.get("process"), line.get("user"))
        elif kind == "calls_left_out":
            self.written.left_out += line["lines"]
        elif kind == "end":
            self.ended = line
        elif kind == "site":
            self.sites.take_stack(line)
        elif kind == "module":
            self.sites.take_module(line)

    def _language(self, line: Mapping[str, Any], *, thread: bool) -> LanguageCall | None:
        """What the creator's own runtime said of the call; None where it said nothing."""
        previous_ns = line.get("previous_ns")
        after_ns = 0 if previous_ns is None else self.begin_ns + previous_ns
        until_ns = self.begin_ns + line.get("start_ns", 0)
        process = line.get("creator_process") or line["creator"]
        return self.written.find(line["creator"], after_ns, until_ns, makes_thread=thread, process=process)

    def _group(self, line: Mapping[str, Any]) -> Group:
        flags = tuple(line["flag_names"])
        asked = (line["creator_program"], line["call"], flags, line["exit_signal"], line["own_stack"])
        group = self._asked.get(asked)
        if group is None:
            if len(self._asked) >= _MOST_GROUPS:
                self._asked.clear()
            group = self._asked[asked] = self._new_group(*asked)
        return group

    def _new_group(
        self,
        creator: str | None,
        call: str | None,
        flags: tuple[str, ...],
        exit_signal: int | None,
        has_stack: int | None,
    ) -> Group:
        how = mechanism(call, flags, exit_signal=exit_signal, own_stack=has_stack)
        key: _GroupKey = (creator, how, call, flags)
        if key not in self.groups and len(self.groups) >= _MOST_GROUPS:
            key = (None, *key[1:])
        if key not in self.groups:
            self.groups[key] = Group(*key)
        return self.groups[key]

    def by_cost(self) -> list[Group]:
        """The groups, dearest first; where no calls were timed, most tasks first."""
        return sorted(self.groups.values(), key=lambda group: (-group.cost_ns, -group.created))

    @property
    def created(self) -> int:
        """Tasks made, as the kernel counted them."""
        return int(self.ended["tasks_created"])

    @property
    def wall_s(self) -> float:
        """How long it was watched."""
        return float(self.ended["wall_ns"]) / NANOSECONDS

    @property
    def creating_share(self) -> float | None:
        """Share of the time in which some task was being made or began a program; None if not timed."""
        wall = self.ended["wall_ns"]
        return self.ended["creating_ns"] / wall if wall > 0 and self.how == "tracepoints" else None

    def by_mechanism(self) -> list[tuple[str, int, float | None]]:
        """Each mechanism with how many tasks it made and the median of their making, ns; most tasks first.

        The median is None where no making was timed.
        """
        counts: Counter[str] = Counter()
        makings: dict[str, Durations] = defaultdict(Durations)
        for group in self.groups.values():
            counts[group.mechanism] += group.created
            makings[group.mechanism].extend(group.times["making_ns"])
        return [(name, count, makings[name].median_ns) for name, count in counts.most_common()]

    @property
    def running(self) -> int:
        """Tasks that it made and that still ran at the end."""
        return sum(group.running for group in self.groups.values())
