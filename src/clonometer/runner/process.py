"""One start of a driver: its own session, its answer over a pipe, and nothing left when it is over."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess  # noqa: TID251 (this is the module that starts processes)
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from clonometer.errors import DriverError
from clonometer.runner.endings import MemoryKills, ended_with
from clonometer.runner.environment import fixed_variables, padded, room_for
from clonometer.runner.interrupts import ENDING_SIGNALS
from clonometer.runner.leftovers import KeptPaths, note, remove_left
from clonometer.runner.saved_settings import SavedSetting
from clonometer.runner.waiting import watched

STDERR_KEPT_CHARACTERS = 2000
_LONGEST_WORDS = 200
# Descriptions and figures have some 20 kB; a program that prints for ever is no driver.
MOST_ANSWER_BYTES = 1 << 20
_MOST_ERROR_BYTES = 8 << 20
# poll(2) takes an int; a hundred terabytes take longer to build than that.
_LONGEST_POLL_MS = 3_600_000
_CHUNK_BYTES = 1 << 18
_STRAYS_LIMIT_S = 0.1
# linux/prctl.h. Both are looked up here: between fork and exec as little as possible is done.
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)

ANSWER_FD = "{answer fd}"
"""Stands in an argument list for the number of the descriptor that takes the answer."""


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    ``exit_status`` is negative for a signal, and None where the process was not waited for. ``stopped`` says
    why it was ended from here: ``timeout``, ``interrupt``, ``refused``, or None where it ended by itself.
    ``left`` names the directories of its own that nobody could remove. ``memory_kill``: meanwhile the kernel has killed
    a task for lack of memory.
    """

    exit_status: int | None
    stderr: str
    seconds: float
    stopped: str | None
    left: tuple[str, ...] = ()
    memory_kill: bool = False

    def describe(self) -> str:
        """Say how it ended, in words."""
        if self.stopped == "timeout":
            return f"gave no answer within {self.seconds:.0f} s and was stopped"
        if self.stopped is not None:
            return "was interrupted" if self.stopped == "interrupt" else "was stopped"
        return ended_with(self.exit_status, memory_kill=self.memory_kill)

    @property
    def last_words(self) -> str:
        """The last line that it wrote to its errors, cut off; empty where it wrote none."""
        return "".join(self.stderr.strip().splitlines()[-1:])[:_LONGEST_WORDS]

    @property
    def in_full(self) -> str:
        """How it ended, with its last words."""
        return f"{self.describe()}: {self.last_words}" if self.last_words else self.describe()


def supervise(
    argv: Sequence[str],
    receive: Callable[[bytes], bool],
    *,
    timeout_s: float,
    interrupt_fd: int | None = None,
    environment: Mapping[str, str] | None = None,
    folders: Collection[str] = (),
    given: bytes | None = None,
) -> Ending:
    """Start a program, hand its answer to ``receive`` as it comes, and wait for its end.

    The caller sleeps in the kernel for as long as nothing arrives: a measuring driver is not disturbed.
    Whatever happens, also an exception out of ``receive``, the program and all of its process group are gone
    on return, and so are the directories that it said it keeps.

    ``environment`` is all that it gets; by default what every driver has. The caller's never reaches it.

    The answer comes on the descriptor that ``ANSWER_FD`` stands for, or on standard output where it is not among the
    arguments. ``receive`` is called with each piece of it and returns whether it wants more; where it does not, the
    program is stopped, as is one that writes more than 8 MiB of errors. ``interrupt_fd`` becomes readable when the user
    wants to stop. ``folders`` are those in which the program was told to make directories (`remove_left`), ``given`` is
    its standard input. A program that is given something talks to another machine: it is killed when the thread that
    started it ends.

    Raises
    ------
    DriverError
        If the program cannot be started.
    """
    read_fd, write_fd = os.pipe()
    began_s, kills = time.monotonic(), MemoryKills()
    try:
        try:
            child = _start(argv, write_fd, _usual() if environment is None else environment, given)
        finally:
            os.close(write_fd)
        assert child.stderr is not None  # It was asked for.
        tail = _Tail(folders)
        with _gone_at_the_end(child, tail):
            sinks = {read_fd: receive, child.stderr.fileno(): tail.add}
            stopped = _listen(child, sinks, began_s + timeout_s, interrupt_fd)
            if stopped is None:
                _kill_group(child)
                for descriptor, sink in sinks.items():
                    _drain(descriptor, sink)
            seconds = time.monotonic() - began_s
    finally:
        os.close(read_fd)
    if stopped is None and -child.returncode in ENDING_SIGNALS and _is_readable(interrupt_fd):
        # Before it had a session of its own, what the terminal sends to our group met it as well.
        stopped = "interrupt"
    status = child.returncode if stopped is None else None
    return Ending(status, tail.text(), seconds, stopped, tail.left, memory_kill=kills.more())


