"""``census``: which tasks a program makes, and what they cost it."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonometer.app.census_costs import making_costs_ns
from clonometer.app.census_reports import Reports
from clonometer.app.commands import check_command, not_started
from clonometer.app.live import live
from clonometer.app.predicting import LivePredictions
from clonometer.errors import UsageError
from clonometer.host.services import WatchedGroups, find_service
from clonometer.host.services import whole_machine as whole_machine_groups
from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.program_source import read_source
from clonometer.host.target.runtime import read_program, read_runtime
from clonometer.launch_paths.explaining import NO_SOURCE, SourceText
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.source_text import source_text
from clonometer.runner.census import take_census
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.tracing.census.call_sites import CallSite
from clonometer.tracing.census.launches import LaunchSite, RuntimeVersion, launch_to_json, launches, worth_changing
from clonometer.tracing.census.savings import SHELLS, Saving, savings
from clonometer.tracing.census.services import services_to_json
from clonometer.tracing.census.tally import Census
from clonometer.tracing.census.timeline import TaskLives
from clonometer.tracing.census.to_json import census_to_json

__all__ = ["census"]

#: A program whose files cannot be read is not asked at each of its tasks.
_MOST_TRIES, _MOST_PROGRAMS = 3, 200
# What the census keeps of each prediction.
_PREDICTED = ("schema", "pid", "process", "rss_bytes", "fork", "waits")


@dataclass(frozen=True)
class CensusAnswer:
    """The tasks of a program: of a ``command``, of the process ``pid`` and its descendants, or of ``groups``.

    ``launches`` has each call site with the option that chose its path, and what to write instead. ``savings`` says
    what other ways to make the tasks of a program would save, where its launches do not. ``predictions`` says what a
    fork would cost the largest process that made some, where this machine was calibrated.
    """

    tally: Census
    command: tuple[str, ...]
    pid: int | None
    savings: Sequence[Saving]
    predictions: Sequence[Mapping[str, Any]]
    launches: Sequence[LaunchSite] = ()
    groups: WatchedGroups | None = None

    @property
    def name(self) -> str:
        """What was watched, in a word."""
        if self.groups is not None:
            return self.groups.name
        return Path(self.command[0]).name if self.command else f"Process {self.pid}"

    def to_json(self) -> dict[str, Any]:
        """The object of docs/schemas/census.schema.json; times in ns."""
        written = census_to_json(self.tally, self.command, self.pid, self.savings)
        if self.groups is not None:
            written["watched"] = {"hierarchy": self.groups.hierarchy, "path": self.groups.path}
            written["services"] = services_to_json(self.tally.services)
        written["launches"] = [launch_to_json(launch) for launch in self.launches]
        if self.predictions:
            written["predictions"] = [{key: each[key] for key in _PREDICTED} for each in self.predictions]
        return written


def census(
    command: Sequence[str] = (),
    *,
    pid: int | None = None,
    service: str | None = None,
    whole_machine: bool = False,
    seconds: float | None = None,
    until_all_end: bool = False,
    how: str = "auto",
    ring_bytes: int | None = None,
    stacks: bool = True,
    debuginfod: bool = False,
    hooks: bool = True,
    advice: bool = True,
    output_to_stderr: bool = False,
    timeline: bool = False,
    report: Callable[[Census], None] | None = None,
    progress: Progress = SILENT,
) -> CensusAnswer:
    """Count the tasks that a program creates: how many, how, by whom, how long they live, what they cost.

    The command runs as usual, with its own input and output, until it ends.

    Parameters
    ----------
    command
        Its words; none where anything else is watched.
    pid
        A running process: it and its descendants.
    service
        A systemd unit, or the path of a control group: what is created by tasks that are in it meanwhile.
    whole_machine
        Watch all control groups.
    seconds
        How long to watch, at most; a command is ended then.
    until_all_end
        Go on until the daemons of a command have ended too.
    how
        ``auto``, ``tracepoints`` or ``ptrace``.
    ring_bytes
        Room for events on each CPU; by default 4 MiB.
    stacks
        Say which lines make the tasks, from the stack of each call that makes one, and what new tasks do before exec.
    debuginfod
        Ask the servers that the variable ``DEBUGINFOD_URLS`` names for debug information.
    hooks
        Let runtimes that the command starts tell which of their lines make tasks, by hooks in its environment.
    advice
        Say what other ways to create its tasks would save. Once after each boot that takes 2 s of measuring.
    output_to_stderr
        What the command writes to its output goes to standard error.
    timeline
        Keep when each task lived, of at most 20,000 tasks (`tally.timeline`), for pages and traces.
    report
        Gets what was counted so far, every `REPORT_EVERY_S`.
    progress
        Watches.

    Raises
    ------
    UsageError
        If not one of ``command``, ``pid``, ``service`` and ``whole_machine`` is given, or there is no such process or
        service.
    NotStartedError
        If the command does not exist, or cannot be executed.
    UnavailableError
        If no census can be taken here.
    DriverError
        If the census itself fails.
    """
    words = tuple(command)
    _check(words, pid, service, whole_machine=whole_machine)
    if until_all_end and (service is not None or whole_machine):
        raise UsageError(
            "a service does not end: --until-all-end is for a command or --pid", "leave it out; Ctrl-C or --for ends it"
        )
    groups = (
        find_service(live(), service)
        if service is not None
        else whole_machine_groups(live())
        if whole_machine
        else None
    )
    # Whoever ends it by Ctrl-C waits for nothing more.
    costs_ns = making_costs_ns(progress) if advice and groups is not None else {}
    tally, foreseen, runtimes = Census(timeline=TaskLives() if timeline else None), LivePredictions(), _Runtimes()
    began_ns = time.time_ns()
    reports = Reports(tally, report)

    def receive(line: Mapping[str, Any]) -> None:
        with reports.lock:
            tally.take(line)
        if line["line"] == "task":
            if groups is None:
                foreseen.glance(line["creator"])
            runtimes.glance(line["creator"], line["creator_program"])
        if line["line"] == "outlived":
            progress.say(_outlived(line["alive"], "The command" if words else f"Process {pid}"))

    with reports:
        take_census(
            receive,
            command=words,
            pid=pid,
            cgroup=None if groups is None else f"{groups.hierarchy}:{groups.path}",
            seconds=seconds,
            until_all_end=until_all_end,
            how=how,
            ring_bytes=ring_bytes,
            stacks=stacks,
            debuginfod=debuginfod,
            hooks=hooks,
            output_to_stderr=output_to_stderr,
        )
    if tally.ended["not_started"]:
        raise not_started(words[0], int(tally.ended["not_started"]))
    if groups is None and advice:
        costs_ns = _costs_ns(tally, progress)
    is_root = os.geteuid() == 0 if words else None
    if words:
        # Of another process, what stands here under that name may be another file.
        runtimes.complete((group.creator for group in tally.groups.values()), words[0])

    def source_of(site: CallSite) -> SourceText:
        return _source_of(site, began_ns) if words and site.program not in runtimes.elsewhere else NO_SOURCE

    listed = launches(tally, runtimes.versions, load_book(), costs_ns, is_root=is_root, source_of=source_of)
    worth = savings(tally, costs_ns, lambda program: _needs_no_advice(program, runtimes.versions.get(program), listed))
    return CensusAnswer(tally, words, pid, worth, [] if groups else foreseen.documents(pid), listed, groups)


def _needs_no_advice(program: str, runtime: RuntimeVersion | None, listed: Sequence[LaunchSite]) -> bool:
    """Whether its lines are advised already, nobody chooses how it launches (a shell's script), or it was installed."""
    advised = any(launch.site.program == program for launch in worth_changing(listed))
    return advised or (runtime is not None and (runtime.name in SHELLS or runtime.is_packaged(program)))


class _Runtimes:
    """What the programs of a census run, each read while a process of it is there: by the path of the program."""

    def __init__(self) -> None:
        self.versions: dict[str, RuntimeVersion] = {}
        #: Programs of which a process has another root: what is here under a name may be another file there.
        self.elsewhere: set[str] = set()
        self._tries = Counter[str]()

    def glance(self, pid: int, program: str | None) -> None:
        """Look at a process that made a task, unless its program is known."""
        if program is None or program in self.versions or self._tries[program] >= _MOST_TRIES:
            return
        if len(self._tries) >= _MOST_PROGRAMS and program not in self._tries:
            return
        self._tries[program] += 1
        source = Source(Path("/"))
        with suppress(FactUnavailable):
            runtime = read_runtime(source, pid)
            if not _has_our_root(pid):
                self.elsewhere.add(program)
            if _still_runs(pid, program):
                self.versions[program] = RuntimeVersion(runtime.name, runtime.version)

    def complete(self, programs: Iterable[str | None], command: str) -> None:
        """Read the files of programs whose processes had ended too soon.

        Only of the command itself is it known below which folder its relative path is.
        """
        for program in {program for program in programs if program is not None} - self.versions.keys():
            file = str(Path(program).absolute()) if program == command else program
            with suppress(FactUnavailable):
                runtime = read_program(Source(Path("/")), file)
                self.versions[program] = RuntimeVersion(runtime.name, runtime.version)


def _source_of(site: CallSite, began_ns: int) -> SourceText:
    """What the source of a command has at a call site, unless it is newer than what was built of it, or run."""
    where = site.where
    if where is None or where.file is None or not where.source_line:
        return NO_SOURCE
    # The file is named by a hook in a program, or by whoever has built the program's file.
    not_after_ns, user = began_ns, None if site.language is None else site.language.user
    if where.module is not None:
        try:
            built = Path(where.module).stat()
        except OSError:
            return NO_SOURCE
        not_after_ns, user = built.st_mtime_ns, built.st_uid
    text = read_source(where.file, not_after_ns, os.geteuid() if user is None else user)
    return NO_SOURCE if text is None else source_text(text, where.source_line)


def _has_our_root(pid: int) -> bool:
    """Whether a process sees our files: the same root, in the same mounts."""
    try:
        ours, its = Path("/proc/self"), Path(f"/proc/{pid}")
        return (its / "ns/mnt").readlink() == (ours / "ns/mnt").readlink() and (its / "root").samefile("/")
    except OSError:
        return False


def _still_runs(pid: int, program: str) -> bool:
    """Whether a process runs a program, or a script of this name: it may have executed another one meanwhile.

    A relative name is one in the folder in which the process is.
    """
    try:
        below = "root" if program.startswith("/") else "cwd"
        file = Path(f"/proc/{pid}/{below}/{program}")
        with file.open("rb") as content:
            return content.read(2) == b"#!" or file.samefile(f"/proc/{pid}/exe")
    except OSError:
        return False


def _check(words: tuple[str, ...], pid: int | None, service: str | None, *, whole_machine: bool) -> None:
    wanted = bool(words), pid is not None, service is not None, whole_machine
    if sum(wanted) != 1:
        raise UsageError(
            "a census needs a command, --pid, --service or --all" + (", and only one of them" if any(wanted) else ""),
            "clonometer census -- COMMAND..., or clonometer census --pid PID --for 10s",
        )
    if pid is not None and not Path(f"/proc/{pid}").is_dir():
        raise UsageError(
            f"there is no process {pid} here",
            "processes of another PID namespace have other numbers there: use the number that ps shows here",
        )
    if words:
        check_command(words[0])


def _outlived(alive: int, name: str) -> str:
    """Say whom the census waits for."""
    tasks = "1 task that it made runs" if alive == 1 else f"{alive:,} tasks that it made run"
    return f"{name} has ended; {tasks} on, and the census with them. Ctrl-C ends the census."


def _costs_ns(tally: Census, progress: Progress) -> Mapping[str, tuple[float, float]]:
    """What other ways cost here; nothing is measured for a census without times, or that was interrupted."""
    timed = any(group.times["making_ns"] for group in tally.groups.values())
    return making_costs_ns(progress) if timed and not tally.ended["interrupted"] else {}
