"""Waiting for a child's end together with other descriptors, asleep in the kernel."""

from __future__ import annotations

import contextlib
import os
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
