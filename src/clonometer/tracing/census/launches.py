"""Call sites as their programmers know them: the API and option that chose the path, why, and what to write instead.

What a task did before its exec, how it was made and which runtime its creator runs fit some lines of the book of launch
paths (`clonometer.launch_paths`). The saving is that of this program: what its launches cost here, less what launches
cost that do not copy the memory map. Those of the same program stand for these where there are enough, else those of a
small program on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from clonometer.launch_paths.explaining import NO_SOURCE, PathFit, SourceText, explain, seen_task
from clonometer.launch_paths.judging import UNSEEN, named
from clonometer.launch_paths.types import LaunchPath, PathBook
from clonometer.tracing.census.call_sites import CallSite, StackFrame, frame_to_json, one_place
from clonometer.tracing.census.durations import Durations
from clonometer.tracing.census.installed import is_packaged
from clonometer.tracing.census.savings import LEAST_CALLS, LEAST_SHARE, IntervalEnds
from clonometer.tracing.census.tally import Census

#: What a launch costs that shares the memory until its exec, where the program has none of its own to compare with.
_SHARING = "posix_spawn"
#: What stands for it there: it executes what the others execute, as far as a census can know.
_OF_ITS = "its own launches that share memory"
_MOST_ADVICE = 5
#: Options that look alike, of which the reader of a script can still find the one that it has.
_MOST_ALIKE = 3
#: Runtimes whose programs are files of machine code.
_COMPILED = frozenset(("glib", "glibc", "go", "musl", "qt5", "qt6", "rust"))
#: Libraries that launch for a program: the name of their file of code, in which GLib writes 2.74.6 as 0.7400.6.
_LIBRARIES = {
    "glib": re.compile(r"lib(?:glib|gio)-2\.0\.so(?:\.0\.(?P<minor>\d+)\d\d\.\d+)?"),
    "qt5": re.compile(r"libQt5Core\.so(?:\.(?P<version>5\.\d+\.\d+))?"),
    "qt6": re.compile(r"libQt6Core\.so(?:\.(?P<version>6\.\d+\.\d+))?"),
}


@dataclass(frozen=True)
class RuntimeVersion:
    """The language's runtime of a program: its name in the book, and its version as far as that is known."""

    name: str
    version: str | None

    def is_packaged(self, program: str) -> bool:
        """Whether a program that runs it is a package's; an interpreter is not, whose script may be anybody's."""
        return self.name in _COMPILED and is_packaged(program)


@dataclass(frozen=True)
class SavedTime:
    """What other launches would save of this census, ns.

    ``value_ns`` is what its launches took together, less the others. ``high_ns`` takes these by the low end of their
    interval, and ``low_ns`` by the high end; it takes each launch by the low end of its median's 95% interval, so that
    a few that were held up do not count. Compared with a small program it takes no exec, only the call that made a
    task, which copies: the exec of a larger program takes longer, however that is launched. Nor does it of fewer than 6
    launches, which have no interval, and of which one may have waited for a disk: it takes the shortest call.
    """

    value_ns: float
    low_ns: float
    high_ns: float
    compared_with: str


