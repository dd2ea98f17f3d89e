"""Switches by pipe between two processes on one CPU: the probe beside ``perf bench sched pipe`` on the same CPU.

What perf calls an operation is a round trip: a message to the other process and one back, two switches. Ours is a
hand-over, one switch, so that twice ours is compared with perf's. Both sides read and write four bytes, both times
contain the system calls, and both are means over the same number of round trips, so that both meet what else happens on
that CPU equally. perf's also contains starting and reaping its second process, a fork of a large program, which is no
switch: what it says of a single round trip is taken off.

A mean over a tenth of a second contains any time slice that somebody else takes: on a machine that is not all ours runs
spread by half. Each side of a pair is therefore the best of five runs taken in turn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

from bench.harness import Line, ask_probe, clock, interleaved_ratio, say
from clonometer.runner.peers import PERF_LINE, parse_line

OPERATIONS = 20_000
SAMPLES = 2_000  # of 20 hand-overs: as many round trips
HANDOVERS_EACH = 2
AGREEMENT = 0.05
BEST_OF = 5
STARTS = 15
MOST_PAIRS = 60  # about a third of a second for each run of both: 2 min at most
HALF_WIDTH = 0.015


def perf_ns(cpu: int, operations: int) -> float:
    """Nanoseconds of perf's operation; taskset, since the option for CPUs came later than the benchmark."""
    command = ["taskset", "-c", str(cpu), "perf", "bench", "sched", "pipe", "-l", str(operations)]
    # perf writes decimals as the locale does.
    text = subprocess.check_output(command, text=True, env={**os.environ, "LC_ALL": "C"})
    return parse_line("pipe", PERF_LINE)(text)["pipe"]


def perf_round_trip_ns(cpu: int, start_ns: float) -> float:
    """What a round trip more costs perf: without the start of its second process."""
    return (perf_ns(cpu, OPERATIONS) * OPERATIONS - start_ns) / (OPERATIONS - 1)


def probe_ns(kind: str, cpu: int, clock_words: list[str]) -> float:
    """Nanoseconds of two hand-overs of the probe: the mean, as perf's is one."""
    words = ["workload=switch.pipe", f"task_kind={kind}", f"samples={SAMPLES}", "blocks=1", f"cpu={cpu}"]
    block = ask_probe([*words, *clock_words])[0]
    return HANDOVERS_EACH * float(block.columns["handover_ns"].mean())


def run() -> Iterator[Line]:
    if shutil.which("perf") is None or shutil.which("taskset") is None:
        print("switch_pipe: not possible here: perf and taskset are needed (apt-get install -y linux-perf util-linux)")
        return
    cpu = max(os.sched_getaffinity(0))
    clock_words = clock()
    start_ns = min(perf_ns(cpu, 1) for _ in range(STARTS))
    line = interleaved_ratio(
        "switch_pipe.process",
        lambda: probe_ns("process", cpu, clock_words),
        lambda: perf_round_trip_ns(cpu, start_ns),
        None,
        "probe / perf bench sched pipe, one CPU",
        most_pairs=MOST_PAIRS,
        half_width=HALF_WIDTH,
        best_of=BEST_OF,
    )
    yield say(line)
    # The harness demands less than a limit; agreement has two sides.
    apart = abs(line.value - 1)
    ends = sorted((abs(line.low - 1), abs(line.high - 1)))
    yield say(Line("switch_pipe.apart", apart, 0.0 if line.low <= 1 <= line.high else ends[0], ends[1], AGREEMENT))
