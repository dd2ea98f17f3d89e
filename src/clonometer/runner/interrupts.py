"""Ctrl-C as a wish to stop, taken up where it is safe, instead of an exception anywhere.

Every command imports this before all else, to answer signals from its first moment: little is imported here.
"""

from __future__ import annotations

import contextlib
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType
    from typing import Any

#: The signals that ask a program to end.
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interruption:
    """Whether the user wants to stop; ``descriptor`` becomes readable when so."""

    def __init__(self, descriptor: int, wake: Callable[[], None]) -> None:
        self.descriptor = descriptor
        self.by: int | None = None
        self.was_seen = False
        self._wanted = False
        self._wake = wake

    @property
    def wanted(self) -> bool:
        """Whether the user wants to stop. Who asks and hears so has to see to it."""
        self.was_seen |= self._wanted
        return self._wanted

    def want(self, by: int | None = None) -> None:
        """Ask to stop, by a signal or otherwise. A second wish changes nothing: the first is being fulfilled."""
        self._wanted = True
        self.by = self.by or by
        self._wake()


@contextlib.contextmanager
def interruption() -> Iterator[Interruption]:
    """Turn SIGINT, SIGTERM, SIGHUP and SIGQUIT into wishes while the block lasts.

    A signal that nobody in the block has asked about arrives at the end of the block, as it would have without one.
    Python runs handlers in the main thread only; in another thread the signals keep their meaning.
    """
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def wake() -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(write_fd, b"!")

    wish = Interruption(read_fd, wake)

    def handle(number: int, frame: FrameType | None) -> None:
        wish.want(number)

    former = replace_handlers(handle)
    try:
        yield wish
    finally:
        restore_handlers(former)
        os.close(read_fd)
        os.close(write_fd)
    if wish.by is not None and not wish.was_seen:
        signal.raise_signal(wish.by)


def replace_handlers(handle: Callable[[int, FrameType | None], None]) -> Mapping[int, Any]:
    """Let a handler have the signals that ask to end; an ignored one stays ignored: nohup means it.

    Gives the former handlers, for `restore_handlers`; empty outside of the main thread.
    """
    former: dict[int, Any] = {}
    # Python refuses handlers outside of its main thread.
    with held_back(), contextlib.suppress(ValueError):
        for number in ENDING_SIGNALS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                former[number] = signal.signal(number, handle)
    return former


def restore_handlers(former: Mapping[int, Any]) -> None:
    """Give the signals back what they had."""
    with held_back():
        for number, handler in former.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold the signals that ask to end back for some lines that belong together; they arrive behind them.

    Programs that are started meanwhile never hear of them, unless they ask to.
    """
    former = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