@dataclass(frozen=True)
class LaunchSite:
    """A call site with the lines of the book that fit; the one that stands is known only where there is one.

    ``is_unpriced``: all lines that fit copy the memory map and name something else to write, but what that would save
    is not known, because the census has no times or nothing to compare them with.
    """

    site: CallSite
    runtime: RuntimeVersion | None = None
    fits: tuple[PathFit, ...] = field(default=())
    saved: SavedTime | None = None
    is_unpriced: bool = False

    @property
    def path(self) -> LaunchPath | None:
        """The line of the book; None where none fits, or several do."""
        return self.fits[0].path if len(self.fits) == 1 else None

    @property
    def title(self) -> str | None:
        """API and option, those that several lines have in common; None where no line fits."""
        if self.path is not None:
            return self.path.title
        titles = {fit.path.api for fit in self.fits}
        return next(iter(titles)) if len(titles) == 1 else None

    @property
    def is_of_interpreter(self) -> bool:
        """Whether only a place in the interpreter is known, and not the line of the script that it executes."""
        where = self.site.where
        script = where is not None and where.module is None and where.file is not None
        return self.runtime is not None and self.runtime.name not in _COMPILED and not script

    @property
    def is_vague(self) -> bool:
        """Whether only the interpreter's code is known, and any of many options may have been used there."""
        return self.is_of_interpreter and len({fit.path.instead for fit in self.fits}) > _MOST_ALIKE

    @property
    def is_packaged(self) -> bool:
        """Whether the line is that of a package, which its reader cannot change; no setting does, either."""
        if self.path is not None and self.path.setting:
            return False
        where = self.site.where
        if where is not None and where.module is None and where.file is not None:
            return is_packaged(where.file)
        return self.runtime is not None and self.runtime.is_packaged(self.site.program or "")


def launches(
    census: Census,
    runtimes: Mapping[str, RuntimeVersion],
    book: PathBook,
    costs_ns: Mapping[str, IntervalEnds],
    *,
    is_root: bool | None = None,
    source_of: Callable[[CallSite], SourceText] = lambda _: NO_SOURCE,
) -> list[LaunchSite]:
    """Name the option and price of each call site, the most expensive first.

    Parameters
    ----------
    runtimes
        By the path of a program: what it runs.
    costs_ns
        What a launch of a small program costs on this machine, by mechanism: ends of the median's 95% interval, ns.
    is_root
        Whether the programs run as root; None where that is not known.
    source_of
        Reads the source of a program at a call site.
    """
    sites = census.sites.by_cost()
    sharing = _sharing_costs(sites)
    # Places are added up last: stacks of one place may show different options.
    explained: dict[tuple[str, ...], tuple[RuntimeVersion | None, tuple[PathFit, ...], list[CallSite]]] = {}
    for site in sites:
        runtime = _library(site) or runtimes.get(site.program or "")
        fits = _fits(site, runtime, book, source_of(site), is_root) if runtime is not None else ()
        key = (str(runtime), *(fit.path.name for fit in fits))
        explained.setdefault(key, (runtime, fits, []))[2].append(site)
    listed = []
    for runtime, fits, site in [
        (runtime, fits, site) for runtime, fits, some in explained.values() for site in one_place(some)
    ]:
        others = sharing.get(site.program or "")
        other = (others, _OF_ITS) if others else None
        if other is None and _SHARING in costs_ns:
            other = (costs_ns[_SHARING], "posix_spawn by a small program")
        can = bool(fits) and all(fit.path.copies and fit.path.instead for fit in fits)
        saved = _saved(site, *other) if can and other is not None else None
        unpriced = can and site.execed >= LEAST_CALLS and (other is None or not site.making_ns)
        listed.append(LaunchSite(site, runtime, fits, saved, unpriced))
    return sorted(listed, key=lambda launch: (-launch.site.cost_ns, -launch.site.created))


def worth_changing(listed: Sequence[LaunchSite]) -> list[LaunchSite]:
    """Those at which another launch would save time, most first: at most five, those of packages last.

    Those of which nobody knows how much come after the others, the most frequent first. Advice that depends on the line
    is left out where neither the line nor the option is known.
    """
    worth = [launch for launch in listed if (launch.saved is not None or launch.is_unpriced) and not launch.is_vague]
    worth.sort(
        key=lambda launch: (
            launch.is_packaged,
            launch.saved is None,
            -launch.saved.low_ns if launch.saved else -launch.site.execed,
        )
    )
    return worth[:_MOST_ADVICE]


def settings(listed: Sequence[LaunchSite]) -> list[str]:
    """Variables of the environment, NAME=VALUE, that mend launches of these, the most expensive first."""
    paths = [launch.path for launch in listed if launch.path is not None]
    return list(dict.fromkeys(path.setting for path in paths if path.setting))


