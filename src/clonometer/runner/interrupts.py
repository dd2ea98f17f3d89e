"""Ctrl-C as a wish to stop, taken up where it is safe, instead of an exception anywhere."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Whether the user wants to stop; ``descriptor`` becomes readable when so."""

    def __init__(self, descriptor: int, wake: Callable[[], None]) -> None:
        self.descriptor = descriptor
        self.wanted = False
        self._wake = wake

    def want(self) -> None:
        """Ask to stop. A second wish changes nothing: what was measured is being saved already."""
        self.wanted = True
        self._wake()


@contextlib.contextmanager
def interruption() -> Iterator[Interruption]:
    """Turn SIGINT, SIGTERM and SIGHUP into wishes while the block lasts.

    Python runs handlers in the main thread only; in another thread the signals keep their meaning.
    """
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def wake() -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(write_fd, b"!")

    wish = Interruption(read_fd, wake)

    def handle(number: int, frame: FrameType | None) -> None:
        wish.want()

    former = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # An ignored signal stays ignored: nohup means it.
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    former[number] = signal.signal(number, handle)
        yield wish
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        os.close(read_fd)
        os.close(write_fd)
