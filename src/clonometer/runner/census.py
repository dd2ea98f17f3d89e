"""Counting the tasks that a program makes: starts the census (docs/census.md) and reads its lines as they come."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess  # noqa: TID251 (starts what is measured, as runner does)
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from types import FrameType
from typing import Any

from clonometer.errors import DriverError, UnavailableError
from clonometer.runner.drivers import built_program
from clonometer.runner.endings import MemoryKills, ended_with
from clonometer.runner.hooks import hooks_set
from clonometer.runner.interrupts import ENDING_SIGNALS, replace_handlers, restore_handlers
from clonometer.runner.waiting import Handle

NAME = "clonometer-census"

#: Few programs open so many files at once.
_HIGH = 512
#: As much as a pipe holds.
_PIPE_BYTES = 1 << 16


def take_census(
    receive: Callable[[dict[str, Any]], None],
    *,
    command: Sequence[str] = (),
    pid: int | None = None,
    cgroup: str | None = None,
    seconds: float | None = None,
    until_all_end: bool = False,
    how: str = "auto",
    ring_bytes: int | None = None,
    stacks: bool = True,
    debuginfod: bool = False,
    hooks: bool = True,
    output_to_stderr: bool = False,
    started: Callable[[Handle], None] | None = None,
) -> None:
    """Count the tasks of a command, or of a process that runs, until it ends.

    The command keeps its input, output and process group. An interrupt from the terminal reaches it directly; here
    its end is waited for, but not the end of what it leaves behind. One that comes to this process alone ends it.

    Parameters
    ----------
    receive
        Gets each line of the answer.
    command
        What to start; empty where ``pid`` or ``cgroup`` is watched.
    pid
        A process that runs already: it and all that it makes.
    cgroup
        Control groups that exist already, as ``HIERARCHY:PATH``: tasks that are made by those in them.
    seconds
        How long to watch at most; a command is ended then. None: until it ends.
    until_all_end
        Go on until all that it has made has ended as well, and not only the command or process itself.
    how
        ``auto``, ``tracepoints`` or ``ptrace``.
    ring_bytes
        Room for events on each CPU; None: 4 MiB.
    stacks
        Whether the stack of each call that makes a task is looked at, and what the task does before its exec.
    debuginfod
        Whether the servers that the variable ``DEBUGINFOD_URLS`` names may be asked for debug information.
    hooks
        Whether runtimes that the command starts tell their lines (`clonometer.runner.hooks`); as lines ``call``.
    output_to_stderr
        Whether what the command writes to its output goes to standard error instead.
    started
        Gets the process that watches; another thread may ask it to end. It is waited for then.

    Raises
    ------
    DriverError
        If the census cannot be started or does not end properly.
    UnavailableError
        If it may not look here; the message says why.
    KeyboardInterrupt
        If it was interrupted before it could begin; the command has not run then.
    """
    reading, writing = os.pipe()
    argv = [str(built_program(NAME)), "--fd", str(writing), f"how={how}"]
    argv += [f"seconds={seconds:g}"] if seconds is not None else []
    argv += ["until=all"] if until_all_end else []
    argv += [f"ring_bytes={ring_bytes}"] if ring_bytes is not None else []
    argv += [] if stacks else ["stacks=no", "calls=no"]
    argv += ["debuginfod=yes"] if debuginfod else []
    watched = [f"pid={pid}"] if pid is not None else [f"cgroup={cgroup}"] if cgroup is not None else []
    argv += watched or ["--", *command]
    ended: dict[str, Any] | None = None
    kills = MemoryKills()
    with (
        closing(OwnPipe(reading)) as answer,
        _signals_wait() as signals,
        hooks_set(wanted=hooks and stacks and bool(command), command=command) as hooked,
    ):
        try:
            child = subprocess.Popen(
                argv,
                pass_fds=(writing,),
                stdout=sys.stderr if output_to_stderr else None,
                env=hooked.environment(os.environ),
            )
        except OSError as error:
            raise DriverError(f"cannot start {argv[0]}: {error.strerror or error}") from error
        finally:
            os.close(writing)
        handle = Handle(child)
        signals.watch(handle)
        if started is not None:
            started(handle)
        try:
            if hooked.are_set:
                receive({"line": "hooks", "library": hooked.library})
            for lines in _decoded(hooked.beside(answer)):
                # What hooks told of these tasks they told before the tasks were made.
                for call in hooked.read():
                    receive(call)
                for line in lines:
                    receive(line)
                    ended = line if line["line"] == "end" else ended
        finally:
            _reap(handle, has_answered=ended is not None, wait=started is not None)
    if ended is None:
        raise _unanswered(handle, kills)
    if ended["status"] == "refused":
        raise UnavailableError(f"cannot take a census: {ended['reason']}")


def _unanswered(census: Handle, kills: MemoryKills) -> BaseException:
    status = census.wait()
    # Later it answers them: what the terminal sends to its group meets it before it can.
    if -status in ENDING_SIGNALS and threading.current_thread() is threading.main_thread():
        return KeyboardInterrupt()
    return DriverError(f"{NAME} {ended_with(status, memory_kill=kills.more())} before it answered", "please report it")


def _reap(child: Handle, *, has_answered: bool, wait: bool) -> None:
    """Wait for its end; without ``wait`` in another thread.

    After its answer it only stops listening, which takes the kernel a while that nobody need wait for. Where no thread
    can be started it is waited for by nobody, and reaped when we end.
    """
    if wait:
        if not has_answered:
            # Nobody reads any more what it would write.
            child.terminate()
        child.wait()
    else:
        with suppress(RuntimeError):
            threading.Thread(target=child.wait, daemon=True).start()


class OwnPipe:
    """The reading end of a pipe of ours, in a program that may close descriptors which it did not open.

    It gets a number that no new file takes while lower ones are free: what is read, or closed, is never another's.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        with suppress(OSError, ValueError):
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            high = _HIGH if most == resource.RLIM_INFINITY else min(_HIGH, most - 1)
            self._descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, high)
            os.close(descriptor)
        self._identity = self._now()

    def fileno(self) -> int:
        """The number, to wait for what is there to be read."""
        return self._descriptor

    def _now(self) -> tuple[int, int] | None:
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def read(self, most_bytes: int) -> bytes:
        """Read what is there, at least a byte; nothing once all writers have gone.

        Raises
        ------
        DriverError
            If somebody has closed it.
        """
        try:
            got = os.read(self._descriptor, most_bytes) if self._now() == self._identity else None
        except OSError:
            got = None
        # It may have been closed, and its number taken, meanwhile.
        if got is None or self._now() != self._identity:
            raise DriverError(
                f"what {NAME} counted is lost: the descriptor that it answers on was closed",
                "a program that closes descriptors which it did not open, as daemons do, is counted from outside: "
                "clonometer census -- COMMAND",
            )
        return got

    def close(self) -> None:
        """Close it, if it still is ours."""
        if self._now() == self._identity:
            os.close(self._descriptor)