def answer_of(
    argv: Sequence[str],
    *,
    timeout_s: float,
    most_bytes: float = MOST_ANSWER_BYTES,
    interrupt_fd: int | None = None,
    folders: Collection[str] = (),
    given: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[bytes, Ending]:
    """Start a program as `supervise` does, and give its whole answer; one that answers more is stopped."""
    answer = bytearray()

    def receive(data: bytes) -> bool:
        answer.extend(data)
        return len(answer) < most_bytes

    ending = supervise(
        argv, receive, timeout_s=timeout_s, interrupt_fd=interrupt_fd, environment=environment, folders=folders,
        given=given,
    )  # fmt: skip
    return bytes(answer), ending


def sound_answer(
    name: str,
    argv: Sequence[str],
    *,
    timeout_s: float,
    most_bytes: float = MOST_ANSWER_BYTES,
    interrupt_fd: int | None = None,
    folders: Collection[str] = (),
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Give the answer of a program that must end well; ``name`` says which it is.

    Raises
    ------
    DriverError
        If it cannot be started, is stopped, or ends with another status than 0.
    KeyboardInterrupt
        If the user wants to stop.
    """
    answer, ending = answer_of(
        argv,
        timeout_s=timeout_s,
        most_bytes=most_bytes,
        interrupt_fd=interrupt_fd,
        folders=folders,
        environment=environment,
    )
    if ending.stopped == "interrupt":
        raise KeyboardInterrupt
    if ending.exit_status != 0:
        raise DriverError(f"{name} {ending.in_full}")
    return answer


def _usual() -> Mapping[str, str]:
    variables = fixed_variables()
    return padded(variables, room_for(variables))


def end_with_starter() -> None:
    """Called in a new process: be killed when the thread that started it ends, in whatever way."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _start(
    argv: Sequence[str], write_fd: int, environment: Mapping[str, str], given: bytes | None
) -> subprocess.Popen[bytes]:
    """Start a driver that answers on ``write_fd``, or on standard output where its words name no descriptor."""
    command = [str(write_fd) if word == ANSWER_FD else word for word in argv]
    over_stdout = ANSWER_FD not in argv
    with contextlib.ExitStack() as stack:
        # A file never makes the writer wait, as a pipe does whose other end reads nothing.
        source = subprocess.DEVNULL if given is None else _filled(stack.enter_context(tempfile.TemporaryFile()), given)
        return _popen(command, write_fd, over_stdout, source, environment, tied=given is not None)


def _filled(file: IO[bytes], content: bytes) -> IO[bytes]:
    file.write(content)
    file.seek(0)
    return file


def _popen(
    command: list[str],
    write_fd: int,
    over_stdout: bool,
    source: IO[bytes] | int,
    environment: Mapping[str, str],
    *,
    tied: bool,
) -> subprocess.Popen[bytes]:
    try:
        # From the main thread only: the probe asks for PR_SET_PDEATHSIG, which fires when the thread that
        # started it ends, not when the process does.
        return subprocess.Popen(
            command,
            # It is looked for where the caller would find it.
            executable=shutil.which(command[0]),
            stdin=source,
            stdout=write_fd if over_stdout else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=() if over_stdout else (write_fd,),
            start_new_session=True,
            env=dict(environment),
            preexec_fn=end_with_starter if tied else None,  # noqa: PLW1509 (one call into the kernel, no more)
        )
    except OSError as error:
        raise DriverError(f"cannot start {command[0]}: {error.strerror or error}") from error


@contextlib.contextmanager
def _gone_at_the_end(child: subprocess.Popen[bytes], tail: _Tail) -> Iterator[None]:
    try:
        yield
    finally:
        _kill_group(child)
        child.wait()
        _await_strays(child.pid)
        if child.stderr is not None:
            _drain(child.stderr.fileno(), tail.add)
            child.stderr.close()
        tail.end()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # Before the leader is reaped: until then nobody else can be given the number of its group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _await_strays(group: int) -> None:
    """Wait for the death of killed grandchildren, so that none disturbs the next measurement."""
    # They are not ours to reap, and where process 1 reaps nobody they stay as zombies: the wait has a limit.
    limit_s = time.monotonic() + _STRAYS_LIMIT_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < limit_s:
            os.killpg(group, 0)
            time.sleep(0.001)


def _listen(
    child: subprocess.Popen[bytes],
    sinks: Mapping[int, Callable[[bytes], bool]],
    deadline_s: float,
    interrupt_fd: int | None,
) -> str | None:
    """Listen until the child has ended; say why it must be stopped where it has not."""
    with watched(child.pid) as ended:
        poll = select.poll()
        for descriptor in (*sinks, ended, interrupt_fd):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        while True:
            left_ms = (deadline_s - time.monotonic()) * 1000
            if left_ms <= 0:
                return "timeout"
            ready = [descriptor for descriptor, _ in poll.poll(min(left_ms, _LONGEST_POLL_MS))]
            for descriptor in ready:
                if descriptor not in sinks:
                    continue
                data = os.read(descriptor, _CHUNK_BYTES)
                if not data:
                    poll.unregister(descriptor)
                elif not sinks[descriptor](data):
                    return "refused"
            if ended in ready:
                return None
            if interrupt_fd in ready:
                return "interrupt"


def _is_readable(descriptor: int | None) -> bool:
    return descriptor is not None and bool(select.select([descriptor], [], [], 0)[0])


def _drain(descriptor: int, sink: Callable[[bytes], bool]) -> None:
    """Take what is left in the pipe without waiting: a stray grandchild may hold its other end open."""
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError):
        while (data := os.read(descriptor, _CHUNK_BYTES)) and sink(data):
            pass


class _Tail:
    """The end of a driver's stderr, bounded, and what the driver said there that it keeps."""

    def __init__(self, folders: Collection[str]) -> None:
        self._data = b""
        self._folders = folders
        self._kept = KeptPaths()
        self._notes: list[SavedSetting | None] = []
        self._came = 0
        self.left: tuple[str, ...] = ()

    def add(self, data: bytes) -> bool:
        """Take in a piece; whether more is wanted: one that writes without end would keep a CPU busy."""
        self._came += len(data)
        # Four bytes at most make one UTF-8 character.
        self._data = (self._data + self._kept.take(data))[-4 * STDERR_KEPT_CHARACTERS :]
        self._notes += [note(path, self._folders) for path in self._kept.paths[len(self._notes) :]]
        return self._came <= _MOST_ERROR_BYTES

    def end(self) -> None:
        """Take the driver's end: what it kept goes now."""
        self._data += self._kept.rest()
        self.left = remove_left(self._kept.paths, self._folders)
        for path, noted in zip(self._kept.paths, self._notes, strict=False):
            if noted is not None:
                noted.leave() if path in self.left else noted.remove()

    def text(self) -> str:
        return self._data.decode("utf-8", "replace")[-STDERR_KEPT_CHARACTERS:]
