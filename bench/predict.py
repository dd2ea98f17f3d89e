"""Predictions against forks: of held-out shapes, and of real programs by their own means to fork (`bench.forking`).

Held-out shapes are random mixtures, which rewrite nothing, half or all of their memory between forks. Of each state it
judges the error, and how many forks lie in the interval. Needs a calibration of a while ago (`clonometer calibrate`).
A program that is not installed is named and left out. Each is started several times. ``BENCH_PROGRAMS=redis,node``
takes those whose names begin so; ``BENCH_PROGRAMS=shapes`` the held-out shapes alone.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from bench.forking import MANY_AREAS, PROGRAMS, KernelTimes, LeftOutError, Program, script
from bench.harness import Line, say
from clonometer.app.calibrating import cache_emptier_of_here, reference_processes, unforked_processes
from clonometer.app.live import read
from clonometer.app.predicting import answer, calibrated_machine
from clonometer.app.validating import validate
from clonometer.model.reference import scales_by
from clonometer.model.turns import STATES, ask
from clonometer.model.validated import COVERAGE, MEDIAN_ERROR, NINE_IN_TEN_ERROR, ValidatedFork
from clonometer.prediction.answer import Predicted
from clonometer.prediction.judge import Machine, Question
from clonometer.prediction.spans import PredictedTime

#: Each is started so often at least, and at most; in between until so many seconds are over.
LEAST_STARTS, MOST_STARTS, STARTS_S = 3, 9, 25.0
SHAPES = 12
LATER_FORKS = 5
IDLE_S = 0.15
MOST_ERROR = 0.15
LEAST_NS = 1e6
READS = 3
MOST_READ_S = 2.0


@dataclass(frozen=True)
class ForkedProgram:
    """The forks of a program in ns: by itself, where it says how long they took, by the kernel, and as predicted."""

    by_itself: Sequence[float]
    kernel: Sequence[float]
    predicted: Predicted

    def predicted_ns(self, which: str) -> PredictedTime:
        """The prediction of the first or a later fork: these programs write little between their forks."""
        return self.predicted.fork.first_ns if which == "first" else self.predicted.fork.unwritten_ns

    def real_ns(self, which: str, *, by_kernel: bool = False) -> float:
        """How long its first fork took, or the middle one of the later."""
        times = self.kernel if by_kernel or not self.by_itself else self.by_itself
        return times[0] if which == "first" else statistics.median(times[1:])

    def error(self, which: str) -> float:
        """How far the prediction lies from that, as a share."""
        return self.predicted_ns(which).median / self.real_ns(which) - 1


def watched(program: Program, machine: Machine) -> ForkedProgram:
    """Start a program, have it fork beside the reference scan's processes, and predict it."""
    empty_caches = cache_emptier_of_here()
    by_itself, kernel = [], []
    with reference_processes(random.Random()) as references, program.start() as (pid, fork):
        reading = read(pid)
        scan = unforked_processes(references)
        times = KernelTimes(pid)
        for _ in range(1 + LATER_FORKS):
            # Prediction and forks are then of one moment: a shared host changes its speed from second to second.
            for (name, process), state in product(references.items(), STATES):
                scan[name].add(ask(process, name, state, empty_caches))
            # As in a server whose machine does other work between its forks.
            empty_caches()
            time.sleep(IDLE_S)
            itself = fork()
            by_itself += [] if itself is None else [itself]
            kernel.append(times.next_ns())
    scaled = replace(machine, scales=scales_by(list(scan.values()), machine.calibration))
    return ForkedProgram(by_itself, kernel, answer(reading, scaled, Question()))


