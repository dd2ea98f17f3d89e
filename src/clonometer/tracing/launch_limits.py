"""Limits for the tasks that a command may create, and how a census compares with them.

Only counts are limited: they are exact, and the same in every run of a program that does the same. Times are not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from clonometer.errors import InputError, MissingFileError, UsageError, unknown
from clonometer.fields import is_whole, shown
from clonometer.inputs import MOST_NUMBER, InputKind, read_toml
from clonometer.records import After, Count, computed_field, version
from clonometer.tracing.census.call_sites import MOST_NAMES, CallSite, one_place
from clonometer.tracing.census.tally import AS_THREAD, Census
from clonometer.verdicts import Gate
from clonometer.words import counted

LAUNCH_BUDGET_SCHEMA = 1

#: What a census counts that is no single mechanism, and how it is written in a file of limits.
MAX, PROCESSES = "max", "processes"
#: Names of limits in the table ``launches``: the mechanisms are those of `clonometer.tracing.census.tally.mechanism`.
LIMIT_NAMES = (
    *(MAX, PROCESSES, AS_THREAD),
    *("fork", "vfork", "posix_spawn", "clone(VM|VFORK)", "shares memory", "container"),
)
_PROGRAMS = "programs."
_EXAMPLE = "limits stand below [launches], as in fork = 0, and below [programs], as in git = 3"
_LIMITS = InputKind("a file of limits", 1 << 20, _EXAMPLE)
_COUNT = re.compile(r"[0-9]{1,19}")
#: As many call sites as anybody reads are named for each limit.
_MOST_SITES = 20


@dataclass(frozen=True)
class LaunchLimits:
    """The most tasks that may be created.

    ``launches`` is by name (`LIMIT_NAMES`); ``programs`` says how often programs may be executed, by path or by file
    name.
    """

    launches: Mapping[str, int] = field(default_factory=dict)
    programs: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.launches or self.programs)

    def with_limits(self, texts: Iterable[str]) -> LaunchLimits:
        """The same with others from a command line: ``fork=0``, ``programs.git=3``.

        Raises
        ------
        InputError
            If a text is no limit.
        UsageError
            If there is no limit of that name.
        """
        launches, programs = dict(self.launches), dict(self.programs)
        for text in texts:
            name, equals, most = text.rpartition("=")
            if not _COUNT.fullmatch(most) or int(most) > MOST_NUMBER or not equals:
                raise InputError(f"{shown(text)} is no limit", "a limit is NAME=N, as in fork=0 or programs.git=3")
            if name.startswith(_PROGRAMS):
                programs[name.removeprefix(_PROGRAMS)] = int(most)
            else:
                launches[_known(name)] = int(most)
        return LaunchLimits(launches, programs)


def read_launch_limits(path: Path) -> LaunchLimits:
    """Read a file of limits: TOML with the tables ``launches`` and ``programs``.

    Raises
    ------
    InputError
        If it cannot be read, is no TOML, or has anything else in it.
    UsageError
        If it has an unknown name.
    """
    try:
        document = read_toml(path, _LIMITS)
    except MissingFileError:
        raise InputError(
            f"{path} does not exist", f"clonometer budget --record --limits {path} -- COMMAND writes it"
        ) from None
    for key in document.keys() - {"launches", "programs"}:
        wrong = f"there is no table {key!r}" if isinstance(document[key], dict) else f"{key} stands in no table"
        raise InputError(f"{path}: {wrong}", _EXAMPLE)
    launches = _counts(document.get("launches", {}), f"{path}: launches")
    return LaunchLimits(
        {_known(name): most for name, most in launches.items()},
        _counts(document.get("programs", {}), f"{path}: programs"),
    )


def _known(name: str) -> str:
    if name not in LIMIT_NAMES:
        error = unknown("limit", name, LIMIT_NAMES)
        raise UsageError(error.message, f"{error.hint}; of a program: programs.git=3")
    return name


def _counts(table: object, place: str) -> dict[str, int]:
    if not isinstance(table, dict):
        raise InputError(f"{place} is not a table")
    for name, most in table.items():
        if not is_whole(most) or most < 0:
            raise InputError(f"{place}: {name} is {shown(most)}, not a number of tasks")
    return table


@dataclass(frozen=True)
class CountedLaunches:
    """What a census counted, by the names of limits, and how often each program was executed, by path.

    ``unnamed`` counts executions of programs that are not in ``programs``: a line executed too many different ones.
    """

    launches: Mapping[str, int]
    programs: Mapping[str, int]
    unnamed: int = 0

    @classmethod
    def of(cls, census: Census) -> CountedLaunches:
        """Count the tasks of a census that has ended."""
        return cls.at_sites(census, census.sites.by_cost())

    @classmethod
    def at_sites(cls, census: Census, sites: Sequence[CallSite]) -> CountedLaunches:
        """The same where the census' call sites are at hand."""
        groups = census.groups.values()
        launches = {
            name: sum(group.created for group in groups if _is_limited(group.mechanism, name)) for name in LIMIT_NAMES
        }
        return cls(launches, sum(map(_programs, sites), Counter[str]()), sum(site.unnamed for site in sites))


def _is_limited(mechanism: str, name: str) -> bool:
    """Whether tasks of a mechanism count for a limit of `LIMIT_NAMES`."""
    return mechanism != AS_THREAD if name == PROCESSES else name in (MAX, mechanism)


def _programs(site: CallSite) -> Counter[str]:
    return site.programs + site.helpers


def _executed(programs: Mapping[str, int], name: str) -> int:
    """How often a program was executed, by its path or its file name."""
    return sum(times for path, times in programs.items() if name in (path, path.rpartition("/")[2]))


