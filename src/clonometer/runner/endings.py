"""How a process ended, in words; and whether it was the kernel that killed it, for lack of memory."""

from __future__ import annotations

import contextlib
import functools
import signal
from pathlib import Path

from clonometer.host.cgroup import memory_bound, memory_kills_file
from clonometer.host.source import FactUnavailable, Source
from clonometer.units import approximate_bytes

_ROOT = Path("/")


class MemoryKills:
    """How many tasks the kernel had killed for lack of memory when this was made: before a process is started.

    The kernel counts such a kill before it sends SIGKILL (__oom_kill_process in mm/oom_kill.c). A count that has grown
    and a process that ended by SIGKILL belong together, unless another task was killed just then.
    """

    def __init__(self) -> None:
        self._before = _count()

    def more(self) -> bool:
        """Whether it has killed another task since; False where it does not count them."""
        before, now = self._before, _count()
        return before is not None and now is not None and now > before


def ended_with(status: int | None, *, memory_kill: bool = False) -> str:
    """Say in words how a process ended.

    ``status`` is negative for a signal, None where it is not known. ``memory_kill``: the kernel has meanwhile killed a
    task for lack of memory (`MemoryKills.more`).
    """
    if status is None or status >= 0:
        return f"ended with status {status}"
    if status == -signal.SIGKILL and memory_kill:
        return f"was killed by the kernel for lack of memory ({_next_step()})"
    known = {each.value: each.name for each in signal.Signals}
    return f"was killed by {known.get(-status, f'signal {-status}')}"


def _next_step() -> str:
    bound = None
    with contextlib.suppress(FactUnavailable):
        bound = memory_bound(Source(_ROOT))
    if bound is None:
        return "free some, or ask for less"
    return f"its control group allows {approximate_bytes(bound.limit)}: raise that, or ask for less"


@functools.cache
def _counter() -> Path:
    return Path(memory_kills_file(Source(_ROOT)))


def _count() -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in _counter().read_text(encoding="ascii", errors="replace").splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill":
                return int(number)
    return None