def line_of(name: str, which: str, starts: Sequence[ForkedProgram]) -> Line:
    """Set the predictions beside the forks, start by start."""
    spans = [each.predicted_ns(which) for each in starts]
    median, low, high = (
        statistics.median(getattr(span, end) for span in spans) / 1e6 for end in ("median", "low", "high")
    )
    real = statistics.median(each.real_ns(which) for each in starts)
    kernel = statistics.median(each.real_ns(which, by_kernel=True) for each in starts)
    by = f"by itself, {kernel / 1e6:.2f} by the kernel" if starts[0].by_itself else "by the kernel"
    errors = [each.error(which) for each in starts]
    middle = statistics.median(errors)
    largest = starts[0].predicted.terms[0]
    scale = statistics.median(each.predicted.basis.scales.cold.factor for each in starts)
    note = (
        f"{median:.2f} ms ({low:.2f} to {high:.2f}) predicted, {real / 1e6:.2f} real ({by}), {middle:+.0%}, the middle "
        f"one of {len(starts)} starts; scale {scale:.2f}; "
        f"{largest.count:,.0f} {largest.term}"
    )
    return Line(
        f"{name}, {which} fork", abs(middle), min(map(abs, errors)), max(map(abs, errors)),
        MOST_ERROR if real > LEAST_NS else None, "error", note,
    )  # fmt: skip


def lines(program: Program, machine: Machine) -> Iterator[Line]:
    """Judge a program: by several starts, since the first fork of a process comes once."""
    starts: list[ForkedProgram] = []
    begin_s = time.monotonic()
    while len(starts) < LEAST_STARTS or (len(starts) < MOST_STARTS and time.monotonic() - begin_s < STARTS_S):
        starts.append(watched(program, machine))
    yield line_of(program.name, "first", starts)
    yield line_of(program.name, "later", starts)


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


def shapes(machine: Machine) -> Iterator[Line]:
    """Judge held-out shapes: the first fork's error, and in each state how often the interval holds a fork."""
    validation = validate(SHAPES, calibration=machine.calibration)
    for state in validation.states:
        forks = [fork for fork in validation.forks if fork.state == state.group]
        errors = sorted(abs(fork.error) for fork in forks)
        is_first = state.group == "first"
        note = f"bias {state.bias:+.0%}, {len(forks)} cases"
        yield Line(
            f"{state.group}: median error", state.median_error, errors[0], errors[-1],
            MEDIAN_ERROR if is_first else None, "error", note,
        )  # fmt: skip
        if is_first:
            yield Line(
                f"{state.group}: nine in ten below", state.nine_in_ten_error, errors[0], errors[-1],
                NINE_IN_TEN_ERROR, "error", note,
            )  # fmt: skip
        low, high = share_interval(forks)
        yield Line(
            f"{state.group}: outside the interval", 1 - state.coverage, 1 - high, 1 - low,
            1 - COVERAGE[0], "share", f"{state.coverage:.0%} inside, aim {COVERAGE[0]:.0%} to {COVERAGE[1]:.0%}",
        )  # fmt: skip


def share_interval(forks: Sequence[ValidatedFork]) -> tuple[float, float]:
    """The least and the most of the shapes' shares of forks within the interval, the tenth at either end left out."""
    shares = [
        statistics.mean(fork.predicted.low_ns <= call <= fork.predicted.high_ns for call in fork.calls_ns)
        for fork in forks
    ]
    shares.sort()
    left = len(shares) // 10
    return shares[left], shares[len(shares) - 1 - left]


def run() -> Iterator[Line]:
    """Judge held-out shapes, and every program that is installed."""
    machine = calibrated_machine()
    if machine is None:
        raise SystemExit("this machine has not been calibrated: clonometer calibrate")
    # What was reserved for a program is given back then too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    asked = tuple(filter(None, os.environ.get("BENCH_PROGRAMS", "").split(",")))
    if not asked:
        yield say(reading(machine))
    if not asked or "shapes" in asked:
        yield from map(say, shapes(machine))
    for program in PROGRAMS:
        if asked and not program.name.startswith(asked):
            continue
        try:
            if lack := program.lack():
                raise LeftOutError(lack)
            yield from map(say, lines(program, machine))
        except LeftOutError as error:
            print(f"{program.name} is left out: {error}", file=sys.stderr)
