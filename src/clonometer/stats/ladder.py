"""How a difference between two sides shrinks, step by step: gaps, steps and what remains, with joint intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clonometer.stats.interval import Interval
from clonometer.stats.percentile import medians_drawn, percentile_intervals, places_drawn
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import Floats, median

_METHOD = "bootstrap over {}, percentile"


@dataclass(frozen=True)
class Ladder:
    """Differences of medians along a ladder.

    Attributes
    ----------
    gaps
        For each rung the median of A less that of B, signed, in the unit of the data.
    steps
        For each rung but the first, by how much the gap is smaller than on the rung before: positive where what was
        taken away had kept A behind.
    relative
        For each rung the gap as a share of B's median, signed: 0.1 where A takes a tenth longer.
    shares
        The steps as shares of the first gap; each None where that gap's interval contains 0.
    remainder_share
        The last gap as a share of the first; None as above. The shares and it add up to 1.
    """

    gaps: tuple[Interval, ...]
    steps: tuple[Interval, ...]
    relative: tuple[Interval, ...]
    shares: tuple[Interval | None, ...]
    remainder_share: Interval | None


def ladder_of_differences(rungs: Sequence[tuple[Processes, Processes]], *, seed: int) -> Ladder:
    """Follow the difference between two sides along rungs that were measured together.

    Parameters
    ----------
    rungs
        For each rung the two sides, at least two rungs.
    seed
        Seed of the generator: the same seed gives the same intervals.

    Raises
    ------
    ValueError
        If there are fewer than two rungs or a median of B is not above zero.

    Notes
    -----
    All rungs are resampled together, so that a gap and the steps on both of its sides are of one world. Where every
    side has as many processes and known starts, the k-th process of each side by time is one round, and rounds are
    resampled: drift that all share cancels. Else the processes of each side are resampled apart.

    Examples
    --------
    >>> side = lambda value: Processes.of([value] * 8)
    >>> ladder = ladder_of_differences([(side(9.0), side(5.0)), (side(6.0), side(5.0))], seed=1)
    >>> ladder.steps[0].value, ladder.shares[0].value, ladder.remainder_share.value
    (3.0, 0.75, 0.25)
    """
    if len(rungs) < 2:
        raise ValueError("a ladder has at least two rungs")
    if any(median(b.values) <= 0 for _, b in rungs):
        raise ValueError("the second side's medians must be above zero")
    sides = [side for rung in rungs for side in rung]
    in_rounds = len({side.values.size for side in sides}) == 1 and all(side.starts is not None for side in sides)
    method = _METHOD.format("rounds of processes" if in_rounds else "processes")
    fewest = min(side.values.size for side in sides)
    drawn = _drawn(sides, in_rounds, seed)
    gaps = drawn[:, ::2] - drawn[:, 1::2]
    observed = np.array([median(a.values) - median(b.values) for a, b in rungs])
    steps, observed_steps = gaps[:, :-1] - gaps[:, 1:], observed[:-1] - observed[1:]

    def intervals(values: Floats, draws: Floats) -> tuple[Interval, ...]:
        return tuple(percentile_intervals(values, draws, fewest, method))

    of_gaps = intervals(observed, gaps)
    shares: tuple[Interval | None, ...] = (None,) * len(observed_steps)
    remainder = None
    if not of_gaps[0].contains(0.0):
        base = np.where(np.sign(gaps[:, :1]) == np.sign(observed[0]), gaps[:, :1], observed[0])
        shares = intervals(observed_steps / observed[0], steps / base)
        [remainder] = intervals(observed[-1:] / observed[0], gaps[:, -1:] / base)
    base_b = np.array([median(b.values) for _, b in rungs])
    relative = intervals(observed / base_b, gaps / drawn[:, 1::2])
    return Ladder(of_gaps, intervals(observed_steps, steps), relative, shares, remainder)


def _drawn(sides: Sequence[Processes], in_rounds: bool, seed: int) -> Floats:
    """Medians of resampled processes, shape (resamples, sides)."""
    generator = np.random.default_rng(seed)
    columns = []
    rounds = places_drawn(sides[0].values.size, generator)
    for side in sides:
        chosen = rounds if in_rounds else places_drawn(side.values.size, generator)
        columns.append(medians_drawn(side.in_time if in_rounds else side.values, chosen))
    return np.stack(columns, axis=1)