def _library(site: CallSite) -> RuntimeVersion | None:
    """The library whose code is in the stack: it launches, whatever else the program runs."""
    return next(filter(None, map(_library_of, site.frames)), None)


def _library_of(frame: StackFrame) -> RuntimeVersion | None:
    file = PurePosixPath(frame.module or "").name
    for name, pattern in _LIBRARIES.items():
        if match := pattern.match(file):
            groups = match.groupdict()
            minor = groups.get("minor")
            return RuntimeVersion(name, f"2.{minor}" if minor else groups.get("version"))
    return None


def _fits(
    site: CallSite, runtime: RuntimeVersion, book: PathBook, source: SourceText, is_root: bool | None
) -> tuple[PathFit, ...]:
    lines = book.find(runtime.name)
    if lines is None:
        return ()
    program = PurePosixPath(site.program or "").name
    executed = [
        *site.helpers,
        *([next(iter(site.programs)) if len(site.programs) == 1 else UNSEEN] * bool(site.execed)),
    ]
    task = seen_task(site.mechanism, site.flag_names, named([PurePosixPath(name).name for name in executed], program))
    # What lies beyond the end of a stack that is not whole has no name.
    functions = [*(frame.name or None for frame in site.frames), *([None] * (site.ends is not None))]
    return explain(
        lines,
        runtime.version,
        task,
        site.calls,
        functions=functions,
        called=() if site.language is None else site.language.called,
        source=source,
        is_root=is_root,
    )


def _sharing_costs(sites: Sequence[CallSite]) -> dict[str, IntervalEnds]:
    """By program: what its launches cost that execute a program without a copy of the memory map."""
    costs: dict[str, Durations] = {}
    for site in sites:
        if site.mechanism in ("vfork", "posix_spawn", "clone(VM|VFORK)") and site.execed:
            costs.setdefault(site.program or "", Durations()).extend(site.costs_ns)
    return {program: times.median_ends_ns for program, times in costs.items() if len(times) >= LEAST_CALLS}


def _saved(site: CallSite, other: IntervalEnds, compared_with: str) -> SavedTime | None:
    """What the site would save, where it is a tenth of its cost at least by the near ends; else None.

    The first forks of a process cost a multiple of later ones, so their sum is more than a median times their number.
    """
    if not site.costs_ns or not site.execed:
        return None
    is_alike = compared_with == _OF_ITS and len(site.costs_ns) >= LEAST_CALLS
    certain_ns = site.costs_ns if is_alike else site.making_ns
    if not certain_ns:
        return None
    low_ns, _ = certain_ns.median_ends_ns
    if other[1] > (1 - LEAST_SHARE) * low_ns:
        return None
    # What executes nothing cannot be launched otherwise.
    count = site.execed
    cost_ns = site.cost_ns * count / site.created
    value_ns = max(cost_ns - count * sum(other) / 2, 0.0)
    return SavedTime(
        value_ns, min(value_ns, count * (low_ns - other[1])), max(cost_ns - count * other[0], 0.0), compared_with
    )


def launch_to_json(launch: LaunchSite) -> dict[str, Any]:
    """Turn what is known of a call site's option into plain JSON values."""
    runtime, saved, path, site = launch.runtime, launch.saved, launch.path, launch.site
    return {
        "program": site.program,
        "service": site.service,
        "where": None if site.where is None else frame_to_json(site.where),
        "mechanism": site.mechanism,
        "created": site.created,
        "execed": site.execed,
        "cost_ns": site.cost_ns if site.making_ns else None,
        "runtime": None if runtime is None else asdict(runtime),
        "candidates": [fit.path.name for fit in launch.fits],
        "evidence": list(launch.fits[0].evidence) if path is not None else [],
        "title": launch.title,
        "option": path.option if path is not None else None,
        "why": path.why if path is not None else None,
        "instead": path.instead or None if path is not None else None,
        "lose": path.lose or None if path is not None else None,
        "setting": path.setting or None if path is not None else None,
        "saved": None if saved is None else asdict(saved),
    }
