"""The noise of each row from rounds of one plan: its scatter, how far rounds are apart, what a check would see."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev, variance

import numpy as np

from clonometer.results.check.check import ERROR_RATE
from clonometer.results.compare.judge import LEAST_PROCESSES, POWER
from clonometer.results.compare.moments import ASSUMED_MOMENTS
from clonometer.results.compare.pairing import kind_of
from clonometer.results.noise.types import NoiseRow
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.results.types import RowName
from clonometer.stats.changes import LogChange
from clonometer.stats.quantiles import MAD_TO_SIGMA

#: The standard error of a median is that of a mean times this, for normal values.
_MEDIAN_ERROR = math.sqrt(math.pi / 2)
_LEAST_ROUNDS = 3


def noise_rows(
    rounds: Sequence[Book], half: Book, *, tests: int, max_regression: float
) -> tuple[tuple[NoiseRow, ...], float | None]:
    """Find the noise of every row, and that of all rows together.

    ``half`` is a run of ordinary length, which says what is compared and with how many processes. The rest is of
    the checks whose power is told.

    Returns
    -------
    rows
        One for each row of times of ``half``.
    common
        The standard deviation of what all rows of a round have in common, as a share; None with fewer than three
        rounds, or with one kind of process.
    """
    named = {row.estimate.name: row for row in half.rows if no_ratio_of(row) is None}
    levels = {name: levels for name in named if (levels := _levels(rounds, name)) is not None}
    common = _common(named, levels)
    rows = []
    for name, measured in named.items():
        in_rounds = [row for side in rounds if (row := _find(side, name)) is not None]
        spread = _spread(in_rounds)
        between = _between(levels.get(name), common, spread, fmean(row.processes.values.size for row in in_rounds))
        assumed = ASSUMED_MOMENTS.of(measured.estimate) if between is None else between
        processes = measured.processes.values.size
        error = math.sqrt(2 / processes) * _MEDIAN_ERROR * spread
        change = LogChange(0.0, error, error, math.sqrt(2) * assumed, max(1, processes - 1))
        smallest = max(max_regression, math.expm1(change.needed(ERROR_RATE / max(tests, 1), POWER)))
        never = measured.estimate.is_first_launch or processes < LEAST_PROCESSES
        rows.append(NoiseRow(measured.estimate, spread, between, None if never else smallest))
    return tuple(rows), None if common is None else stdev(common)


def _find(side: Book, name: RowName) -> Evidence | None:
    cell, quantity, placement = name
    row = side.cells.get(cell, {}).get((quantity, placement))
    return row if row is not None and no_ratio_of(row) is None else None


def _levels(rounds: Sequence[Book], name: RowName) -> list[float] | None:
    """How far a row's median lies from its mean over the rounds in each, on the logarithm; None where these are few."""
    rows = [_find(side, name) for side in rounds]
    if len(rounds) < _LEAST_ROUNDS or None in rows:
        return None
    logs = [math.log(median(row.processes.values.tolist())) for row in rows if row is not None]
    return [value - fmean(logs) for value in logs]


def _common(named: Mapping[RowName, Evidence], levels: Mapping[RowName, Sequence[float]]) -> list[float] | None:
    """What the kinds of process have in common in each round: a slower machine makes all of them slower."""
    kinds: dict[str, list[Sequence[float]]] = {}
    for name, row_levels in levels.items():
        if not named[name].estimate.is_first_launch:
            kinds.setdefault(kind_of(named[name].estimate), []).append(row_levels)
    if len(kinds) < 2:
        return None
    of_kinds = [[median(values) for values in zip(*rows, strict=True)] for rows in kinds.values()]
    return [median(values) for values in zip(*of_kinds, strict=True)]


def _spread(rows: Sequence[Evidence]) -> float:
    """How far process medians scatter about their round's median, on the logarithm."""
    logs = [np.log(row.processes.values) for row in rows]
    residuals = np.concatenate([values - np.median(values) for values in logs])
    return float(MAD_TO_SIGMA * np.median(np.abs(residuals)))


def _between(
    levels: Sequence[float] | None, common: Sequence[float] | None, spread: float, size: float
) -> float | None:
    """How far rounds are apart beyond what all share and what the scatter of processes explains."""
    if levels is None:
        return None
    beyond = [level - shared for level, shared in zip(levels, common or [0.0] * len(levels), strict=True)]
    return math.sqrt(max(0.0, variance(beyond) - (_MEDIAN_ERROR * spread) ** 2 / size))
