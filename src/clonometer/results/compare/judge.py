"""The one rule of `compare` and `check`: what each row changed by, and which changes are sure together.

A row's interval joins the scatter of its processes with what two runs of the machine differ by, which several runs
of a side say themselves. docs/comparing.md has the rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from statistics import variance as sample_variance

import numpy as np

from clonometer.results.change import Change
from clonometer.results.compare.between import bounded_variance, is_of_machine, rest_factor
from clonometer.results.compare.pairing import kind_of
from clonometer.results.compare.sides import RowPair
from clonometer.results.compare.types import ComparedRow
from clonometer.results.compare.variance import BetweenRunVariance, NoiseSource
from clonometer.results.rows.ratio import no_ratio_of, ratio_of
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Estimate
from clonometer.stats.changes import (
    LogChange,
    change_of_pairs,
    change_of_ratio,
    change_of_runs,
    variance_of_runs,
)
from clonometer.stats.interval import CONFIDENCE, LEAST_NOMINAL
from clonometer.stats.multiplicity import score
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import Floats
from clonometer.stats.rank_sum import two_sided_p
from clonometer.stats.verdict import ERROR_RATE, LIKELY_RATE, Contrast, Ruling, judged
from clonometer.units import format_share
from clonometer.verdicts import Direction, Word

#: With fewer processes on a side no 95% interval of a median exists, and a row gets no verdict.
LEAST_PROCESSES = LEAST_NOMINAL
#: How surely a change is found that is called detectable.
POWER = 0.95
#: The logarithm of the largest ratio that is written.
_LARGEST = 700.0


@dataclass(frozen=True)
class PendingTest:
    """One row before it is judged: both sides, how uncertain the change is, and what all others did meanwhile.

    ``rest`` is the logarithm of the median change of all other kinds of process; None within one run, of hosts, and
    where there is no other kind. ``of_units``: hosts are the units, not processes. ``ranks_p`` is that of the
    processes' ranks.
    """

    row: ComparedRow
    change: LogChange | None
    rest: float | None = None
    of_units: bool = False
    ranks_p: float = 0.0

    @property
    def is_tested(self) -> bool:
        """Whether it can have a verdict; that depends on how much was measured, never on what came out."""
        return self.change is not None and (self.of_units or self.row.n_processes >= LEAST_PROCESSES)

    @property
    def comparison(self) -> Contrast:
        """What is tested: whether the row changed, and further than the rest did, which the machine may have."""
        assert self.change is not None
        sizes = None if self.of_units else (self.row.base.n_processes, self.row.other.n_processes)
        return Contrast(self.change, self.ranks_p, sizes, self.rest or 0.0)


@dataclass(frozen=True)
class UnitRow:
    """One row of two sides whose units are hosts: the logarithm of a median for each.

    ``paired``: both sides have the same units, in one order, and each is compared with itself.
    """

    base: Estimate
    other: Estimate
    base_logs: Sequence[float]
    other_logs: Sequence[float]
    paired: bool = False

    @property
    def variance(self) -> float:
        """That between units, or of their differences where they are paired."""
        if self.paired:
            return sample_variance(self._differences)
        return variance_of_runs(self.base_logs, self.other_logs)

    def change(self, typical: float | None) -> LogChange:
        """What the row changed by; ``typical``: the variance of rows like it."""
        if self.paired:
            return change_of_pairs(self._differences, typical)
        return change_of_runs(self.base_logs, self.other_logs, typical)

    @property
    def _differences(self) -> list[float]:
        return [other - base for base, other in zip(self.base_logs, self.other_logs, strict=True)]


def unit_drafts(rows: Sequence[UnitRow]) -> list[PendingTest]:
    """Find what rows of units changed by; each has three units or more, or two pairs."""
    typical = _typical_variances(rows)
    return [_unit_draft(row, typical) for row in rows]


def _unit_draft(row: UnitRow, typical: Mapping[bool, float]) -> PendingTest:
    change = row.change(typical.get(row.base.is_first_launch))
    method = "normal interval of the hosts' logarithms"
    bare = Change(base=row.base, other=row.other, value=_ratio(change.value), method=method)
    return PendingTest(ComparedRow(bare), change, of_units=True)


def pending_tests(matches: Sequence[RowPair], variance: BetweenRunVariance) -> list[PendingTest]:
    """Find what each row changed by, and how sure that is.

    All matches have as many runs, or are of one run. Where nobody knows how far runs are apart, these bound it.
    """
    if any(match.same_run for match in matches):
        return [_draft(match, variance) for match in matches]
    if variance.source == NoiseSource.UNKNOWN:
        variance = bounded_variance(matches, variance)
    listed = [_draft(match, variance) for match in matches]
    changes, of_runs = _changes_of_kinds(listed), _rest_of_runs(matches)
    return [_beside_rest(draft, changes, of_runs) for draft in listed]


def adjusted(
    listed: Sequence[PendingTest],
    *,
    minimum_effect: float,
    error_rate: float,
    likely_rate: float = LIKELY_RATE,
    tests: int = 0,
) -> list[ComparedRow]:
    """Judge rows as one family.

    In their order; each with the interval that decided.

    Parameters
    ----------
    listed
        What `pending_tests` gave.
    minimum_effect
        The least change that gets a verdict, as a share.
    error_rate, likely_rate
        Of the changes that are sure, and likely, so many are wrong; where nothing changed it is the chance of any.
    tests
        How many rows the family has, if more.
    """
    size = max(n_tests(listed), tests)
    comparisons = [draft.comparison for draft in listed if draft.is_tested]
    verdicts = iter(judged(comparisons, error_rate, size, likely_rate))
    return [
        _with_verdict(draft, next(verdicts), f"false discovery rate of {size} rows", minimum_effect)
        if draft.is_tested
        else _untested(draft)
        for draft in listed
    ]


def n_tests(listed: Sequence[PendingTest]) -> int:
    """How many rows can have a verdict."""
    return sum(draft.is_tested for draft in listed)


def detectable(draft: PendingTest, error_rate: float, tests: int, least: float) -> float | None:
    """The smallest slow-down of a row that would be sure in 95% of cases, as a share of at least ``least``.

    None of a row that can have no verdict, and where nobody knows how far runs are apart.
    """
    change = draft.change
    if change is None or not draft.is_tested:
        return None
    return max(least, _ratio(change.needed(error_rate / max(tests, 1), POWER)) - 1)


def resolution_share(row: ComparedRow) -> float:
    """Give one step of the clock as a share of the smaller median; 0 for what no clock has measured."""
    if not row.is_time:
        return 0.0
    least = min(row.base.median_ns or 0.0, row.other.median_ns or 0.0)
    return max(row.base.resolution_ns, row.other.resolution_ns) / least


def _draft(match: RowPair, variance: BetweenRunVariance) -> PendingTest:
    reason = no_ratio_of(*match.bases, *match.others)
    row = ComparedRow(Change(base=_estimate_of(match.bases), other=_estimate_of(match.others)), reason=reason)
    if reason is not None:
        return PendingTest(_without_ratio(row, match), None)
    base, other = joined(match.bases), joined(match.others)
    ratio = ratio_of(other, base)
    between = variance.of(row.base)
    method = ratio.method + ("" if match.same_run else "; with the noise between runs")
    row = row.changed(value=ratio.value, method=method, n=row.n_processes)
    row = replace(row, between=None if match.same_run else between)
    if row.n_processes < LEAST_PROCESSES:
        return PendingTest(row, None)
    apart = math.sqrt(1 / len(match.bases) + 1 / len(match.others))
    change = change_of_ratio(ratio, apart * (between or 0.0), variance.degrees_of(row.base))
    return PendingTest(row, change, ranks_p=two_sided_p(base.processes.values, other.processes.values))


def joined(side: Sequence[RunEstimate]) -> RunEstimate:
    """One row of all processes of a side, each of its runs brought to the level of the side."""
    if len(side) == 1:
        return side[0]
    logs = _logs(side)
    about = np.concatenate([row.processes.in_time / math.exp(log) for row, log in zip(side, logs, strict=True)])
    return replace(side[0], processes=Processes.of(about * (math.exp(fmean(logs)) / np.median(about))))


def _without_ratio(row: ComparedRow, match: RowPair) -> ComparedRow:
    """Zero in every process of both sides has no ratio and is the same: a count of what never happened."""
    values = [side.processes.values for side in (*match.bases, *match.others)]
    if not row.is_time and row.n_processes >= LEAST_PROCESSES and not any(side.any() for side in values):
        return replace(row.changed(direction=Direction.EQUAL), reason=None)
    return row


def _logs(side: Sequence[RunEstimate]) -> list[float]:
    return [float(np.log(np.median(row.processes.values))) for row in side]


def _estimate_of(side: Sequence[RunEstimate]) -> Estimate:
    """One side's row: of several runs the mean of their medians (on the logarithm), with its interval over runs."""
    if len(side) == 1:
        return side[0]
    samples, n_processes = (sum(getattr(row, name) for row in side) for name in ("n_samples", "n_processes"))
    processes = Processes.of(np.concatenate([row.processes.values for row in side]))
    pooled = replace(side[0], processes=processes, n_samples=samples, n_processes=n_processes)
    if no_ratio_of(*side) is not None:
        return pooled
    return of_units(pooled, _logs(side))


