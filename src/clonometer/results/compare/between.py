"""How far runs of a machine are apart, row by row, from runs between which nothing was changed.

What counts is what `clonometer.results.compare.judge` must know: how far a row moves from one run to the next beside
the rest, which the scatter of its processes does not explain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import fmean

import numpy as np

from clonometer.families import family
from clonometer.results.compare.pairing import kind_of
from clonometer.results.compare.sides import RowPair
from clonometer.results.compare.variance import FIRST_SHARE, BetweenRunVariance, NoiseSource, pooled_degrees
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import Estimate, RowName
from clonometer.stats.interval import LEAST_NOMINAL
from clonometer.stats.quantiles import MAD_TO_SIGMA, Floats
from clonometer.stats.verdict import LAYOUT
from clonometer.stats.wander import most_added_variance, typical_wandering

#: The standard error of a median is that of a mean times this, for normal values.
MEDIAN_ERROR = math.sqrt(math.pi / 2)
#: The median of so many values is their mean; that of more is less sure, by a variance of pi / 2 for normal values.
_MEAN_OF = 2
#: Fewer kinds of process do not show what most of them did.
_LEAST_KINDS = 8


@dataclass(frozen=True)
class ApartRuns:
    """How far runs are apart, as standard deviations of logarithms.

    Attributes
    ----------
    rows
        Of each row that every run has: beside the rest, and beyond what its processes explain.
    typical
        The same of all rows together, of first launches (True) and of others; None where there are none.
    common
        Of what all kinds of process but first launches have in common; None where there is one kind.
    degrees
        The degrees of freedom of ``typical``: runs but one for each group, times kinds of process but one.
    """

    rows: Mapping[RowName, float]
    typical: Mapping[bool, float | None]
    common: float | None
    degrees: Mapping[bool, int]


def between_runs(groups: Sequence[Sequence[RunEstimates]]) -> ApartRuns | None:
    """Find how far runs of one plan are apart within groups of them; None with too few, or without a row that all have.

    Between the runs of a group nothing was changed; a group of one run says nothing.
    """
    sizes = [len(group) for group in groups]
    rows = _in_all([run for group in groups for run in group])
    left = sum(sizes) - len(sizes)
    if not left or not rows:
        return None
    levels = {name: _levels(of_runs, sizes) for name, of_runs in rows.items()}
    kinds: dict[str | None, dict[str, list[Floats]]] = {}
    for name, of_runs in rows.items():
        if is_of_machine(estimate := of_runs[0]):
            kinds.setdefault(estimate.temperature, {}).setdefault(kind_of(estimate), []).append(levels[name])
    of_kinds = {
        temperature: {kind: np.median(listed, axis=0) for kind, listed in its.items()}
        for temperature, its in kinds.items()
    }
    apart = {name: _apart(of_runs, levels[name], of_kinds, left) for name, of_runs in rows.items()}
    typical: dict[bool, float | None] = {}
    degrees: dict[bool, int] = {}
    for which in (False, True):
        names = [name for name, of_runs in rows.items() if of_runs[0].is_first_launch is which]
        # What the processes explain is taken off before a variance below zero is: else a quiet machine is never quiet.
        typical[which] = math.sqrt(max(0.0, fmean(apart[name] for name in names))) if names else None
        degrees[which] = pooled_degrees(left, len({kind_of(rows[name][0]) for name in names}))
    shares = {name: math.sqrt(max(0.0, squared)) for name, squared in apart.items()}
    return ApartRuns(shares, typical, _common(rows, levels, left), degrees)


def stored_variance(
    groups: Sequence[Sequence[RunEstimates]], source: NoiseSource = NoiseSource.STORED_RUNS
) -> BetweenRunVariance | None:
    """What groups of runs of one machine and one plan say of how far its runs are apart; None where they say nothing.

    Between the runs of a group nothing was changed.
    """
    between = between_runs(groups)
    if between is None:
        return None
    runs = [run for group in groups if len(group) > 1 for run in group]
    began = [datetime.fromisoformat(run.document.started) for run in runs]
    span_s = (max(began) - min(began)).total_seconds() if began else 0.0
    typical, degrees = between.typical, between.degrees
    return BetweenRunVariance(
        source, typical[False], typical[True], between.rows, degrees[False], degrees[True], len(runs), span_s
    )


def within_run(run: RunEstimates) -> BetweenRunVariance:
    """What the processes of a row share within a run: its layout, and what a typical row of the run wandered."""
    groups: dict[tuple[str | None, str | None], list[Floats]] = {}
    for row in run.rows:
        if row.processes.least > 0:
            groups.setdefault((row.stage, row.temperature), []).append(np.log(row.processes.in_time))
    variance, known = typical_wandering(groups.values())
    share = math.sqrt(LAYOUT**2 + variance / 2)
    degrees = known if variance else None
    return BetweenRunVariance(NoiseSource.ONE_RUN, share, share, degrees=degrees, first_degrees=degrees)


def bounded_variance(matches: Sequence[RowPair], unknown: BetweenRunVariance) -> BetweenRunVariance:
    """How far two runs are apart where nobody has measured it: bounded by what these runs show themselves.

    With 8 kinds of process or more most of them did not change, and how far these differ beside the rest, beyond what
    their processes explain, is what runs differ by: an empirical null distribution [1]_. With fewer it is the scatter
    of the processes within the runs. Never below what another layout may do, nor for first launches below what they
    differ by elsewhere.

    References
    ----------
    .. [1] B. Efron, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", JASA 99 (2004)
           96-104.
    """
    bounds = []
    for first in (False, True):
        pairs = [(match.base, match.other) for match in matches if match.base.is_first_launch is first]
        bounds.append(_bound([pair for pair in pairs if no_ratio_of(*pair) is None], FIRST_SHARE if first else LAYOUT))
    return replace(unknown, share=bounds[0], first_share=bounds[1])


def _bound(pairs: Sequence[tuple[RunEstimate, RunEstimate]], least: float) -> float:
    """The standard deviation of a run's level."""
    enough = [pair for pair in pairs if min(row.processes.values.size for row in pair) >= LEAST_NOMINAL]
    if not enough:
        return least
    kinds: dict[str, list[tuple[float, float]]] = {}
    for base, other in enough:
        if is_of_machine(other):
            sides = [row.processes.values for row in (base, other)]
            error = MEDIAN_ERROR * spread_of([base, other])
            change = math.log(np.median(sides[1]) / np.median(sides[0]))
            kinds.setdefault(kind_of(other), []).append((change, error**2 * sum(1 / side.size for side in sides)))
    if len(kinds) < _LEAST_KINDS:
        return max(least, float(np.median([spread_of(pair) for pair in enough])))
    changes, errors = np.array([np.median(rows, axis=0) for rows in kinds.values()]).T
    squares = (changes - np.median(changes)) ** 2
    return max(least, math.sqrt(most_added_variance(squares, errors) / 2))


