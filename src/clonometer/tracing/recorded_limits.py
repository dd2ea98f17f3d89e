"""A file of limits, made of what a command created in several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.tracing.launch_limits import LIMIT_NAMES, CountedLaunches

#: What was not used is not written; these always are.
_ALWAYS = ("processes", "fork")
#: Counts in which threads are: a runtime starts as many as it happens to need.
_WITH_THREADS = ("max", "thread")
_UNNAMED = "programs, since one line executes too many different ones to know all"
_HEAD = """\
# The most tasks that a command may create: 'clonometer budget -- COMMAND' fails if it creates more.
# Written by 'clonometer budget --record'; change it as you like. Known names: {names}.
"""


@dataclass(frozen=True)
class RecordedLimits:
    """The text of a file of limits, and what varies from run to run and is therefore not limited."""

    text: str
    runs: int
    varying: Sequence[str]
    #: Whether only the first run differs from the others: as if it built what they found built.
    only_first_differs: bool = False


def recorded_limits(counts: Sequence[CountedLaunches]) -> RecordedLimits:
    """Write limits of what every run counted alike.

    What varies is a comment, since it would alarm by chance. So are threads, and all tasks where there are threads.
    Programs are limited by their file names: the same program has another path on another machine, where a limit of
    this path would limit nothing.
    """
    launches = {name: [each.launches[name] for each in counts] for name in LIMIT_NAMES}
    executed = [_by_file_name(each) for each in counts]
    names = sorted({name for each in executed for name in each})
    programs = {name: [each[name] for each in executed] for name in names}
    varying = [f"{name}: {_range(seen)}" for name, seen in (*launches.items(), *programs.items()) if len({*seen}) > 1]
    kept = {name: seen for name, seen in launches.items() if name in _ALWAYS or any(seen)}
    if any(each.unnamed for each in counts):
        programs = {}
        varying.append(f"{_UNNAMED}: {_range([each.unnamed for each in counts])} without a name")
    lines = [
        _HEAD.format(names=", ".join(LIMIT_NAMES)),
        "[launches]",
        *(_line(name, seen, threads=any(launches["thread"])) for name, seen in kept.items()),
        "",
        "[programs]",
        *(_line(path, seen) for path, seen in programs.items()),
        *([] if programs or not names else [f"# not limited: {_UNNAMED}"]),
    ]
    steady = {
        name: seen for name, seen in (*launches.items(), *programs.items()) if name not in _WITH_THREADS and seen[1:]
    }
    first = any(len({*seen}) > 1 for seen in steady.values()) and all(len({*seen[1:]}) == 1 for seen in steady.values())
    return RecordedLimits("\n".join(lines) + "\n", len(counts), varying, first and len(counts) > 2)


def _by_file_name(counts: CountedLaunches) -> Counter[str]:
    named: Counter[str] = Counter()
    for path, times in counts.programs.items():
        named[path.rpartition("/")[2]] += times
    return named


def _line(name: str, seen: Sequence[int], *, threads: bool = False) -> str:
    key = name if name.isidentifier() and name.isascii() else _quoted(name)
    if len({*seen}) > 1:
        return f"# {key} = {max(seen)}    # not limited: {_range(seen)}"
    if threads and name in _WITH_THREADS:
        return f"# {key} = {seen[0]}    # not limited: how many threads a runtime starts may vary"
    return f"{key} = {seen[0]}"


def _range(seen: Sequence[int]) -> str:
    return f"{min(seen)} to {max(seen)} in {len(seen)} runs"


def _quoted(name: str) -> str:
    """A basic string of TOML; names of programs may hold anything."""
    plain = name.encode("utf-8", "replace").decode()
    escaped = "".join(
        f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter
        for letter in plain.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'
