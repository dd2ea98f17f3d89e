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
from clonometer.results.compare.between import is_of_machine, rest_factor
from clonometer.results.compare.pairing import kind_of
from clonometer.results.compare.sides import RowPair
from clonometer.results.compare.types import ComparedRow
from clonometer.results.compare.variance import BetweenRunVariance
from clonometer.results.rows.ratio import no_ratio_of, ratio_of
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes
from clonometer.stats.changes import (
    LogChange,
    change_of_pairs,
    change_of_ratio,
    change_of_runs,
    sure_levels,
    variance_of_runs,
)
from clonometer.stats.interval import CONFIDENCE, LEAST_NOMINAL
from clonometer.stats.multiplicity import score
from clonometer.stats.quantiles import Floats
from clonometer.units import format_share
from clonometer.verdicts import Direction

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
    where there is no other kind. ``of_units``: hosts are the units, not processes. ``wider`` says how many times the
    rest has made the change as uncertain. ``conditional``: nobody knows how far runs of the machine are apart, so that
    nothing is sure. ``apart``: how many times as far as two runs' medians from their level the sides are from each
    other. ``rest_of_runs``: what the rest changed by, each run of the sides being one value.
    """

    row: ComparedRow
    change: LogChange | None
    rest: float | None = None
    of_units: bool = False
    wider: float = 1.0
    conditional: bool = False
    apart: float = math.sqrt(2)
    rest_of_runs: LogChange | None = None

    @property
    def is_tested(self) -> bool:
        """Whether it can have a verdict; that depends on how much was measured, never on what came out."""
        return self.change is not None and (self.of_units or self.row.n_processes >= LEAST_PROCESSES)

    def leaves_out_none(self, level: float) -> bool:
        """Whether the row changed at all: its interval leaves out 0."""
        return _leaves_out_none(self._ends(level))

    def is_sure(self, level: float) -> bool:
        """Whether the row changed, and further than the rest did.

        A slower machine makes every row slower: what goes no further than the rest may be its doing, unless several
        runs of a side show that the rest itself changed.
        """
        low, high = self._ends(level)
        is_real = self.rest_of_runs is not None and _leaves_out_none(self.rest_of_runs.ends(level))
        rest = 0.0 if is_real else self.rest or 0.0
        return low > max(0.0, rest) or high < min(0.0, rest)

    def turning(self, level: float) -> float | None:
        """The standard deviation between runs, a share, up to which the row would be sure; None where it never is."""
        assert self.change is not None
        variance = self.change.turning(level, self.rest or 0.0)
        return None if variance is None else variance / (self.apart * self.wider)

    def _ends(self, level: float) -> tuple[float, float]:
        assert self.change is not None
        return self.change.ends(level)


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

    All matches have as many runs, or are of one run.
    """
    listed = [_draft(match, variance) for match in matches]
    if any(match.same_run for match in matches):
        return listed
    changes, of_runs = _changes_of_kinds(listed), _rest_of_runs(matches)
    return [_beside_rest(draft, changes, of_runs) for draft in listed]


def adjusted(
    listed: Sequence[PendingTest], *, minimum_effect: float, error_rate: float, tests: int | None = None
) -> list[ComparedRow]:
    """Judge rows as one family.

    In their order; each with the interval that decided.

    Parameters
    ----------
    listed
        What `pending_tests` gave.
    minimum_effect
        The least change that gets a verdict, as a share.
    error_rate
        The chance that any verdict is wrong where nothing changed.
    tests
        How many rows the family has, if more.
    """
    size = max(n_tests(listed), tests or 0)
    tested = [draft for draft in listed if draft.is_tested and not draft.conditional]
    levels, sure = sure_levels(lambda place, level: tested[place].is_sure(level), len(tested), error_rate, size)
    verdicts = iter(zip(levels, sure, strict=True))
    rows, correction = [], f"Holm, {size} rows"
    for draft in listed:
        if draft.is_tested and draft.conditional:
            row = _with_interval(draft, error_rate / size, correction)
            rows.append(_with_condition(row, draft, error_rate / size, minimum_effect))
        elif draft.is_tested:
            level, is_sure = next(verdicts)
            row = _with_interval(draft, level, correction)
            rows.append(_with_verdict(row, draft, level, is_sure, minimum_effect))
        else:
            rows.append(_untested(draft))
    return rows


