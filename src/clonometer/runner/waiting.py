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

    Any thread may wait for the child, and a handler of signals may send.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.pid = child.pid
        self._child = child
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self._descriptor = os.pidfd_open(child.pid)

    def send(self, number: int) -> None:
        """Send a signal; nothing where the child has ended."""
        if self._descriptor is not None:
            try:
                signal.pidfd_send_signal(self._descriptor, number)
            except ProcessLookupError:
                return
            except OSError:
                # A filter lets handles be opened and refuses to send by them.
                pass
            else:
                return
        self._child.send_signal(number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send(signal.SIGTERM)

    def __del__(self) -> None:
        # Not earlier: another thread may be about to send by it.
        if self._descriptor is not None:
            os.close(self._descriptor)


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
