"""Ratios and differences of two cells: how often their intervals contain the truth.

What is claimed: 92%, and with 3 processes a side what the interval says of itself (`confidence`). That is exact, so two
standard errors of the simulation are allowed for. What the machine does to both sides alike, a drift or a wandering,
only makes the interval wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from tools.coverage.draws import Generator, ar1

from clonometer.stats.interval import LEAST_NOMINAL
from clonometer.stats.quantiles import Floats
from clonometer.stats.rank_sum import ratio_interval, shift_interval

LEAST_COVERED = 0.92
TRUE_RATIO = 1.25

HEAD = """Ratios and differences of two cells; {sets} simulated pairs of cells a line
  a, b     processes of each
  claim    what both must cover: 92%, or what the interval says where it claims less

                                  a   b   ratio  differ.  claim
"""

#: Levels of both sides in the order in which they started, by turns: shape (sets, processes of each, 2).
Draw = Callable[[Generator, int, int], Floats]


@dataclass(frozen=True)
class Row:
    """One line of the answer: shares of the simulated pairs of cells whose interval contains the truth."""

    name: str
    sets: int
    processes: tuple[int, int]
    ratio: float
    difference: float
    claim: float

    def holds(self) -> bool:
        """Whether all that is claimed of the line is so."""
        chance = 2 * math.sqrt(self.claim * (1 - self.claim) / self.sets) if self.claim < LEAST_COVERED else 0.0
        return min(self.ratio, self.difference) + chance >= self.claim

    def text(self) -> str:
        """The line as printed."""
        a, b = self.processes
        verdict = "ok" if self.holds() else "MISS"
        return f"{self.name:31} {a:3d} {b:3d} {self.ratio:7.1%} {self.difference:7.1%}  {self.claim:6.1%} {verdict}"


def independent(random: Generator, sets: int, processes: int) -> Floats:
    """Log-normal levels, sigma 10%."""
    return np.exp(0.1 * random.normal(size=(sets, processes, 2)))


def drifting(random: Generator, sets: int, processes: int) -> Floats:
    """Both sides rise by 10% over the run and scatter by 3%."""
    rise = np.linspace(-0.05, 0.05, 2 * processes).reshape(processes, 2)
    return np.exp(rise + 0.03 * random.normal(size=(sets, processes, 2)))


def wandering(random: Generator, sets: int, processes: int) -> Floats:
    """The machine wanders by 8%, AR(1) of 0.9 from one start to the next, and each side scatters by 3%."""
    common = 0.08 * ar1(random, (sets, 2 * processes), 0.9).reshape(sets, processes, 2)
    return np.exp(common + 0.03 * random.normal(size=(sets, processes, 2)))


def simulate(name: str, draw: Draw, processes: tuple[int, int], sets: int, seed: int) -> Row:
    """Simulate one line."""
    random = np.random.default_rng([seed, *processes])
    # The smaller side has its processes all along the run.
    chosen_a, chosen_b = (np.linspace(0, max(processes) - 1, count).round().astype(int) for count in processes)
    ratios = differences = 0
    levels = draw(random, sets, max(processes))
    # Which side starts first is drawn for each pair, as `run` does: a drift within a pair favours neither.
    swapped = random.random(levels.shape[:2]) < 0.5
    levels[swapped] = levels[swapped][:, ::-1]
    claim = LEAST_COVERED
    for place in range(sets):
        a, b = TRUE_RATIO * levels[place, chosen_a, 0], levels[place, chosen_b, 1]
        ratio, difference = ratio_interval(a, b), shift_interval(a, b)
        ratios += ratio.contains(TRUE_RATIO)
        differences += difference.contains(TRUE_RATIO - 1.0)
        if not ratio.reaches_nominal:
            claim = ratio.confidence
    return Row(name, sets, processes, ratios / sets, differences / sets, claim)


def rows(sets: int, seed: int) -> Iterator[Row]:
    """All lines, one after the other."""
    few = range(3, LEAST_NOMINAL)
    for count in (*few, 6, 8, 12, 20, 120):
        yield simulate("log-normal", independent, (count, count), sets, seed)
    for count in (*few, 6, 8):
        yield simulate("drift of 10%", drifting, (count, count), sets, seed)
    for sides in ((12, 40), (40, 12)):
        yield simulate("unequal sides", independent, sides, sets, seed)
    for count in (12, 40):
        yield simulate("common AR(1) 0.9", wandering, (count, count), sets, seed)
