"""Medians, and ratios of two cells that ran in turn, from samples up: how often their intervals contain the truth.

What is claimed: with 20 processes the nominal 95% of medians and ratios covers between 92% and 98%, whatever the
samples are (log-normal, bimodal, autocorrelated up to 0.9). What is not claimed, and must carry a warning: fewer
processes, and processes that drift or wander over the run. Of 20 processes whose levels follow an AR(1) of 0.9 even the
range contains the truth in 86% of runs only: no interval between two of their values can do better, and some of these
runs look level to any test. How often an interval misses and nothing is said stands in the last column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from tools.coverage.draws import Generator, ar1

from clonometer.results.rows.description import level_change
from clonometer.results.rows.warnings import FEW_PROCESSES
from clonometer.stats.quantiles import Floats, quantile_interval
from clonometer.stats.rank_sum import ratio_interval

LOWEST, HIGHEST = 0.92, 0.98
LEAST_WARNED = 0.95
#: Of 20 processes that wander slowly: a quarter of such runs look like level ones to any test.
LEAST_WARNED_ALONE = 0.65
SAMPLES = 101
TRUE_RATIO = 1.25
_TRUTH_PROCESSES = 60_000

HEAD = """How often a nominal 95% interval contains the truth; {sets} simulated runs a line
  n        processes in the run
  within   the samples of each process are such; between: the processes' levels are
  warned   runs with a warning beside the median
  unsaid   runs in which the median's interval misses and no warning stands beside it

                                  n  median  ratio warned unsaid  claim
