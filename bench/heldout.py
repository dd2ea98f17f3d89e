"""Held-out programs: what `clonometer run` says of a language beside programs of 20 lines by somebody else.

The programs in `held_out/` were written without the sources of the drivers at hand: three a language, as its ordinary
programmers write them. Each times its own launches and prints their median in ns. A round is the program and then
`clonometer run` of the matching cell, or the other way round; both in the class `rr` if that is allowed, pinned to the
CPU that drivers use, in the same environment. A row's figure is the median of the ratios of its rounds: within 10%.
Twelve rows of fifteen must be. `BENCH_ROWS='go.*,java.thread'` selects some, `BENCH_ROUNDS=9` sets how many rounds.
`BENCH_HELD_OUT=FOLDER` takes the programs from elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from bench.harness import Line, real_time, say
from bench.runtimes import distance, language_driver, printed, reason_of
from clonometer.runner.environment import fixed_variables, padded
from clonometer.stats.quantiles import quantile_interval

SOURCES = Path(os.environ.get("BENCH_HELD_OUT", str(Path(__file__).with_name("held_out"))))
WANTED = os.environ.get("BENCH_ROWS", "*").split(",")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "11"))
AWAY = 0.10
ROWS_WITHIN = 12
BUDGET = "2s"
ENV_BYTES = 1024  # in the middle of what drivers get


@dataclass(frozen=True)
class Row:
    """A program, how often it launches, and the cell that measures the same."""

    name: str
    source: str
    launches: int
    workload: str
    quantity: str = "reaped_ns"
    settings: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """The name of the language, which is that of its driver."""
        return self.name.partition(".")[0]


TRUE = ("program=/bin/true",)
ROWS = (
    Row("python.thread", "thread.py", 10_000, "python.os_thread"),
    Row("python.task", "task.py", 50_000, "python.task"),
    Row("python.command", "command.py", 1_000, "python.command", settings=TRUE),
    Row("go.thread", "thread.go", 30_000, "go.os_thread"),
    Row("go.task", "task.go", 500_000, "go.task"),
    Row("go.command", "command.go", 1_000, "go.command", settings=TRUE),
    Row("java.thread", "ThreadStart.java", 20_000, "java.os_thread"),
    Row("java.pool", "PoolCall.java", 50_000, "java.thread_pool", "result_ns"),
    Row("java.command", "RunCommand.java", 1_000, "java.command_pipes", settings=TRUE),
    Row("node.worker", "worker.js", 60, "node.os_thread"),
    Row("node.task", "task.js", 500_000, "node.task"),
    Row("node.command", "command.js", 600, "node.command_pipes", settings=TRUE),
    Row("rust.thread", "thread.rs", 20_000, "rust.os_thread"),
    Row("rust.pool", "pool.rs", 50_000, "rust.thread_pool", "result_ns"),
    Row("rust.command", "command.rs", 1_000, "rust.command", settings=TRUE),
)


def run() -> list[Line]:
    """Compare the rows that are selected and can be measured here; last, how many agree."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, real_time() as scheduling:
        for row in ROWS:
            if not any(fnmatchcase(row.name, glob) for glob in WANTED):
                continue
            try:
                command = build(row, Path(folder))
                lines.append(say(compared(row, command, Path(folder), scheduling)))
            except (OSError, LookupError, ValueError, subprocess.SubprocessError) as error:
                print(f"heldout.{row.name} is not compared: {reason_of(error)}")
    if len(lines) == len(ROWS):
        within = sum(line.value <= AWAY for line in lines)
        missed = len(ROWS) - within
        note = f"{within} of {len(ROWS)} within {AWAY:.0%}"
        # A row beyond its limit is stated: the promise is about all of them.
        lines = [say(Line("heldout.rows_beyond", missed, missed, missed, len(ROWS) - ROWS_WITHIN, "rows", note))]
    return lines


def compared(row: Row, command: Sequence[str], folder: Path, scheduling: str) -> Line:
    """The ratio of what is reported to what the program measures, as its distance from 1."""
    cpu = max(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(cpu), *command, str(row.launches)]
    sides: list[Callable[[], float]] = [partial(reported_ns, row, folder), partial(program_ns, pinned)]
    rounds = []
    for number in range(ROUNDS):
        taken = [0.0, 0.0]
        for side in (0, 1) if number % 2 else (1, 0):
            taken[side] = sides[side]()
        rounds.append(taken)
    ratio = quantile_interval([ours / theirs for ours, theirs in rounds], 0.5)
    ours_us, theirs_us = (quantile_interval(side, 0.5).value / 1000 for side in zip(*rounds, strict=True))
    note = (
        f"{ours_us:.4g} us beside {theirs_us:.4g}, {ROUNDS} rounds, class {scheduling}, load {os.getloadavg()[0]:.0f}"
    )
    return distance(Line(f"heldout.{row.name}", ratio.value, ratio.low, ratio.high, None, note=note), AWAY)


def program_ns(command: Sequence[str]) -> float:
    """What a program prints: the median of its launches in ns."""
    return float(printed(command, padded(fixed_variables(), ENV_BYTES)))


def reported_ns(row: Row, folder: Path) -> float:
    """What `clonometer run` says of later launches."""
    words = [row.workload, "--budget", BUDGET, "--json", "--no-since", "--force", "--out", str(folder / "run.parquet")]
    settings = [word for setting in row.settings for word in ("--set", setting)]
    answer = json.loads(printed([sys.executable, "-m", "clonometer", "run", *words, *settings]))
    (median,) = (
        cell["median_ns"]
        for cell in answer["cells"]
        if (cell["quantity"], cell["temperature"]) == (row.quantity, "warm")
    )
    return float(median)


def build(row: Row, folder: Path) -> list[str]:
    """The command that starts a program, built with the toolchain of the driver."""
    program = str((language_driver(row.language).toolchain or {})["program"])
    source = str(SOURCES / row.language / row.source)
    built = str(folder / row.name)
    builds: dict[str, tuple[list[str], list[str]]] = {
        "go": ([program, "build", "-o", built, source], [built]),
        "rust": ([program, "-O", "-o", built, source], [built]),
        "java": (
            [str(Path(program).resolve().with_name("javac")), "-d", built, source],
            [program, "-cp", built, Path(source).stem],
        ),
    }
    if row.language not in builds:
        return [program, source]
    build_command, started = builds[row.language]
    local = {**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "CGO_ENABLED": "0"}
    printed(build_command, local)
    return started