def _decoded(answer: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """Give the lines as they come, in parts: what is parsed together takes a third of the time."""
    columns: Sequence[str] = ()
    kinds: dict[int, dict[str, Any]] = {}

    def whole(lines: Sequence[Any]) -> Iterator[dict[str, Any]]:
        nonlocal columns
        for line in lines:
            if isinstance(line, list):
                task = kinds[line[0]].copy()
                task.update(zip(columns, line, strict=True))
                yield task
            elif line["line"] == "kind":
                kinds[line["kind"]] = {**line, "line": "task"}
            else:
                columns = line.get("columns", columns)
                yield line

    for part in _parts(answer):
        try:
            lines = json.loads(b"[%b]" % b",".join(part))  # noqa: TID251 (our own program, thousands of lines)
        except ValueError as error:
            raise DriverError(f"{NAME} wrote what is not JSON: {_worst(part)[:80]!r}") from error
        yield whole(lines)


def _parts(answer: Any) -> Iterator[list[bytes]]:
    """Give the lines that are there, each whole."""
    rest = b""
    while got := answer.read(_PIPE_BYTES):
        *part, rest = (rest + got).split(b"\n")
        if part:
            yield part
    if rest:
        yield [rest]


def _worst(lines: Sequence[bytes]) -> bytes:
    """The first line that is no JSON by itself."""
    for line in lines:
        try:
            json.loads(line)  # noqa: TID251 (as above)
        except ValueError:
            return line
    return lines[0]


class _Signals:
    """Passes interrupts and requests to end on, until the census has told what it saw."""

    def __init__(self) -> None:
        self._census: Handle | None = None
        self._too_early = False

    def watch(self, census: Handle) -> None:
        """Pass signals on to the census, also one that came before it was there."""
        self._census = census
        if self._too_early:
            census.terminate()

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self._census is None:
            self._too_early = True
        else:
            # The census knows whether SIGINT has come to the whole group, and so to the command, which answers as it
            # likes; if not, it is a request to end. All others are SIGTERM: a core dump of the census helps nobody.
            self._census.send(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)


@contextmanager
def _signals_wait() -> Iterator[_Signals]:
    signals = _Signals()
    former = replace_handlers(signals.handle)
    try:
        yield signals
    finally:
        restore_handlers(former)