"""

#: Samples of processes: shape (data sets, processes, samples).
Draw = Callable[[Generator, int, int], Floats]


@dataclass(frozen=True)
class Row:
    """One line of the answer: shares of the simulated runs.

    ``median`` and ``ratio``: the interval contains the truth; ``warned``: a warning stands beside the median;
    ``unsaid``: the median's interval misses the truth, and none does.
    """

    name: str
    processes: int
    median: float
    ratio: float
    warned: float
    unsaid: float
    must_cover: bool
    must_warn: bool
    least_warned: float = LEAST_WARNED

    def holds(self) -> bool:
        """Whether all that is claimed of the line is so."""
        covers = not self.must_cover or all(LOWEST <= share <= HIGHEST for share in (self.median, self.ratio))
        return covers and (not self.must_warn or self.warned >= self.least_warned)

    def text(self) -> str:
        """The line as printed."""
        warning = f"warn {self.least_warned:.0%}" if self.must_warn else "-"
        claim = f"{LOWEST * 100:.0f}-{HIGHEST:.0%}" if self.must_cover else warning
        figures = "".join(f"{share:7.1%}" for share in (self.median, self.ratio, self.warned, self.unsaid))
        return f"{self.name:31} {self.processes:3d} {figures}  {claim:8} {'ok' if self.holds() else 'MISS'}"


def lognormal(random: Generator, sets: int, processes: int) -> Floats:
    """Log-normal samples in processes whose levels are log-normal too."""
    return np.exp(_levels(random, sets, processes) + 0.3 * random.normal(size=(sets, processes, SAMPLES)))


def bimodal_samples(random: Generator, sets: int, processes: int) -> Floats:
    """80% of the samples of each process in one mode, 20% in one half as slow again."""
    slow = random.random((sets, processes, SAMPLES)) < 0.2
    noise = 0.05 * random.normal(size=slow.shape)
    return np.exp(_levels(random, sets, processes) + noise + np.log(1.5) * slow)


def bimodal_processes(random: Generator, sets: int, processes: int) -> Floats:
    """80% of the processes in one mode, 20% in one half as slow again: page colours, say, or a layout."""
    slow = random.random((sets, processes, 1)) < 0.2
    noise = 0.05 * random.normal(size=(sets, processes, SAMPLES))
    return np.exp(_levels(random, sets, processes) + noise + np.log(1.5) * slow)


def autocorrelated(strength: float) -> Draw:
    """Make samples that follow an AR(1) within each process."""

    def draw(random: Generator, sets: int, processes: int) -> Floats:
        noise = 0.3 * ar1(random, (sets, processes, SAMPLES), strength)
        return np.exp(_levels(random, sets, processes) + noise)

    return draw


def wandering(strength: float) -> Draw:
    """Make processes whose levels follow an AR(1) from one process to the next."""

    def draw(random: Generator, sets: int, processes: int) -> Floats:
        levels = 0.1 * ar1(random, (sets, processes), strength)[..., None]
        return np.exp(levels + 0.1 * random.normal(size=(sets, processes, SAMPLES)))

    return draw


def drifting(whole: float) -> Draw:
    """Make processes whose levels rise by ``whole`` over the run."""

    def draw(random: Generator, sets: int, processes: int) -> Floats:
        rise = np.linspace(-0.5, 0.5, processes)[:, None] * np.log1p(whole)
        return np.exp(0.02 * random.normal(size=(sets, processes, 1)) + rise) * np.exp(
            0.1 * random.normal(size=(sets, processes, SAMPLES))
        )

    return draw


def _levels(random: Generator, sets: int, processes: int) -> Floats:
    return np.asarray(0.1 * random.normal(size=(sets, processes, 1)), dtype=np.float64)


CLAIMED: tuple[tuple[str, Draw], ...] = (
    ("log-normal", lognormal),
    ("bimodal 80/20 within processes", bimodal_samples),
    ("bimodal 80/20 between processes", bimodal_processes),
    ("AR(1) 0.5 within processes", autocorrelated(0.5)),
    ("AR(1) 0.9 within processes", autocorrelated(0.9)),
)
#: With how often 20 processes must warn; None where that is only shown.
DRIFTS: tuple[tuple[str, Draw, float | None], ...] = (
    ("drift of 20% over the run", drifting(0.2), LEAST_WARNED),
    ("drift of 10% over the run", drifting(0.1), LEAST_WARNED_ALONE),
    ("AR(1) 0.9 between processes", wandering(0.9), LEAST_WARNED_ALONE),
    ("AR(1) 0.5 between processes", wandering(0.5), None),
)


def simulate(name: str, draw: Draw, processes: int, sets: int, seed: int, *, claimed: bool, warns: bool) -> Row:
    """Simulate one line: medians of ``sets`` runs, and ratios of two cells that ran interleaved."""
    random = np.random.default_rng([seed, processes])
    truth = _truth(draw, processes, seed)
    a = np.median(draw(random, sets, processes), axis=2)
    b = np.median(draw(random, sets, processes), axis=2)
    starts = np.arange(processes, dtype=np.float64)
    medians = ratios = warned = unsaid = 0
    for place in range(sets):
        covered = quantile_interval(a[place]).contains(truth)
        is_warned = processes < FEW_PROCESSES or level_change(a[place], starts) is not None
        medians, warned, unsaid = medians + covered, warned + is_warned, unsaid + (not covered and not is_warned)
        ratios += ratio_interval(a[place] * TRUE_RATIO, b[place]).contains(TRUE_RATIO)
    return Row(
        name,
        processes,
        median=medians / sets,
        ratio=ratios / sets,
        warned=warned / sets,
        unsaid=unsaid / sets,
        must_cover=claimed,
        must_warn=warns,
    )


def _truth(draw: Draw, processes: int, seed: int) -> float:
    """The median of all processes that there could be."""
    random = np.random.default_rng([seed, 0])
    sets = _TRUTH_PROCESSES // processes
    return float(np.median(np.median(draw(random, sets, processes), axis=2)))


def rows(sets: int, seed: int) -> Iterator[Row]:
    """All lines, one after the other."""
    for name, draw in CLAIMED:
        yield simulate(name, draw, 20, sets, seed, claimed=True, warns=False)
    yield simulate("log-normal", lognormal, 120, sets, seed, claimed=True, warns=False)
    for processes in (12, 8, 6, 5, 4, 3):
        few = processes < FEW_PROCESSES
        yield simulate("log-normal", lognormal, processes, sets, seed, claimed=False, warns=few)
    for name, draw, least in DRIFTS:
        for processes in (40, 20, 5):
            few = processes < FEW_PROCESSES
            row = simulate(name, draw, processes, sets, seed, claimed=False, warns=few or least is not None)
            yield replace(row, least_warned=LEAST_WARNED if few or least is None else least)
