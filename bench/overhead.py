"""Per-launch wall time of the probe over a plain C loop: same linkage, pinned, interleaved pairs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from bench.harness import Line, ask_probe, bare_loop_and_probe, bare_loop_ns, clock, interleaved_ratio, launch_ns, say
from clonometer.stats.quantiles import quantile_interval

# Few launches a process and many processes: where the kernel puts a process moves its ratio, so pairs must be many.
LAUNCHES = {"fork": 300, "pthread": 1500}
WORDS = {"fork": "p", "pthread": "t"}
LIMITS = {
    ("fork", "parent"): 1.02,
    ("fork", "all"): 1.04,
    ("pthread", "parent"): 1.01,
    ("pthread", "all"): 1.01,
}


def run() -> Iterator[Line]:
    cpu = max(os.sched_getaffinity(0))
    clock_words = clock()
    with tempfile.TemporaryDirectory() as folder:
        program, probe = bare_loop_and_probe(folder)
        for (kind, stages), limit in LIMITS.items():
            yield say(
                interleaved_ratio(
                    f"overhead.{kind}.stages={stages}",
                    lambda k=kind, s=stages: launch_ns(probe, k, LAUNCHES[k], cpu, clock_words, f"stages={s}"),
                    lambda k=kind: bare_loop_ns(program, WORDS[k], LAUNCHES[k], cpu),
                    limit,
                    "probe / bare loop",
                )
            )
    stamps = [float(x) for _ in range(12) for x in _stamp(cpu, clock_words)]
    cost = quantile_interval(stamps, 0.5)
    yield say(Line("overhead.stamp", cost.value, cost.low, cost.high, None, "ns", "the forked child's stamp"))


def _stamp(cpu: int, clock_words: list[str]) -> list[float]:
    import numpy as np

    words = ["workload=launch.stamp", "blocks=1", "samples=200", f"cpu={cpu}", *clock_words]
    return [float(np.median(ask_probe(words)[0].columns["stamp_ns"]))]
