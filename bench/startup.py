"""The command line's own start: `clonometer --version` above the bare interpreter."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Line, say
from clonometer.stats.quantiles import quantile_interval

PAIRS = 60
LIMIT_MS = 50


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run() -> Iterator[Line]:
    clonometer = [sys.executable, str(Path(sys.executable).with_name("clonometer"))]
    for words, limit in (["--version"], LIMIT_MS), (["--help"], None):
        above = [1e3 * (seconds([*clonometer, *words]) - seconds([sys.executable, "-c", ""])) for _ in range(PAIRS)]
        estimate = quantile_interval(above, 0.5)
        name = f"startup.{words[0].lstrip('-')}"
        yield say(Line(name, estimate.value, estimate.low, estimate.high, limit, "ms", "above the bare interpreter"))
