"""A thousand simulated checks of A against A on a machine that misbehaves: how many alarm.

The machine jumps between two speeds 25% apart for seconds at a time, wanders besides, and is another one in the second
run. Rows differ in scatter, have heavy tails, scatter up to twice as widely in one run, and have other numbers of
processes in each: all that real runs of the plan `quick` on a shared machine were seen to do. About 3 minutes;
`BENCH_CHECKS=200` tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from bench.harness import Line, say
from clonometer.results.compare import Match, Measured, inflations_of
from clonometer.results.gate import ERROR_RATE, MAX_REGRESSION, alarms, p_slower
from clonometer.results.machine import even_out
from clonometer.results.noise import rate_interval
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes

CHECKS = int(os.environ.get("BENCH_CHECKS", "1000"))
MOST_ALARMS = 0.02
KINDS, STAGES = 9, 3
SECONDS = 10.0
#: Scatter of the rows of a kind: its warm and its cold cell.
SCATTERS = (0.04, 0.2)

Generator = np.random.Generator
Floats = np.ndarray


def machine(random: Generator, drift: float) -> tuple[Floats, Floats]:
    """Logarithm of how slow a machine is, every 10 ms."""
    times = np.arange(0.0, SECONDS, 0.01)
    flips = np.cumsum(random.random(times.size) < 0.01 / random.uniform(0.5, 5.0)) % 2
    steps = random.normal(size=times.size) * 0.03 * drift
    wander = np.zeros(times.size)
    for place in range(1, times.size):
        wander[place] = 0.99 * wander[place - 1] + 0.1 * steps[place]
    return times, drift * (0.25 * flips + random.normal(0, 0.1)) + wander


def one_run(random: Generator, drift: float) -> dict[tuple[int, int, int], Processes]:
    """Process medians of every kind, temperature and stage."""
    times, slowness = machine(random, drift)
    found = {}
    for kind in range(KINDS):
        count = int(random.integers(12, 40))
        starts = np.sort(random.uniform(0, SECONDS, count))
        speed = np.interp(starts, times, slowness)
        for warmth, scatter in enumerate(SCATTERS):
            wide = scatter * np.exp2(random.uniform(0, 1))
            shared = wide * np.clip(random.standard_t(3, count), -8, 8)
            for stage in range(STAGES):
                own = shared + 0.3 * wide * random.normal(size=count)
                found[kind, warmth, stage] = Processes.of(np.exp(9.0 + speed + own), starts)
    return found


def matches(random: Generator, drift: float) -> list[Match]:
    """All rows of two runs between which nothing changed but the machine."""
    sides = one_run(random, drift), one_run(random, drift)
    return [Match(*(_measured(key, side[key]) for side in sides), same_run=False) for key in sides[0]]


def _measured(key: tuple[int, int, int], processes: Processes) -> Measured:
    kind, warmth, stage = key
    median_ns = float(np.median(processes.values))
    size = processes.values.size
    estimate = Estimate(
        cell=f"launch.{kind}[{warmth}]",
        workload=f"launch.{kind}",
        condition={},
        temperature=("warm", "cold")[warmth],
        stage=str(stage),
        placement=None,
        quantity=f"{stage}_ns",
        unit="ns",
        n_samples=size,
        n_processes=size,
        median_ns=median_ns,
        median_low_ns=None,
        median_high_ns=None,
        p99_ns=None,
        p99_reason=None,
        min_ns=None,
        effective_mhz=None,
        resolution_ns=1.0,
        family="same_image",
    )
    return Measured(estimate, processes)


def alarmed(rows: list[Match], *, evened: bool = True) -> bool:
    """Whether any row alarms: the gate's p-values and ratios, without the further conditions that only spare."""
    judged = list(even_out(rows).matches) if evened else rows
    inflations = inflations_of(judged) if evened else [1.0] * len(judged)
    sides = [(match.base.processes.values, match.other.processes.values) for match in judged]
    p = [
        p_slower(base, other, MAX_REGRESSION, inflation)
        for (base, other), inflation in zip(sides, inflations, strict=True)
    ]
    ratios = [float(np.median(other) / np.median(base)) for base, other in sides]
    return bool(alarms(p, ratios, max_regression=MAX_REGRESSION, error_rate=ERROR_RATE).any())


def simulated(checks: int, drift: float, seed: int) -> tuple[int, int]:
    """How many of so many checks alarm: by the gate, and by the same tests as if the machine stood still."""
    random = np.random.default_rng(seed)
    found = careless = 0
    for _ in range(checks):
        rows = matches(random, drift)
        found += alarmed(rows)
        careless += alarmed(rows, evened=False)
    return found, careless


def run() -> Iterator[Line]:
    for name, drift in (("quiet", 0.0), ("restless", 1.0)):
        found, careless = simulated(CHECKS, drift, 1)
        low, high = rate_interval(found, CHECKS)
        note = f"{found} of {CHECKS} checks; {careless} if the machine's speed were left in"
        yield say(Line(f"simulated_alarms.{name}", found / CHECKS, low, high, MOST_ALARMS, "share", note))
