"""Predictions of real programs against their forks, each by its own means to fork (`bench.forking`).

Needs a calibration of a while ago (`clonometer calibrate`). A program that is not installed is named and left out. Each
is started several times where that is quick: the first fork of a process comes once. ``BENCH_PROGRAMS=redis,node``
takes those whose names begin so.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bench.forking import MANY_AREAS, PROGRAMS, KernelTimes, LeftOutError, Program, script
from bench.harness import Line, say
from clonometer.cli.calibrating import cache_emptier_of_here, measure_scale
from clonometer.cli.predicting import answer, calibrated_machine, read
from clonometer.predict.answer import Predicted
from clonometer.predict.judge import Machine, Question

STARTS = 3
#: A program with more memory is started once.
MOST_BYTES = 1500 << 20
FORKS = 5
IDLE_S = 0.15
MOST_ERROR = 0.15
LEAST_NS = 1e6
READS = 3
MOST_READ_S = 2.0


@dataclass
class Forks:
    """The forks of a program: by itself where it says how long they took, by the kernel, and as predicted."""

    by_itself: list[float] = field(default_factory=list)
    kernel: list[float] = field(default_factory=list)
    predicted: list[Predicted] = field(default_factory=list)


def watched(program: Program, machine: Machine, first: Forks, later: Forks) -> int:
    """Start a program, predict its fork, have it fork; return its memory in bytes."""
    empty_caches = cache_emptier_of_here()
    with program.start() as (pid, fork):
        scaled = replace(machine, scale=measure_scale(machine.calibration))
        predicted = answer(read(pid), scaled, Question())
        times = KernelTimes(pid)
        for number in range(1 + FORKS):
            # As in a server whose machine does other work between its forks.
            empty_caches()
            time.sleep(IDLE_S)
            forks = later if number else first
            itself = fork()
            forks.by_itself += [] if itself is None else [itself]
            forks.kernel.append(times.next_ns())
            forks.predicted.append(predicted)
    return predicted.rss_bytes


def line_of(name: str, which: str, forks: Forks) -> Line:
    """Set the prediction beside the forks."""
    spans = [each.fork.first_ns if which == "first" else each.fork.later_ns for each in forks.predicted]
    real = statistics.median(forks.by_itself or forks.kernel)
    median, low, high = (statistics.median(getattr(span, end) for span in spans) for end in ("median", "low", "high"))
    by = f"by itself, {statistics.median(forks.kernel) / 1e6:.2f} by the kernel" if forks.by_itself else "by the kernel"
    largest = forks.predicted[0].terms[0]
    note = (
        f"{median / 1e6:.2f} ms ({low / 1e6:.2f} to {high / 1e6:.2f}) predicted, {real / 1e6:.2f} real ({by}), "
        f"{median / real - 1:+.0%}; scale {statistics.median(each.basis.scale for each in forks.predicted):.2f}; "
        f"{largest.count:,.0f} {largest.term}"
    )
    errors = [span.median / real - 1 for span in spans]
    value = abs(median / real - 1)
    return Line(
        f"{name}, {which} fork", value, min(map(abs, errors)), max(map(abs, errors)),
        MOST_ERROR if real > LEAST_NS else None, "error", note,
    )  # fmt: skip


def lines(program: Program, machine: Machine) -> Iterator[Line]:
    """Judge a program."""
    first, later = Forks(), Forks()
    for _ in range(STARTS):
        if watched(program, machine, first, later) > MOST_BYTES:
            break
    yield line_of(program.name, "first", first)
    yield line_of(program.name, "later", later)


def reading(machine: Machine) -> Line:
    """Say how long a process of 65,000 areas takes to be read and judged."""
    taken = []
    with script("python3", "-c", MANY_AREAS) as (pid, _):
        for _ in range(READS):
            began = time.monotonic()
            areas = sum(part.areas for part in answer(read(pid), machine, Question()).contributors)
            taken.append(time.monotonic() - began)
    name = f"{areas:,} areas are read and judged"
    return Line(name, statistics.median(taken), min(taken), max(taken), MOST_READ_S, "s")


def run() -> Iterator[Line]:
    """Judge every program that is installed."""
    machine = calibrated_machine()
    if machine is None:
        raise SystemExit("this machine was not calibrated: clonometer calibrate")
    # What was reserved for a program is given back then too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    asked = tuple(filter(None, os.environ.get("BENCH_PROGRAMS", "").split(",")))
    if not asked:
        yield say(reading(machine))
    for program in PROGRAMS:
        if asked and not program.name.startswith(asked):
            continue
        try:
            if lack := program.lack():
                raise LeftOutError(lack)
            yield from map(say, lines(program, machine))
        except LeftOutError as error:
            print(f"{program.name} is left out: {error}", file=sys.stderr)
