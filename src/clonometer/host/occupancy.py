"""How long uninterrupted work takes here beside all that runs now, over the CPU time that it needs."""

from __future__ import annotations

import time

#: CPU time of the work: a small fork, one of some hundred MiB, one of some GiB; and how often each is done.
LENGTHS_NS = {1_000_000: 20, 5_000_000: 10, 25_000_000: 8}
#: Between two: whoever has slept is let in as a caller that has waited for something.
_REST_S = 0.01
#: On a machine so busy that this is over, what was measured until then has to do.
_MOST_S = 3.0


def measure_stretches() -> dict[int, list[float]]:
    """Work in this thread, and give wall over CPU time by the CPU time of the work, in ns.

    A quiet machine needs 0.7 s for it. A thread that runs but does not sleep, as one that forks, loses the CPU as this
    one does.
    """
    until_s = time.monotonic() + _MOST_S
    measured: dict[int, list[float]] = {length_ns: [] for length_ns in LENGTHS_NS}
    for turn in range(max(LENGTHS_NS.values())):
        for length_ns, times in LENGTHS_NS.items():
            if turn < times and time.monotonic() < until_s:
                time.sleep(_REST_S)
                measured[length_ns].append(_stretch(length_ns))
    return measured


def _stretch(length_ns: int) -> float:
    began_ns, used_ns = time.perf_counter_ns(), time.thread_time_ns()
    while (now_ns := time.thread_time_ns()) < used_ns + length_ns:
        pass
    return (time.perf_counter_ns() - began_ns) / (now_ns - used_ns)
