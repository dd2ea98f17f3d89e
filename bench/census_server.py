"""What a census of a server costs that makes tasks at a steady rate: CPUs of the census itself, both its processes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from bench.harness import Line, compile_c, say
from clonometer.stats.quantiles import quantile_interval

WAYS = ("fork", "spawn", "thread")
#: Tasks a second, and how many CPUs the census may take.
RATES = {1000: 0.02, 5000: None}
SETTLES_S, WINDOW_S, WINDOWS = 3.0, 1.0, 12


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        server = compile_c(Path(__file__).with_name("steady_tasks.c"), Path(folder) / "server")
        for rate, limit in RATES.items():
            for way in WAYS:
                yield say(measured(server, way, rate, limit))


def measured(server: Path, way: str, rate: int, limit: float | None) -> Line:
    """Watch the server for some seconds; the median second counts."""
    whole_s = SETTLES_S + WINDOW_S * WINDOWS + 1
    clonometer = str(Path(sys.executable).with_name("clonometer"))
    with subprocess.Popen([str(server), way, str(rate)]) as running:
        words = [clonometer, "census", "--pid", str(running.pid), "--for", f"{whole_s}s", "--json"]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as census:
            time.sleep(SETTLES_S)
            readings = [cpu_seconds(census.pid)]
            for _ in range(WINDOWS):
                time.sleep(WINDOW_S)
                readings.append(cpu_seconds(census.pid))
            answer = json.loads(census.communicate()[0])
        running.kill()
    shares = [(after - before) / (until - since) for (since, before), (until, after) in pairwise(readings)]
    cpus = quantile_interval(shares, 0.5)
    made = answer["tasks_created"] / answer["wall_ns"] * 1e9
    note = f"{made:,.0f} tasks a second; events lost {answer['lost_events']}, stacks {answer['stacks']['missing']}"
    return Line(f"census_server.{way}.{rate}", cpus.value, cpus.low, cpus.high, limit, "CPUs", note)


def cpu_seconds(process: int) -> tuple[float, float]:
    """When, and the processor time of a process, its threads and its children until then."""
    tasks = Path(f"/proc/{process}/task")
    children = [child for task in tasks.iterdir() for child in (task / "children").read_text().split()]
    used_ns = 0
    for each in (tasks, *(Path(f"/proc/{child}/task") for child in children)):
        used_ns += sum(int((task / "schedstat").read_text().split()[0]) for task in each.iterdir())
    return time.monotonic(), used_ns / 1e9
