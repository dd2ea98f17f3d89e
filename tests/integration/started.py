"""Probes that were started and are watched, and the users they run as: what tests of real tasks share."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import probe

# A user of this test run's own: limits on a user's tasks count all that the user has on the machine.
NOBODY = 30_000 + os.getpid() % 30_000
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make groups and become another user")


def process_session(pid: int) -> int | None:
    """The session of a process; None where it has gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def members(session: int) -> list[int]:
    """The processes of a session."""
    pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return [pid for pid in pids if process_session(pid) == session]


def threads(pid: int) -> int:
    """How many threads a process has; none where it has gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def cpu_ticks(pid: int) -> int:
    """The CPU time that a process has had, in ticks of a hundredth of a second; none where it has gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def happens(holds: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether something comes true, with patience."""
    end_s = time.monotonic() + seconds
    pause_s = 0.005
    while not holds():
        if time.monotonic() > end_s:
            return False
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, 0.05)  # what others do meanwhile needs the processors as well
    return True


def command_lines() -> list[bytes]:
    """The words of all that runs, each ended by a zero byte."""
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(entry.read_bytes())
    return lines


def gone(session: int) -> bool:
    """Whether no process of the session is left in the end."""
    return happens(lambda: not members(session))


def at_work(pid: int) -> bool:
    """Wait for a process that has children or has reaped some: of those that live shortly few are ever met."""

    def has_worked() -> bool:
        costs_of_reaped = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[8]
        return costs_of_reaped != "0" or len(members(pid)) > 1

    return happens(has_worked)


@dataclass
class Started:
    """A probe that runs in a session of its own, and the end of the pipe that its answer comes from."""

    process: subprocess.Popen[bytes]
    reading: int

    @property
    def pid(self) -> int:
        return self.process.pid

    def answer(self) -> bytes:
        """Wait for the whole answer."""
        with os.fdopen(os.dup(self.reading), "rb") as answer:
            return answer.read()

    def end(self, by: signal.Signals = signal.SIGKILL) -> None:
        """End it, and wait for that."""
        self.process.send_signal(by)
        self.process.wait()


@contextlib.contextmanager
def started(*words: str, environment: Mapping[str, str] | None = None) -> Iterator[Started]:
    """Start the probe with these words; whatever fails meanwhile, it does not outlive the test."""
    reading, writing = os.pipe()
    try:
        with subprocess.Popen(
            [probe.executable(), "--fd", str(writing), *words],
            pass_fds=[writing],
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        ) as process:
            os.close(writing)
            try:
                yield Started(process, reading)
            finally:
                if process.poll() is None:
                    process.kill()
    finally:
        os.close(reading)


def as_nobody(most_tasks: int | None = None) -> Callable[[], None]:
    """What a new process runs to become an ordinary user, one that may have so many tasks."""

    def become() -> None:
        if most_tasks is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (most_tasks, most_tasks))
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    return become


@contextlib.contextmanager
def sleepers(count: int) -> Iterator[None]:
    """Take up tasks of the ordinary user, which no check of limits within the probe can know of."""
    asleep = [subprocess.Popen(["sleep", "60"], user=NOBODY, group=NOBODY) for _ in range(count)]
    try:
        yield
    finally:
        for stopped in asleep:
            stopped.kill()
            stopped.wait()


def tracing_files() -> list[Path]:
    """Where it stands what of the kernel's tracing is switched on, as far as this machine shows it."""
    places = [Path("/sys/kernel/tracing/events/sched/enable"), Path("/sys/kernel/tracing/tracing_on")]
    return [place for place in places if place.exists()]
