"""Which tasks a program makes, how, and what they cost it: lines of the census, gathered as they come.

A census sees every task of one execution: medians and shares describe that execution, and have no interval.
"""

from __future__ import annotations

import errno
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

CENSUS_SCHEMA = 1
NANOSECONDS = 1_000_000_000

#: What a task shares with its creator tells which library call made it (clone(2)).
_THREAD = "CLONE_THREAD"
_MEMORY = "CLONE_VM"
_VFORK = "CLONE_VFORK"
_TIMES = ("call_ns", "runs_ns", "exec_ns", "life_ns")


def mechanism(call: str | None, flag_names: Sequence[str]) -> str:
    """Name how a task was made, from the system call and its flags as the kernel received them.

    Parameters
    ----------
    call
        The system call's name, or None where it was not seen.
    flag_names
        Names of the clone flags.

    Returns
    -------
    str
        ``thread``, ``posix_spawn`` (CLONE_VM and CLONE_VFORK by clone or clone3, as C libraries' posix_spawn and
        several runtimes ask for), ``vfork``, ``shares memory``, ``container`` (new namespaces) or ``fork``.

    Examples
    --------
    >>> mechanism("clone3", ["CLONE_VM", "CLONE_VFORK"]), mechanism("clone", ["CLONE_CHILD_SETTID"])
    ('posix_spawn', 'fork')
    """
    flags = set(flag_names)
    if _THREAD in flags:
        return "thread"
    if any(name.startswith("CLONE_NEW") for name in flags):
        return "container"
    if _MEMORY in flags and _VFORK in flags:
        return "vfork" if call == "vfork" else "posix_spawn"
    return "shares memory" if _MEMORY in flags else "fork"


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
        By name, what was seen of each task, ns: ``call_ns`` until the call returned to the creator, ``runs_ns`` until
        the new task went on to user code, ``exec_ns`` its successful exec calls, ``life_ns`` from its making to its
        end.
    """

    creator: str | None
    mechanism: str
    call: str | None
    flag_names: tuple[str, ...]
    created: int = 0
    execed: int = 0
    failed_execs: int = 0
    running: int = 0
    times: dict[str, array[int]] = field(default_factory=lambda: {name: array("q") for name in _TIMES})
    programs: dict[str, int] = field(default_factory=dict)

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a task."""
        self.created += 1
        self.execed += line["execs"] > 0
        self.failed_execs += line["failed_execs"]
        self.running += line["life_ns"] is None
        for name, values in self.times.items():
            if line[name] is not None:
                values.append(line[name])
        program = line["program"]
        if (
            line["execs"] > 0
            and program is not None
            and (program in self.programs or len(self.programs) < _MOST_PROGRAMS)
        ):
            self.programs[program] = self.programs.get(program, 0) + 1

    def median_ns(self, name: str) -> float | None:
        """The median of a time; None where it was seen of no task."""
        return float(median(self.times[name])) if self.times[name] else None

    @property
    def cost_ns(self) -> int:
        """What making them cost: the creators' calls, and exec in those that do not share their creator's wait.

        A creator that asks with CLONE_VFORK sleeps until the new program has begun, so exec is in its call already.
        """
        waits = _VFORK in self.flag_names
        return sum(self.times["call_ns"]) + (0 if waits else sum(self.times["exec_ns"]))


#: A program that makes ever new programs must not fill the memory with their names.
_MOST_PROGRAMS = 1000
_MOST_GROUPS = 10_000


