"""Per-launch wall time of the probe over a plain C loop: same linkage, pinned, interleaved pairs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial

from bench.harness import Line, ask_probe, bare_loop_and_probe, clock, interleaved_ratio, real_time, say
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
HALF_WIDTH = 0.003  # a third of the strictest limit


def run() -> Iterator[Line]:
    clock_words = clock()
    with tempfile.TemporaryDirectory() as folder, real_time() as scheduling:
        sides = bare_loop_and_probe(folder)
        for (kind, stages), limit in LIMITS.items():
            yield say(
                interleaved_ratio(
                    f"overhead.{kind}.stages={stages}",
                    partial(sides.probe_ns, kind, LAUNCHES[kind], clock_words, f"stages={stages}"),
                    partial(sides.loop_ns, WORDS[kind], LAUNCHES[kind]),
                    limit,
                    f"probe / bare loop, class {scheduling}",
                    half_width=HALF_WIDTH,
                )
            )
        stamps = [float(x) for _ in range(12) for x in _stamp(sides.cpu, clock_words)]
    cost = quantile_interval(stamps, 0.5)
    yield say(Line("overhead.stamp", cost.value, cost.low, cost.high, None, "ns", "the forked child's stamp"))


def _stamp(cpu: int, clock_words: list[str]) -> list[float]:
    import numpy as np

    words = ["workload=launch.stamp", "blocks=1", "samples=200", f"cpu={cpu}", *clock_words]
    return [float(np.median(ask_probe(words)[0].columns["stamp_ns"]))]