def is_of_machine(estimate: Estimate) -> bool:
    """Whether a row feels what the machine's speed does to tasks: clocks and empty loops feel no neighbour."""
    return estimate.value is None and not family(estimate.family).control


def rest_factor(others: int) -> float:
    """How many times as uncertain a row is beside the rest, which is the median of so many others like it."""
    return math.sqrt(1 + (1.0 if others <= _MEAN_OF else math.pi / 2) / others)


def spread_of(rows: Sequence[RunEstimate]) -> float:
    """How far process medians scatter about their run's median, on the logarithm."""
    logs = [np.log(row.processes.values) for row in rows]
    residuals = np.concatenate([values - np.median(values) for values in logs])
    return float(MAD_TO_SIGMA * np.median(np.abs(residuals)))


def find_row(run: RunEstimates, name: RowName) -> RunEstimate | None:
    """A row of a run; None where it has none, or none with a ratio."""
    cell, quantity, placement = name
    row = run.cells.get(cell, {}).get((quantity, placement))
    return row if row is not None and no_ratio_of(row) is None else None


def _in_all(runs: Sequence[RunEstimates]) -> dict[RowName, list[RunEstimate]]:
    rows: dict[RowName, list[RunEstimate]] = {}
    for row in runs[0].rows if runs else ():
        listed = [find_row(run, row.name) for run in runs]
        if None not in listed:
            rows[row.name] = [each for each in listed if each is not None]
    return rows


def _levels(rows: Sequence[RunEstimate], sizes: Sequence[int]) -> Floats:
    """How far a row's median lies from its mean over the runs of its group in each, on the logarithm."""
    logs = np.array([math.log(np.median(row.processes.values)) for row in rows])
    # From the first: of equal values nothing is left to rounding.
    groups = [group - group[0] for group in np.split(logs, np.cumsum(sizes)[:-1])]
    return np.concatenate([group - group.mean() for group in groups])


def _apart(
    rows: Sequence[RunEstimate], levels: Floats, of_kinds: Mapping[str | None, Mapping[str, Floats]], left: int
) -> float:
    """The variance of a row between runs, beside the rest; below zero where processes explain more than that."""
    estimate, factor = rows[0], 1.0
    others = [other for kind, other in of_kinds.get(estimate.temperature, {}).items() if kind != kind_of(estimate)]
    if others and is_of_machine(estimate):
        levels, factor = levels - np.median(others, axis=0), rest_factor(len(others))
    explained = (MEDIAN_ERROR * spread_of(rows)) ** 2 / fmean(row.processes.values.size for row in rows)
    return float(np.square(levels).sum()) / left / factor**2 - explained


def _common(rows: Mapping[RowName, Sequence[RunEstimate]], levels: Mapping[RowName, Floats], left: int) -> float | None:
    kinds: dict[str, list[Floats]] = {}
    for name, of_runs in rows.items():
        if not of_runs[0].is_first_launch:
            kinds.setdefault(kind_of(of_runs[0]), []).append(levels[name])
    if len(kinds) < 2:
        return None
    medians = np.median([np.median(listed, axis=0) for listed in kinds.values()], axis=0)
    return math.sqrt(float(np.square(medians).sum()) / left)
