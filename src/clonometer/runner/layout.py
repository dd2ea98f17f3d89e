"""The same layout of memory for several processes, to tell what a draw of it adds to their scatter.

Where things lie in a process's memory is drawn twice: the size of its environment by the runner, and the places of
stack, mappings, heap and program by the kernel at exec. The first draw can be repeated; the second can only be
switched off, by the personality that a process inherits (personality(2), ADDR_NO_RANDOMIZE).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
from collections.abc import Iterator

from clonometer.errors import UnavailableError
from clonometer.runner.interfaces import LaunchHooks, Start

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.personality.argtypes = [ctypes.c_ulong]
_ASK = 0xFFFFFFFF
ADDR_NO_RANDOMIZE = 0x0040000


@contextlib.contextmanager
def kernel_draws_nothing() -> Iterator[str]:
    """Start no process at places that the kernel draws; gives the personality, in hexadecimal as in /proc.

    It holds for what this thread starts.

    Raises
    ------
    UnavailableError
        If the kernel refuses, as sandboxes may.
    """
    before = _personality(_ASK)
    _personality(before | ADDR_NO_RANDOMIZE)
    try:
        yield f"{_personality(_ASK):08x}"
    finally:
        _personality(before)


def _personality(wanted: int) -> int:
    """Set the personality of this thread, or ask for it; gives what it was."""
    was = int(_LIBC.personality(wanted))
    if was < 0:
        reason = os.strerror(ctypes.get_errno())
        raise UnavailableError(
            f"a memory layout cannot be repeated here: personality(ADDR_NO_RANDOMIZE): {reason}; sandboxes and "
            "containers may refuse it (seccomp)"
        )
    return was


class LayoutHooks(LaunchHooks):
    """Starts four processes of a target in an order that is drawn: two with one layout, and two as always.

    Those with one layout are a pair: they have one draw of the environment's size, and the kernel draws nothing.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"{seed}:layout")
        self._left: dict[int, list[Start]] = {}
        self._pairs = 0

    def before(self, target: int, interrupt_fd: int | None, /) -> Start:
        """Give the next of the four."""
        left = self._left.setdefault(target, [])
        if not left:
            same = Start(pair=self._pairs, kernel_draws=False)
            self._pairs += 1
            left += [same, same, Start(), Start()]
            self._random.shuffle(left)
        return left.pop()