def of_units(pooled: Estimate, logs: Sequence[float]) -> Estimate:
    """A side's row: the mean of its units' medians (on the logarithm), with its 95% interval over units.

    Parameters
    ----------
    pooled
        Of all units: what it is about, how many samples and processes there are; it is a time where it has no value.
    logs
        One a unit; a single one has no interval.
    """
    centre, degrees = fmean(logs), len(logs) - 1
    ends: tuple[float | None, float | None] = (None, None)
    if degrees:
        half = score(1 - CONFIDENCE, degrees) * math.sqrt(sample_variance(logs) / len(logs))
        ends = math.exp(centre - half), math.exp(centre + half)
    if pooled.value is None:
        return replace(pooled, median_ns=math.exp(centre), median_low_ns=ends[0], median_high_ns=ends[1])
    return replace(pooled, value=math.exp(centre), value_low=ends[0], value_high=ends[1])


def _typical_variances(rows: Sequence[UnitRow]) -> dict[bool, float]:
    """The variance between units of first launches and of other rows, where there are several cells of them."""
    cells: dict[bool, dict[str, list[float]]] = {}
    for row in rows:
        cells.setdefault(row.base.is_first_launch, {}).setdefault(row.base.cell, []).append(row.variance)
    return {
        first: fmean(fmean(values) for values in of_cells.values())
        for first, of_cells in cells.items()
        if len(of_cells) > 1
    }


