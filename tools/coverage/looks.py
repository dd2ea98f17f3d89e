"""Runs that are looked at while they go on: how often any of them says something false, and how soon what is true.

Two rows that are alike are looked at after so many processes, each time half as many again, at the rate of a look; at
the end at the rate of an answer. What is claimed: at most 5% of runs call a difference sure at any look or at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tools.coverage.draws import Levels, scattering, two_modes, two_states, wandering

from clonometer.results.schedule.looks import LOOK_RATE
from clonometer.stats.changes import change_of_ratio
from clonometer.stats.quantiles import Floats
from clonometer.stats.rank_sum import ratio_interval, two_sided_p
from clonometer.stats.verdict import ERROR_RATE, LAYOUT, Contrast, judged
from clonometer.stats.wander import typical_wandering
from clonometer.verdicts import Word

MOST_FALSE = 0.05
#: Processes of each row at every look, and at the end.
LOOKS = (12, 18, 27, 41, 62, 93, 140, 200)
#: Rows of a run whose wandering tells that of a typical one.
_ROWS = 6

HEAD = """Runs that are looked at seven times on the way, from 12 processes a row on, and at 200;
a fifth of {sets} runs a line
  false    rows alike: runs that call them different at any look or at the end
  once     the same at the end alone
  detected    one row longer by a quarter: runs that say so at some look, and after how many processes in the median

                               false   once  detected after
"""


@dataclass(frozen=True)
class Row:
    """One line of the answer: shares of the simulated runs."""

    name: str
    false: float
    once: float
    detected: float
    after: float

    def holds(self) -> bool:
        """Whether all that is claimed of the line is so."""
        return self.false <= MOST_FALSE

    def text(self) -> str:
        """The line as printed."""
        shares = "".join(f"{share:7.1%}" for share in (self.false, self.once, self.detected))
        return f"{self.name:29}{shares} {self.after:5.0f}  {'ok' if self.holds() else 'MISS'}"


CASES: tuple[tuple[str, Levels], ...] = (
    ("independent, sigma 3%", scattering(0.03)),
    ("independent, sigma 15%", scattering(0.15)),
    ("bimodal 80/20, 40% apart", two_modes(0.03, 0.4, 0.2)),
    ("AR(1) 0.9, sigma 5%", wandering(0.05, 0.9)),
    ("two states 8% apart, 40 long", two_states(0.02, 0.08, 40)),
)


def is_sure(levels: Floats, count: int, rate: float) -> bool:
    """Whether the first two rows are called different after so many processes of each."""
    a, b = (row[:count] for row in levels[:2])
    variance, _ = typical_wandering([[np.log(row[:count]) for row in levels]])
    shared = 2 * LAYOUT**2 + variance
    change = change_of_ratio(ratio_interval(a, b), math.sqrt(shared))
    ranks_p = two_sided_p(a, b)
    [ruling] = judged([Contrast(change, ranks_p, (count, count), alone=True)], rate)
    return ruling.word is Word.SURE


def sure_at(levels: Floats) -> int | None:
    """After how many processes a look is sure first; None where none is."""
    return next((count for count in LOOKS[:-1] if is_sure(levels, count, LOOK_RATE)), None)


def simulate(name: str, draw: Levels, sets: int, seed: int) -> Row:
    """Simulate one line."""
    random = np.random.default_rng([seed, 2])
    false = once = 0
    detected: list[int] = []
    for _ in range(sets):
        levels = draw(random, _ROWS, LOOKS[-1])
        at_end = is_sure(levels, LOOKS[-1], ERROR_RATE)
        once += at_end
        false += at_end or sure_at(levels) is not None
        levels[0] *= 1.25
        at = sure_at(levels)
        detected += [] if at is None else [at]
    after = float(np.median(detected)) if detected else math.nan
    return Row(name, false / sets, once / sets, len(detected) / sets, after)


def rows(sets: int, seed: int) -> Iterator[Row]:
    """All lines, one after the other; each look resamples, so that a fifth of the runs must do."""
    for name, draw in CASES:
        yield simulate(name, draw, max(1, sets // 5), seed)
