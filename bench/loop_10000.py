"""10,000 launches in a row, as the study loop-10000 made them, by the probe with all stages and by bare loops.

The study's thread ends by pthread_exit, its process by _exit; so do both sides here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Line, ask_probe, clock, compile_c, interleaved_ratio, say
from bench.overhead import bare

LAUNCHES = 10_000
LIMITS = {"fork": 1.05, "pthread": 1.02}
CONDITION = {"fork": (), "pthread": ("thread_ending=pthread_exit",)}
# A pair of fork takes over a second.
MOST_PAIRS = {"fork": 60, "pthread": 200}


def probe(kind: str, cpu: int, clock_words: list[str]) -> float:
    """Nanoseconds a launch of the probe, pinned, all stages: the block's wall time, everything included."""
    words = [f"workload=launch.{kind}", f"samples={LAUNCHES}", "blocks=1", "warmup=20", *CONDITION[kind]]
    block = ask_probe([*words, f"cpu={cpu}", *clock_words])[0]
    return float(block.facts["wall_ns"]) / LAUNCHES


def run() -> Iterator[Line]:
    cpu = max(os.sched_getaffinity(0))
    clock_words = clock()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("bare_loop.c")
        program = compile_c(source, Path(folder) / "bare", "-static", "-no-pie", "-fno-pie")
        for kind, limit in LIMITS.items():
            word = {"fork": "p", "pthread": "x"}[kind]
            yield say(
                interleaved_ratio(
                    f"loop_10000.{kind}",
                    lambda k=kind: probe(k, cpu, clock_words),
                    lambda w=word: bare(program, w, LAUNCHES, cpu),
                    limit,
                    "probe / bare loop",
                    most_pairs=MOST_PAIRS[kind],
                )
            )
