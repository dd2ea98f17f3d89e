"""Thousands of simulated checks of A against A on a machine that misbehaves: how many alarm.

The machine jumps between two speeds 25% apart for seconds at a time, wanders besides, and is another one in the second
run. Rows differ in scatter, have heavy tails, scatter up to twice as widely in one run, and have other numbers of
processes in each: all that real runs of the plan `quick` on a shared machine were seen to do. With few processes a cell
the medians are compared, with many the lower deciles: what scatters more widely then does so upwards, as where others
share the machine. On a crowded one a neighbour slows another share of the processes in each run besides. About 40
minutes for 1,000 of each of the five kinds; `BENCH_CHECKS=200` tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from bench.harness import Line, say
from clonometer.results.check.gate import ERROR_RATE, MAX_REGRESSION, alarms, p_slower
from clonometer.results.check.row_tests import row_tests
from clonometer.results.compare.comparison import Match
from clonometer.results.noise.noise import rate_interval
from clonometer.results.rows.evidence import Evidence
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes

CHECKS = int(os.environ.get("BENCH_CHECKS", "1000"))
MOST_ALARMS = 0.02
KINDS, STAGES = 9, 3
SECONDS = 10.0
#: Processes of a kind, from and to.
FEW, MANY = (12, 40), (60, 160)
#: The least and the greatest share of processes that a neighbour slows, and by how much, as a logarithm.
NEIGHBOUR, SLOWED = (0.1, 0.7), (0.2, 0.45)
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


def one_run(
    random: Generator, drift: float, sizes: tuple[int, int], *, crowded: bool
) -> dict[tuple[int, int, int], Processes]:
    """Process medians of every kind, temperature and stage."""
    times, slowness = machine(random, drift)
    slowed = random.uniform(*NEIGHBOUR) if crowded else 0.0
    medians = {}
    for kind in range(KINDS):
        count = int(random.integers(*sizes))
        starts = np.sort(random.uniform(0, SECONDS, count))
        speed = np.interp(starts, times, slowness)
        if crowded:
            speed += np.where(random.random(count) < slowed, random.uniform(*SLOWED, count), 0.0)
        for warmth, scatter in enumerate(SCATTERS):
            wide = scatter * np.exp2(random.uniform(0, 1))
            # By medians both ways; the fast ones of many are not faster for it.
            downwards = wide if sizes == FEW else scatter
            deviations = np.clip(random.standard_t(3, count), -8, 8)
            shared = np.where(deviations > 0, wide, downwards) * deviations
            for stage in range(STAGES):
                logs = shared + 0.3 * downwards * random.normal(size=count)
                medians[kind, warmth, stage] = Processes.of(np.exp(9.0 + speed + logs), starts)
    return medians


def matches(random: Generator, drift: float, sizes: tuple[int, int], *, crowded: bool) -> list[Match]:
    """All rows of two runs between which nothing changed but the machine and its neighbours."""
    before, after = (one_run(random, drift, sizes, crowded=crowded) for _ in range(2))
    return [Match(_measured(key, before[key]), _measured(key, after[key]), same_run=False) for key in before]


def _measured(key: tuple[int, int, int], processes: Processes) -> Evidence:
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
    return Evidence(estimate, processes, processes.values)


def alarmed(rows: list[Match]) -> bool:
    """Whether any row alarms: the gate's p-values and ratios, without the further conditions that only spare."""
    tests = row_tests(rows, MAX_REGRESSION).rows
    return _any_alarm([test.p_value or 1.0 for test in tests], [test.ratio or 1.0 for test in tests])


def careless(rows: list[Match]) -> bool:
    """The same by the medians as they were measured."""
    sides = [(match.base.processes.values, match.other.processes.values) for match in rows]
    p = [p_slower(base, other, MAX_REGRESSION) for base, other in sides]
    return _any_alarm(p, [float(np.median(other) / np.median(base)) for base, other in sides])


def _any_alarm(p: list[float], ratios: list[float]) -> bool:
    return bool(alarms(p, ratios, max_regression=MAX_REGRESSION, error_rate=ERROR_RATE).any())


def simulated(checks: int, drift: float, sizes: tuple[int, int], *, crowded: bool, seed: int) -> tuple[int, int]:
    """How many of so many checks alarm: by the gate, and by medians as if the machine stood still."""
    random = np.random.default_rng(seed)
    n_alarms = without_care = 0
    for _ in range(checks):
        rows = matches(random, drift, sizes, crowded=crowded)
        n_alarms += alarmed(rows)
        without_care += careless(rows)
    return n_alarms, without_care


def run() -> Iterator[Line]:
    cases = (
        ("quiet", 0.0, FEW, False),
        ("restless", 1.0, FEW, False),
        ("quiet_many", 0.0, MANY, False),
        ("restless_many", 1.0, MANY, False),
        ("crowded_many", 0.2, MANY, True),
    )
    for name, drift, sizes, crowded in cases:
        n_alarms, without_care = simulated(CHECKS, drift, sizes, crowded=crowded, seed=1)
        low, high = rate_interval(n_alarms, CHECKS)
        note = f"{n_alarms} of {CHECKS} checks; {without_care} by medians as they were measured"
        yield say(Line(f"simulated_alarms.{name}", n_alarms / CHECKS, low, high, MOST_ALARMS, "share", note))
