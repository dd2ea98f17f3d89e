"""Waiting for a child's end together with other descriptors, asleep in the kernel."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess  # noqa: TID251 (of what runner has started)
import threading
from collections.abc import Iterator

from clonometer.errors import DriverError


@contextlib.contextmanager
def watched(pid: int) -> Iterator[int]:
    """Give a descriptor that becomes readable when a child of this process has ended; the child is not reaped.

    It is a pidfd, or else the end of a pipe. pidfd_open came with Linux 5.3, and seccomp filters of old container
    runtimes refuse what they do not know.

    Raises
    ------
    DriverError
        If there are no pidfds, and no thread can be started.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        descriptor = _closed_by_a_thread(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Handle:
    """Sends signals to a child: never to another process that has its number since it was waited for.

    Any thread may wait for the child, here and nowhere else, and a handler of signals may send. A pidfd would do, but
    a program that embeds us may close it, and give its number to another.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.pid = child.pid
        self._child = child
        # A handler may interrupt another that sends.
        self._lock = threading.RLock()

    def send(self, number: int) -> None:
        """Send a signal; nothing where it has been waited for."""
        # Not by Popen: that waits for the child itself, also where another thread does.
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._child.returncode is None:
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for its end; its status."""
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        # It has ended, so nobody who sends waits here for long.
        with self._lock:
            return self._child.wait()


def _closed_by_a_thread(pid: int) -> int:
    """Let a thread wait, which closes the other end of a pipe when the child has ended."""
    reading, writing = os.pipe2(os.O_CLOEXEC)

    def wait() -> None:
        # Where it was stopped from here it may have been reaped before this thread wakes.
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        os.close(writing)

    try:
        threading.Thread(target=wait, daemon=True).start()
    except RuntimeError as error:
        os.close(reading)
        os.close(writing)
        raise DriverError(f"cannot wait for a program: {error}") from error
    return reading
