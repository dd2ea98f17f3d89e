"""Runs that end where their intervals are narrow: how often those contain the truth.

The scheduler of `run` decides when each run ends. Who ends at the first narrow interval ends where chance made it
narrow, and a machine that wanders slowly looks level for a while. What is claimed: independent processes are covered in
91% of runs, simulated so often that chance hardly matters; alike ones as often as by a fixed number of processes, the
mean of those runs, less three points, or a warning stands beside the interval. What the simulation of these leaves to
chance, two standard errors, is allowed for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tools.coverage.draws import Generator, Levels, long_run_median, scattering, two_modes, two_states, wandering

from clonometer.plan.types import Limits, Plan, Target
from clonometer.results.rows.description import level_change
from clonometer.results.schedule.stopping import TargetScheduler
from clonometer.stats.quantiles import Floats, quantile_interval

LEAST_COVERED = 0.91
LEAST_OF_FIXED = 0.03
PROCESSES = 12
MOST_PROCESSES = 200
_SCALE_NS = 1e5
#: So many times the runs in the lines that are held to a fixed share: its standard error is 0.3 points in 6,000 runs.
_MORE_RUNS = 4

HEAD = """Runs that end where half the interval is 2% of the median; {sets} runs a line,
four times as many where processes are independent
  n        processes in the mean; fixed: coverage of runs of so many processes
  narrow   runs that ended so, the others at 200 processes
  warned   runs with a warning beside the median
  unsaid   runs in which the median's interval misses and no warning stands beside it

                                  n  median  fixed narrow warned unsaid
"""


@dataclass(frozen=True)
class Row:
    """One line of the answer: shares of the simulated runs, and the mean number of processes."""

    name: str
    sets: int
    processes: float
    median: float
    fixed: float
    narrow: float
    warned: float
    unsaid: float
    independent: bool

    def holds(self) -> bool:
        """Whether all that is claimed of the line is so."""
        if self.independent:
            return self.median >= LEAST_COVERED
        least = self.fixed - LEAST_OF_FIXED
        return 1 - self.unsaid + 2 * math.sqrt(least * (1 - least) / self.sets) >= least

    def text(self) -> str:
        """The line as printed."""
        shares = (self.median, self.fixed, self.narrow, self.warned, self.unsaid)
        figures = "".join(f"{share:7.1%}" for share in shares)
        return f"{self.name:31} {self.processes:3.0f} {figures}  {'ok' if self.holds() else 'MISS'}"


CASES: tuple[tuple[str, Levels, bool], ...] = (
    ("independent, sigma 3%", scattering(0.03), True),
    ("independent, sigma 6%", scattering(0.06), True),
    ("bimodal 80/20, 40% apart", two_modes(0.03, 0.4, 0.2), True),
    ("AR(1) 0.5, sigma 3%", wandering(0.03, 0.5), False),
    ("AR(1) 0.9, sigma 3%", wandering(0.03, 0.9), False),
    ("two states 8% apart, 40 long", two_states(0.02, 0.08, 40), False),
)


def processes_until_narrow(levels: Floats) -> tuple[int, bool]:
    """After how many of the processes the scheduler ends the run, and whether its interval was narrow then."""
    scheduler = TargetScheduler(1, float("inf"), {"simulated": ["cost_ns"]})
    scheduler.begin(Plan("coverage", "", 0.0, (Target("simulated", {}, (), Limits(processes=PROCESSES)),)))
    for count, level in enumerate(levels, 1):
        scheduler.process_ended(0, 1.0, [("simulated", {"cost_ns": np.array([_SCALE_NS * level])})])
        if scheduler.stopped_by(0) == "target":
            return count, True
    return levels.size, False


def simulate(name: str, draw: Levels, sets: int, seed: int, *, independent: bool) -> Row:
    """Simulate one line."""
    random = np.random.default_rng([seed, 1])
    truth = 1.0 if not independent else long_run_median(draw, seed)
    counts, medians, ended, warned, unsaid = [], 0, 0, 0, 0
    for levels in draw(random, sets, MOST_PROCESSES):
        count, narrow = processes_until_narrow(levels)
        covered = quantile_interval(levels[:count]).contains(truth)
        starts = np.arange(count, dtype=np.float64)
        is_warned = level_change(levels[:count], starts) is not None
        counts.append(count)
        medians, ended, warned = medians + covered, ended + narrow, warned + is_warned
        unsaid += not covered and not is_warned
    mean = float(np.mean(counts))
    fixed = _fixed(random, draw, round(mean), truth, sets)
    return Row(
        name,
        sets,
        mean,
        median=medians / sets,
        fixed=fixed,
        narrow=ended / sets,
        warned=warned / sets,
        unsaid=unsaid / sets,
        independent=independent,
    )


def _fixed(random: Generator, draw: Levels, processes: int, truth: float, sets: int) -> float:
    covered = [quantile_interval(levels).contains(truth) for levels in draw(random, 2 * sets, processes)]
    return float(np.mean(covered))


def rows(sets: int, seed: int) -> Iterator[Row]:
    """All lines, one after the other."""
    for name, draw, independent in CASES:
        yield simulate(name, draw, sets * _MORE_RUNS if independent else sets, seed, independent=independent)
