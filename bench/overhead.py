"""Per-launch wall time of the probe over a plain C loop: same linkage, pinned, interleaved pairs."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Line, ask_probe, clock, compile_c, interleaved_ratio, say
from clonometer.stats.quantiles import quantile_interval

# Few launches a process and many processes: where the kernel puts a process moves its ratio, so pairs must be many.
LAUNCHES = {"fork": 300, "pthread": 1500}
WORDS = {"fork": "p", "pthread": "t"}
LIMITS = {
    ("fork", "parent"): 1.02,
    ("fork", "all"): 1.05,
    ("pthread", "parent"): 1.02,
    ("pthread", "all"): 1.02,
}


def bare(program: Path, word: str, launches: int, cpu: int) -> float:
    """Nanoseconds a launch of the bare loop, pinned; ``word`` is what it launches (bare_loop.c)."""
    command = ["taskset", "-c", str(cpu), str(program), word, str(launches)]
    return float(subprocess.check_output(command))


def probe(kind: str, stages: str, cpu: int, clock_words: list[str]) -> float:
    """Nanoseconds a launch of the probe, pinned: the block's wall time, everything included."""
    count = LAUNCHES[kind]
    words = [f"workload=launch.{kind}", f"samples={count}", "blocks=1", "warmup=20", f"stages={stages}"]
    block = ask_probe([*words, f"cpu={cpu}", *clock_words])[0]
    return float(block.facts["wall_ns"]) / count


def run() -> Iterator[Line]:
    cpu = max(os.sched_getaffinity(0))
    clock_words = clock()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("bare_loop.c")
        program = compile_c(source, Path(folder) / "bare", "-static", "-no-pie", "-fno-pie")
        for (kind, stages), limit in LIMITS.items():
            yield say(
                interleaved_ratio(
                    f"overhead.{kind}.stages={stages}",
                    lambda k=kind, s=stages: probe(k, s, cpu, clock_words),
                    lambda k=kind: bare(program, WORDS[k], LAUNCHES[k], cpu),
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
