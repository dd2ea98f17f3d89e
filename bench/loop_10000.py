"""10,000 launches in a row, as the study loop-10000 made them, by the probe with all stages and by bare loops.

The study's thread ends by pthread_exit, its process by _exit; so do both sides here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial

from bench.harness import Line, bare_loop_and_probe, clock, interleaved_ratio, real_time, say

LAUNCHES = 10_000
LIMITS = {"fork": 1.05, "pthread": 1.02}
CONDITION = {"fork": (), "pthread": ("thread_ending=pthread_exit",)}
# A pair of fork takes over a second.
MOST_PAIRS = {"fork": 60, "pthread": 200}


def run() -> Iterator[Line]:
    clock_words = clock()
    with tempfile.TemporaryDirectory() as folder, real_time() as scheduling:
        sides = bare_loop_and_probe(folder)
        for kind, limit in LIMITS.items():
            word = {"fork": "p", "pthread": "x"}[kind]
            yield say(
                interleaved_ratio(
                    f"loop_10000.{kind}",
                    partial(sides.probe_ns, kind, LAUNCHES, clock_words, *CONDITION[kind]),
                    partial(sides.loop_ns, word, LAUNCHES),
                    limit,
                    f"probe / bare loop, class {scheduling}",
                    most_pairs=MOST_PAIRS[kind],
                )
            )