_Changes = Mapping[str | None, Mapping[str, float]]


def _changes_of_kinds(listed: Sequence[PendingTest]) -> _Changes:
    """The change of each kind of process, by temperature: the median of its rows, on the logarithm."""
    rows: dict[str | None, dict[str, list[float]]] = {}
    for draft in listed:
        if draft.change is not None and is_of_machine(draft.row.other):
            of_kind = rows.setdefault(draft.row.other.temperature, {}).setdefault(kind_of(draft.row.other), [])
            of_kind.append(draft.change.value)
    return {
        temperature: {kind: median(values) for kind, values in kinds.items()} for temperature, kinds in rows.items()
    }


def _rest_of_runs(matches: Sequence[RowPair]) -> dict[str | None, LogChange]:
    """What all kinds of process changed by together, by temperature; nothing where each side is one run."""
    rows: dict[str | None, dict[str, list[Floats]]] = {}
    for match in matches:
        if match.several and is_of_machine(match.other) and no_ratio_of(*match.bases, *match.others) is None:
            kinds = rows.setdefault(match.other.temperature, {})
            kinds.setdefault(kind_of(match.other), []).append(np.array(_logs(match.bases + match.others)))
    n_bases = len(matches[0].bases) if matches else 0
    # Each kind by its distance from its first run: kinds take differently long.
    levels = {
        temperature: np.median(
            [np.median(listed, axis=0) - np.median(listed, axis=0)[0] for listed in its.values()], axis=0
        )
        for temperature, its in rows.items()
    }
    return {name: change_of_runs(level[:n_bases], level[n_bases:]) for name, level in levels.items()}


def _beside_rest(draft: PendingTest, changes: _Changes, of_runs: Mapping[str | None, LogChange]) -> PendingTest:
    if draft.change is None or not is_of_machine(draft.row.other):
        return draft
    kind = kind_of(draft.row.other)
    others = [change for name, change in changes.get(draft.row.other.temperature, {}).items() if name != kind]
    if not others:
        return draft
    rest = median(others)
    row = replace(draft.row, rest=math.exp(rest))
    # The rest is a median of rows like this one, and that much more uncertain the distance from it is.
    change = draft.change.widened(rest_factor(len(others)))
    # Several runs of a side may show that the rest itself changed.
    its = of_runs.get(draft.row.other.temperature)
    is_real = its is not None and its.p_value() <= ERROR_RATE
    return replace(draft, row=row, change=change, rest=0.0 if is_real else rest)


def _untested(draft: PendingTest) -> ComparedRow:
    """A row without a verdict, and without a ratio where the processes are too few for one."""
    row = draft.row
    if row.reason is not None or row.n_processes >= LEAST_PROCESSES:
        return row
    reason = f"fewer than {LEAST_PROCESSES} processes on a side: no ratio"
    return replace(row.changed(value=None), reason=reason)


def _with_verdict(draft: PendingTest, verdict: Ruling, correction: str, minimum_effect: float) -> ComparedRow:
    assert draft.change is not None
    low, high = map(_ratio, draft.change.ends(verdict.level))
    ends = (verdict.at_least, verdict.told_from)
    least, told_from = (None if end is None else _ratio(end) for end in ends)
    row = draft.row.changed(
        low=low, high=high, confidence=1 - verdict.level, correction=correction, p=verdict.p, told_from=told_from
    )
    step = resolution_share(row)
    size = row.change.size - 1
    if size >= max(minimum_effect, step) and verdict.word != Word.OPEN:
        is_sure = verdict.word == Word.SURE
        direction = Direction.of(draft.change.value) if is_sure else Direction.UNKNOWN
        return row.changed(direction=direction, word=verdict.word, at_least=least)
    if size >= max(minimum_effect, step) and max(draft.change.p_value(), draft.ranks_p) <= verdict.level:
        return replace(row, common_shift=True)
    # What the clock cannot tell apart is not known to be the same.
    farthest = max(high - 1, 1 / low - 1, step)
    if farthest <= minimum_effect:
        return replace(row.changed(direction=Direction.EQUAL, word=Word.SURE), within=_rounded_up(farthest))
    if size < step > minimum_effect:
        return replace(row, reason=f"one step of the clock is {format_share(step)} of it")
    return row


def _ratio(logarithm: float) -> float:
    """The ratio of a logarithm; of what has no number any more the greatest or least that is one."""
    return math.exp(min(max(logarithm, -_LARGEST), _LARGEST))


def _rounded_up(share: float) -> float:
    """Round up to a tenth of a percent, at least one."""
    return max(math.ceil(share * 1000 - 1e-9), 1) / 1000