@dataclass(frozen=True)
class LaunchPlace:
    """A line that creates tasks; fields are None where they are not known."""

    created: Annotated[Count, "Tasks that count for this limit."]
    program: Annotated[str | None, "The program that creates them."]
    api: Annotated[str | None, "What is called there."]
    function: Annotated[str | None, "The function that calls it."]
    file: Annotated[str | None, "The source file."]
    line: Annotated[int | None, "The line in it, from 1."]

    @computed_field("Where it is, in a word.", after="line")
    def place(self) -> str:
        """File and line as far as they are known, or the program."""
        if self.file is None:
            return self.program or "an unknown program"
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class LaunchLimit:
    """One limit, and what was counted."""

    name: Annotated[str, "A name of [launches], or programs.NAME."]
    most: Annotated[Count, "The most that may be."]
    counted: Annotated[Count, "What was counted."]
    verdict: Annotated[Gate, "unknown: not all was counted, and the rest could exceed it."]
    places: Annotated[Sequence[LaunchPlace], "The lines that count, most tasks first, if the limit is exceeded."] = ()

    @property
    def of_program(self) -> bool:
        """Whether executions of a program are limited."""
        return self.name.startswith(_PROGRAMS)


@dataclass(frozen=True, kw_only=True)
class LaunchBudget:
    """A command's launches against limits. Times are in nanoseconds, and decide nothing."""

    schema = version(LAUNCH_BUDGET_SCHEMA)

    command: Sequence[str]
    verdict: Annotated[Gate, "fail: some limit is exceeded."]
    limits: Sequence[LaunchLimit]
    counts: Annotated[Mapping[str, int], "All that was counted, by the names of limits."]
    programs: Annotated[Mapping[str, int], "How often each program was executed."]
    wall_ns: Annotated[Count, "How long the command ran."]
    creating_ns: Annotated[int | None, "How long any task was being created or began a program; None if not timed."]
    exit_status: Annotated[int, "The command's; negative if a signal ended it."]
    timed_out: Annotated[bool, "The command was ended because its time was over."] = False
    interrupted: bool = False
    lost_events: Annotated[Count, "Events without room: the counts are too small."] = 0
    unnamed_programs: Annotated[Count, "Executions of programs whose names had no room: not in programs."] = 0
    still_running: Annotated[Count, "Tasks that ran on after the census: what they create is not counted."] = 0
    how: Annotated[str, After("command"), "tracepoints or ptrace."]

    @property
    def exceeded(self) -> list[LaunchLimit]:
        """The limits that are exceeded."""
        return [limit for limit in self.limits if limit.verdict is Gate.FAIL]

    @property
    def never_executed(self) -> list[str]:
        """Programs that may be executed and were not: perhaps their names are wrong."""
        unused = (limit for limit in self.limits if limit.most and not limit.counted and not self.unnamed_programs)
        return [limit.name.removeprefix(_PROGRAMS) for limit in unused if limit.of_program]

    @property
    def uncounted(self) -> list[str]:
        """Why limits may be exceeded though the counts are within them; a sentence each."""
        texts = []
        if self.lost_events:
            texts.append(f"{counted(self.lost_events, 'event')} were lost: more tasks may have been created.")
        if self.unnamed_programs:
            executed = counted(self.unnamed_programs, "program")
            texts.append(f"Of {executed} executed, the names are not known: one line executes more than {MOST_NAMES}.")
        return texts


def judge_launches(census: Census, command: Sequence[str], limits: LaunchLimits) -> LaunchBudget:
    """Compare a census that has ended with limits."""
    ways = census.sites.by_cost()
    counts, sites = CountedLaunches.at_sites(census, ways), one_place(ways)
    ended = census.ended

    def judge(name: str, most: int, seen: int, places: Sequence[LaunchPlace], unnamed: int = 0) -> LaunchLimit:
        if seen > most:
            return LaunchLimit(name, most, seen, Gate.FAIL, places)
        known = not ended["lost"] and seen + unnamed <= most
        return LaunchLimit(name, most, seen, Gate.PASS if known else Gate.UNKNOWN)

    judged = []
    for name, most in limits.launches.items():
        limited = ((site.created if _is_limited(site.mechanism, name) else 0, site) for site in sites)
        judged.append(judge(name, most, counts.launches[name], _places(limited)))
    for name, most in limits.programs.items():
        limited = ((_executed(_programs(site), name), site) for site in sites)
        executed = _executed(counts.programs, name)
        judged.append(judge(f"{_PROGRAMS}{name}", most, executed, _places(limited), counts.unnamed))
    verdicts = {limit.verdict for limit in judged}
    return LaunchBudget(
        command=tuple(command),
        verdict=next((gate for gate in (Gate.FAIL, Gate.UNKNOWN) if gate in verdicts), Gate.PASS),
        limits=judged,
        counts=counts.launches,
        programs=counts.programs,
        wall_ns=int(ended["wall_ns"]),
        creating_ns=int(ended["creating_ns"]) if census.how == "tracepoints" else None,
        exit_status=int(ended["exit_status"]),
        timed_out=bool(ended["timed_out"]),
        interrupted=bool(ended["interrupted"]),
        lost_events=int(ended["lost"]),
        unnamed_programs=counts.unnamed,
        still_running=census.running,
        how=census.how,
    )


def _places(counted: Iterable[tuple[int, CallSite]]) -> list[LaunchPlace]:
    ordered = sorted((pair for pair in counted if pair[0]), key=lambda pair: -pair[0])
    return [_place(created, site) for created, site in ordered[:_MOST_SITES]]


def _place(created: int, site: CallSite) -> LaunchPlace:
    where = site.where
    return LaunchPlace(
        created,
        site.program,
        site.api,
        (where.written_name or None) if where is not None else None,
        where.file if where is not None else None,
        where.source_line if where is not None else None,
    )