def n_tests(listed: Sequence[PendingTest]) -> int:
    """How many rows can have a verdict."""
    return sum(draft.is_tested for draft in listed)


def detectable(draft: PendingTest, error_rate: float, tests: int, least: float) -> float | None:
    """The smallest slow-down of a row that would be sure in 95% of cases, as a share of at least ``least``.

    None of a row that can have no verdict, and where nobody knows how far runs are apart.
    """
    change = draft.change
    if change is None or not draft.is_tested or draft.conditional:
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
    ratio = ratio_of(other, base, seed=match.seed, same_run=match.same_run)
    between = 0.0 if match.same_run else variance.of(row.base)
    method = ratio.method + ("" if match.same_run else "; with the noise between runs")
    row = row.changed(value=ratio.value, method=method, n=row.n_processes)
    row = replace(row, between=None if match.same_run else between)
    if row.n_processes < 2:
        return PendingTest(replace(row, reason="one process on a side: no interval"), None)
    apart = math.sqrt(1 / len(match.bases) + 1 / len(match.others))
    change = change_of_ratio(ratio, apart * (between or 0.0), variance.degrees_of(row.base))
    return PendingTest(row, change, conditional=between is None, apart=apart)


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
    # The rest is a median of rows like this one, and that much more uncertain the distance from it is.
    wider = rest_factor(len(others))
    row = replace(draft.row, rest=math.exp(rest))
    return replace(
        draft,
        row=row,
        change=draft.change.widened(wider),
        rest=rest,
        wider=wider,
        rest_of_runs=of_runs.get(draft.row.other.temperature),
    )


def _leaves_out_none(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 or ends[1] < 0


def _untested(draft: PendingTest) -> ComparedRow:
    """A row without a verdict: what is known of it by itself."""
    if draft.change is None:
        return draft.row
    reason = f"fewer than {LEAST_PROCESSES} processes on a side: no verdict"
    return replace(_with_interval(draft, 1 - CONFIDENCE), reason=reason)


def _with_interval(draft: PendingTest, level: float, correction: str = "") -> ComparedRow:
    assert draft.change is not None
    low, high = map(_ratio, draft.change.ends(level))
    return draft.row.changed(low=low, high=high, confidence=1 - level, correction=correction)


def _with_condition(row: ComparedRow, draft: PendingTest, level: float, minimum_effect: float) -> ComparedRow:
    """A row of two runs of which nobody knows how far they are apart: its interval is that within these runs."""
    if row.change.size - 1 < max(minimum_effect, resolution_share(row)):
        return row
    return replace(row, turns_at=draft.turning(level))


def _with_verdict(
    row: ComparedRow, draft: PendingTest, level: float, is_sure: bool, minimum_effect: float
) -> ComparedRow:
    change, step = row.change, resolution_share(row)
    size = change.size - 1
    if draft.leaves_out_none(level) and size >= max(minimum_effect, step):
        if not is_sure:
            return replace(row, common_shift=True)
        return row.changed(direction=Direction.MORE if change.rises else Direction.LESS)
    assert change.low is not None
    assert change.high is not None
    # What the clock cannot tell apart is not known to be the same.
    farthest = max(change.high - 1, 1 / change.low - 1, step)
    if farthest <= minimum_effect:
        return replace(row.changed(direction=Direction.EQUAL), within=_rounded_up(farthest))
    if size < step > minimum_effect:
        return replace(row, reason=f"one step of the clock is {format_share(step)} of it")
    return row


def _ratio(logarithm: float) -> float:
    """The ratio of a logarithm; of what has no number any more the greatest or least that is one."""
    return math.exp(min(max(logarithm, -_LARGEST), _LARGEST))


def _rounded_up(share: float) -> float:
    """Round up to a tenth of a percent, at least one."""
    return max(math.ceil(share * 1000 - 1e-9), 1) / 1000
