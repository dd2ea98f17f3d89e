"""How much of the CPUs others used during a measurement, by /proc/stat."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

#: Up to this share of the CPUs' time, used by others or by the host, a round is quiet.
QUIET = 0.05
_TICKS_S = os.sysconf("SC_CLK_TCK")
_IDLE = (3, 4)
#: Guests' time is in that of users already.
_FIELDS = 8


class Others:
    """The share of the CPUs' time that others use from now on; ``of_ours`` gives the ticks that are ours."""

    def __init__(self, of_ours: Callable[[], int]) -> None:
        self._of_ours = of_ours
        self._began = self._now()

    def share(self) -> float:
        """Their share until now, with what the host took; at least 0."""
        elapsed, busy, ours = (now - before for now, before in zip(self._now(), self._began, strict=True))
        return max(0.0, (busy - ours) / _TICKS_S / (elapsed * (os.cpu_count() or 1)))

    def _now(self) -> tuple[float, int, float]:
        times = os.times()
        ours = self._of_ours() + (times.user + times.system) * _TICKS_S
        return time.monotonic(), busy_ticks(Path("/proc/stat").read_text(encoding="ascii")), ours


def busy_ticks(stat: str) -> int:
    """Ticks of all CPUs that were not idle, by the first line of /proc/stat.

    Examples
    --------
    >>> busy_ticks("cpu  10 0 5 1000 50 0 1 4 0 0")
    20
    """
    ticks = list(map(int, stat.split("\n", 1)[0].split()[1 : 1 + _FIELDS]))
    return sum(count for index, count in enumerate(ticks) if index not in _IDLE)


def children_ticks() -> int:
    """Ticks of this process's children that ended and were waited for."""
    times = os.times()
    return round((times.children_user + times.children_system) * _TICKS_S)
