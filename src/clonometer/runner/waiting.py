"""Waiting for a child's end together with other descriptors, asleep in the kernel."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

_POLL_MS = 20.0


@dataclass(frozen=True)
class Watch:
    """A child that is watched.

    Attributes
    ----------
    descriptor
        Becomes readable when the child may have ended; None where nothing can tell.
    most_ms
        No wait may be longer.
    has_ended
        Told which descriptors are readable, says whether the child has ended. It is not reaped.
    """

    descriptor: int | None
    most_ms: float
    has_ended: Callable[[Container[int]], bool]


@contextlib.contextmanager
def watched(pid: int) -> Iterator[Watch]:
    """Watch a child of this process: by a pidfd, by SIGCHLD, or else by looking again and again.

    pidfd_open came with Linux 5.3, and seccomp filters of old container runtimes refuse what they do not know.
    """
    with contextlib.ExitStack() as stack:
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            yield _watched_without(pid, stack)
        else:
            stack.callback(os.close, pidfd)
            yield Watch(pidfd, float("inf"), lambda ready: pidfd in ready)


def _watched_without(pid: int, stack: contextlib.ExitStack) -> Watch:
    """Where there is no pidfd: SIGCHLD wakes the wait, and a thread that cannot have that asks now and then."""
    try:
        pipe = stack.enter_context(_told_by_sigchld())
    except ValueError:  # Python sets signals in its main thread only.
        return Watch(None, _POLL_MS, lambda ready: _is_zombie(pid))

    def has_ended(ready: Container[int]) -> bool:
        if pipe not in ready:
            return False
        os.read(pipe, 4096)
        return _is_zombie(pid)

    return Watch(pipe, float("inf"), has_ended)


def _is_zombie(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@contextlib.contextmanager
def _told_by_sigchld() -> Iterator[int]:
    """Give a pipe that becomes readable with each signal, and is at first: the child may have ended already."""
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        former_fd = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        # By default the signal is dropped before anybody is told.
        former = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        try:
            os.write(writing, b"!")
            yield reading
        finally:
            signal.signal(signal.SIGCHLD, former)
            signal.set_wakeup_fd(former_fd)
    finally:
        os.close(reading)
        os.close(writing)