@dataclass
class Census:
    """What a census found; filled by `take`, line by line.

    Attributes
    ----------
    how
        ``tracepoints``, or ``ptrace`` where these may not be read: then no times of calls, and others are inflated.
    without
        Why not by tracepoints; None where there is nothing to say.
    ended
        The last line; empty before it has come.
    """

    how: str = ""
    without: str | None = None
    ended: Mapping[str, Any] = field(default_factory=dict)
    groups: dict[tuple[object, ...], Group] = field(default_factory=dict)

    def take(self, line: Mapping[str, Any]) -> None:
        """Take the next line of the answer."""
        if line["line"] == "begin":
            self.how, self.without = line["how"], line["without"]
        elif line["line"] == "end":
            self.ended = line
        elif line["line"] == "task":
            self._group(line).take(line)

    def _group(self, line: Mapping[str, Any]) -> Group:
        flags = tuple(line["flag_names"])
        key: tuple[object, ...] = (line["creator_program"], line["call"], flags)
        if key not in self.groups and len(self.groups) >= _MOST_GROUPS:
            key = (None, line["call"], flags)
        if key not in self.groups:
            creator = line["creator_program"] if key[0] is not None else None
            self.groups[key] = Group(creator, mechanism(line["call"], flags), line["call"], flags)
        return self.groups[key]

    def by_cost(self) -> list[Group]:
        """The groups, dearest first; where no calls were timed, most tasks first."""
        return sorted(self.groups.values(), key=lambda one: (-one.cost_ns, -one.created))

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
        """Share of the time in which some task was inside a call that makes tasks or programs; None if not timed."""
        wall = self.ended["wall_ns"]
        return self.ended["creating_ns"] / wall if wall > 0 and self.how == "tracepoints" else None

    def by_mechanism(self) -> list[tuple[str, int, float | None]]:
        """Each mechanism with how many tasks it made and the median of their calls, ns; most tasks first.

        The median is None where no call was timed.
        """
        counts: Counter[str] = Counter()
        calls: dict[str, list[int]] = defaultdict(list)
        for one in self.groups.values():
            counts[one.mechanism] += one.created
            calls[one.mechanism].extend(one.times["call_ns"])
        return [
            (name, count, float(median(calls[name])) if calls[name] else None) for name, count in counts.most_common()
        ]

    @property
    def running(self) -> int:
        """Tasks that it made and that still ran at the end."""
        return sum(one.running for one in self.groups.values())


def census_to_json(census: Census, command: Sequence[str], pid: int | None) -> dict[str, Any]:
    """Turn a census into plain JSON values, valid against docs/schemas/census.schema.json."""
    ended = census.ended
    return {
        "schema": CENSUS_SCHEMA,
        "command": list(command) or None,
        "pid": pid,
        "how": census.how,
        "without": census.without,
        "exit_status": ended["exit_status"] if command else None,
        "timed_out": ended["timed_out"],
        "interrupted": ended["interrupted"],
        "wall_ns": ended["wall_ns"],
        "tasks_created": census.created,
        "tasks_per_second": census.created / census.wall_s if census.wall_s > 0 else None,
        "still_running": census.running,
        "creating_ns": ended["creating_ns"] if census.how == "tracepoints" else None,
        "creating_share": census.creating_share,
        "failed_calls": {errno.errorcode.get(int(number), number): n for number, n in ended["failed"].items()},
        "lost_events": ended["lost"],
        "buffer_bytes": ended["ring_bytes"] if census.how == "tracepoints" else None,
        "buffer_grown": ended["grown"],
        "unseen_ends": ended["unseen"],
        "creators": [_group_to_json(one) for one in census.by_cost()],
    }


def _group_to_json(one: Group) -> dict[str, Any]:
    timed = bool(one.times["call_ns"])
    return {
        "program": one.creator,
        "mechanism": one.mechanism,
        "call": one.call,
        "flags": list(one.flag_names),
        "created": one.created,
        "execed": one.execed,
        "failed_execs": one.failed_execs,
        "still_running": one.running,
        "cost_ns": one.cost_ns if timed else None,
        **{f"{name.removesuffix('_ns')}_median_ns": one.median_ns(name) for name in _TIMES},
        "programs": dict(sorted(one.programs.items(), key=lambda item: -item[1])),
    }
