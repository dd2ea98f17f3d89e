"""Runs against a run, and cells of a run against each other: ratios with intervals, and verdicts that hold together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from clonometer.errors import InputError, RunFileError
from clonometer.results.compare.common_shift import beside_the_rest
from clonometer.results.compare.differences import differences
from clonometer.results.compare.pairing import Defaults, incomparable_cells, pair_cells
from clonometer.results.compare.types import (
    FASTER,
    HIGHER,
    LOWER,
    SAME,
    SLOWER,
    UNDECIDED,
    Compared,
    ComparedPair,
    ComparedRow,
    LeftOut,
)
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.evidence import Book, Evidence, RowKey, defaults_of
from clonometer.results.rows.observed import observe
from clonometer.results.rows.ratio import no_ratio_of, ratio_of
from clonometer.results.rows.source import RunSource
from clonometer.results.types import LEAST_EFFECT, Estimate
from clonometer.stats.multiplicity import can_reject, holm
from clonometer.stats.rank_sum import least_p, rank_sum_p
from clonometer.stats.serial import inflated_p, serial_inflations
from clonometer.units import format_share

ERROR_RATE = 0.05
#: With fewer on a side an interval covers too little to call two rows the same.
SAME_PROCESSES = 6
#: The quantile of a process's launches that a neighbour on the machine spares, if it spares one in ten.
FAST_LAUNCHES = 0.1
#: The same of what is no launch: wake-ups have a fast way of their own, which one in ten takes in some runs only.
FAST_OTHERS = 0.25


@dataclass(frozen=True)
class Match:
    """Two rows that are to be compared; ``seed`` is that of the run which both are from, 0 where they are from two."""

    base: Evidence
    other: Evidence
    same_run: bool
    seed: int = 0


def read_side(run: RunSource, name: str) -> Book:
    """Read what a run brings to comparisons: every row with a sample.

    Raises
    ------
    RunFileError
        If the metadata lacks a key of docs/runfile.md, or samples and metadata do not belong together.
    """
    rows = []
    try:
        for row in estimate_cells(observe(run), run.metadata, described=False):
            if row.group is not None and _says_something(row.estimate):
                share = FAST_LAUNCHES if row.estimate.workload.startswith("launch.") else FAST_OTHERS
                # Without its samples: many runs are held at a time.
                rows.append(replace(row, group=None, fast=row.group.process_quantiles(share)))
    except KeyError as error:
        raise RunFileError(f"{name}: the run's metadata lacks {error.args[0]!r}") from error
    except RunFileError as error:
        # Several files are read: each error names its own.
        raise RunFileError(
            error.message if name in error.message else f"{name}: {error.message}", error.hint
        ) from error
    return Book(rows, run.metadata, name)


def _says_something(estimate: Estimate) -> bool:
    """Whether a row has a sample, and is no stage that only explains another: that would be a test for nothing."""
    return estimate.n_samples > 0 and not (estimate.detail and estimate.stage is not None)


def compare_runs(
    sides: Sequence[Book], *, minimum_effect: float = LEAST_EFFECT, error_rate: float = ERROR_RATE
) -> Compared:
    """Compare runs with the first of them, cell by cell.

    Parameters
    ----------
    sides
        Two or more, the first one the base.
    minimum_effect
        The least change that gets a verdict, as a share above 0.
    error_rate
        The chance that any verdict is wrong where nothing changed, over all rows of all runs.

    Returns
    -------
    Compared
        One pair for each further run.

    Raises
    ------
    InputError
        If a run has no cell in common with the base.

    Notes
    -----
    docs/methods.md has the test, its correction and the rules of the verdict.
    """
    base = sides[0]
    matched = []
    for other in sides[1:]:
        matches, left_out = match_runs(base, other)
        if not matches:
            raise InputError(
                f"nothing to compare: {base.name} and {other.name} have no cell in common", _hint(base, other, left_out)
            )
        matched.append((other.name, matches, left_out, differences(base.metadata, other.metadata)))
    rows = judge([match for _, matches, _, _ in matched for match in matches], minimum_effect, error_rate)
    pairs = []
    for name, matches, left_out, differing in matched:
        compared, shifts = beside_the_rest(rows[: len(matches)], minimum_effect)
        pairs.append(ComparedPair(base.name, name, compared, tuple(left_out), differing, shifts))
        rows = rows[len(matches) :]
    return _compared(pairs, minimum_effect, error_rate)


def compare_cells(
    side: Book,
    base_glob: str,
    other_glob: str,
    *,
    minimum_effect: float = LEAST_EFFECT,
    error_rate: float = ERROR_RATE,
) -> Compared:
    """Compare cells of one run with each other.

    Parameters
    ----------
    side
        The run.
    base_glob, other_glob
        Which cells; where several match, those are paired that differ least (`clonometer.results.compare.pairing`).

    Returns
    -------
    Compared
        One pair, named by the globs.

    Raises
    ------
    UsageError
        If a glob matches no cell, or the cells cannot be paired.
    InputError
        If none of the pairs can be compared.
    """
    pairs, alone = pair_cells(_estimates(side), base_glob, other_glob)
    matches: list[Match] = []
    left_out = [LeftOut(cell, "no cell of the other group is a close enough match") for cell in alone]
    for base, other in pairs:
        matched, missing = _match_cells(side.cells[base], side.cells[other], f"{base} and {other}", same_run=True)
        matches += matched
        left_out += missing
    if not matches:
        reasons = "; ".join(dict.fromkeys(entry.reason for entry in left_out))
        raise InputError(f"{base_glob} and {other_glob} cannot be compared: {reasons}")
    # As findings are: a ratio has the same interval in both.
    seed = int(side.metadata["seed"])
    rows = judge([replace(match, seed=seed) for match in matches], minimum_effect, error_rate)
    pair = ComparedPair(base_glob, other_glob, tuple(rows), tuple(left_out), ())
    return _compared([pair], minimum_effect, error_rate)


def _compared(pairs: Sequence[ComparedPair], minimum_effect: float, error_rate: float) -> Compared:
    tests = sum(row.p_value is not None for pair in pairs for row in pair.rows)
    return Compared(tuple(pairs), minimum_effect, error_rate, tests)


def _estimates(side: Book) -> dict[str, Estimate]:
    return {cell: next(iter(rows.values())).estimate for cell, rows in side.cells.items()}


def match_runs(base: Book, other: Book) -> tuple[list[Match], list[LeftOut]]:
    """Find the rows that two runs have in common, and say what is left out and why."""
    matches: list[Match] = []
    left_out: list[LeftOut] = []
    defaults = defaults_of(base.metadata), defaults_of(other.metadata)
    for cell, rows in base.cells.items():
        if cell not in other.cells:
            left_out.append(LeftOut(cell, f"only in {base.name}"))
            continue
        matched, missing = _match_cells(
            rows, other.cells[cell], cell, same_run=False, defaults=defaults, moved=_moved(base, other)
        )
        matches += matched
        left_out += missing
    left_out += [LeftOut(cell, f"only in {other.name}") for cell in other.cells if cell not in base.cells]
    return matches, left_out


def _moved(base: Book, other: Book) -> dict[str, str]:
    """Quantities that end at another point in the two runs (``point`` of docs/protocol.md), each with the reason."""
    first, second = (side.metadata["catalogue"].get("quantities", {}) for side in (base, other))
    points = {name: (first[name].get("point"), second[name].get("point")) for name in first.keys() & second.keys()}
    return {
        name: f"{name} ends at {ends[0] or 'the point of earlier versions'} in {base.name}, "
        f"at {ends[1] or 'the point of earlier versions'} in {other.name}"
        for name, ends in points.items()
        if ends[0] != ends[1]
    }


def _match_cells(
    base: Mapping[RowKey, Evidence],
    other: Mapping[RowKey, Evidence],
    name: str,
    *,
    same_run: bool,
    defaults: tuple[Defaults, Defaults] = ({}, {}),
    moved: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Match], list[LeftOut]]:
    first, second = next(iter(base.values())).estimate, next(iter(other.values())).estimate
    reason = incomparable_cells(first, second, same_run=same_run, defaults=defaults)
    if reason is not None:
        return [], [LeftOut(name, reason)]
    matches, left_out = [], []
    for key, row in base.items():
        if key not in other:
            continue
        its = other[key]
        if row.estimate.unit != its.estimate.unit or row.estimate.stage != its.estimate.stage:
            left_out.append(LeftOut(name, f"{key[0]} does not mean the same in both"))
        elif key[0] in moved:
            left_out.append(LeftOut(name, moved[key[0]]))
        elif same_run and not (row.estimate.rankable and its.estimate.rankable):
            why = row.estimate.not_rankable_reason or its.estimate.not_rankable_reason
            left_out.append(LeftOut(name, f"{key[0]}: {why}"))
        else:
            matches.append(Match(row, its, same_run))
    if not matches and not left_out:
        left_out.append(LeftOut(name, "no stage was seen at the same placement in both"))
    return matches, left_out


def _hint(base: Book, other: Book, left_out: Sequence[LeftOut]) -> str:
    why = next((entry for entry in left_out if not entry.reason.startswith("only in")), None)
    if why is not None:
        return f"{why.cell}: {why.reason}"
    names = [f"{side.name} has {_some(side.cells)}" for side in (base, other)]
    return "; ".join(names)


def _some(cells: Iterable[str]) -> str:
    listed = list(cells)
    if not listed:
        return "no cell with a result"
    return ", ".join(listed[:2]) + (f" and {len(listed) - 2} more" if len(listed) > 2 else "")


def judge(matches: Sequence[Match], minimum_effect: float, error_rate: float) -> list[ComparedRow]:
    """Compare all matches as one family: ratio, interval, corrected p-value and verdict of each."""
    drafts = [draft_row(match) for match in matches]
    ratios = [place for place, row in enumerate(drafts) if row.low is not None]
    # Which rows have enough processes depends on no outcome, so that leaving the others out is no choice of data.
    inflations = inflations_of(matches)
    able = can_reject([_two_sided_least_p(drafts[place], inflations[place]) for place in ratios], error_rate)
    tested = [place for place, enough in zip(ratios, able, strict=True) if enough]
    for place in ratios:
        if place not in tested:
            drafts[place] = replace(drafts[place], reason=f"too few processes for a verdict among {len(ratios)} rows")
    p_values = [_two_sided(matches[place], inflations[place]) for place in tested]
    for place, p, adjusted in zip(tested, p_values, holm(p_values).tolist(), strict=True):
        drafts[place] = replace(drafts[place], p_value=p, p_adjusted=adjusted)
    return [_with_verdict(row, minimum_effect, error_rate) for row in drafts]


def inflations_of(matches: Sequence[Match]) -> list[float]:
    """How many times as uncertain each row is as independent processes were, from how alike neighbours in time are.

    Two groups of one run were measured in turn: what drifts falls on both alike, and nothing need be corrected.
    """
    series = [[side.processes.values for side in (match.base, match.other)] for match in matches]
    inflations = serial_inflations(series, typical_places(matches))
    return [1.0 if match.same_run else inflation for match, inflation in zip(matches, inflations, strict=True)]


def typical_places(matches: Sequence[Match]) -> list[int]:
    """Choose the rows that together say how alike neighbours in time are on this machine: one of each cell.

    Stages of one launch rise and fall together: one of them says all that the cell knows.
    """
    cells = {match.base.estimate.cell: place for place, match in enumerate(matches) if not match.same_run}
    return [place for place in cells.values() if matches[place].base.is_time]


def _two_sided_least_p(row: ComparedRow, inflation: float) -> float:
    return min(1.0, 2 * inflated_p(least_p(row.base.n_processes, row.other.n_processes), inflation))


def _two_sided(match: Match, inflation: float) -> float:
    larger, smaller = rank_sum_p(match.other.processes.values, match.base.processes.values)
    return min(1.0, 2 * inflated_p(float(min(larger[0], smaller[0])), inflation))


def draft_row(match: Match) -> ComparedRow:
    """Compare one match by itself: ratio and interval, or the reason why there is none; without a test."""
    base, other = match.base.estimate, match.other.estimate
    reason = no_ratio_of(match.base, match.other)
    row = ComparedRow(base, other, None, None, None, None, None, UNDECIDED, None, reason)
    if row.reason is not None:
        return _without_ratio(row, match)
    interval = ratio_of(match.other, match.base, seed=match.seed, same_run=match.same_run)
    row = replace(row, ratio=interval.value)
    if row.n_processes < 2:
        return replace(row, reason="one process on a side: no interval")
    return replace(row, low=interval.low, high=interval.high)


def _without_ratio(row: ComparedRow, match: Match) -> ComparedRow:
    """Zero in every process of both sides has no ratio and is the same: a count of what never happened."""
    sides = (match.base.processes.values, match.other.processes.values)
    if not row.is_time and row.n_processes >= SAME_PROCESSES and not any(values.any() for values in sides):
        return replace(row, verdict=SAME, reason=None)
    return row


def resolution_share(row: ComparedRow) -> float:
    """Give one step of the clock as a share of the smaller median; 0 for what no clock has measured."""
    if not row.is_time:
        return 0.0
    least = min(row.base.median_ns or 0.0, row.other.median_ns or 0.0)
    return max(row.base.resolution_ns, row.other.resolution_ns) / least


def _with_verdict(row: ComparedRow, minimum_effect: float, error_rate: float) -> ComparedRow:
    if row.ratio is None or row.low is None or row.high is None:
        return row
    change = max(row.ratio, 1 / row.ratio) - 1
    step = resolution_share(row)
    significant = row.p_adjusted is not None and row.p_adjusted <= error_rate
    apart = significant and not row.low <= 1 <= row.high and change >= minimum_effect
    if apart and change >= step:
        words = (SLOWER, FASTER) if row.is_time else (HIGHER, LOWER)
        return replace(row, verdict=words[0] if row.ratio > 1 else words[1])
    # What the clock cannot tell apart is not known to be the same.
    farthest = max(row.high - 1, 1 / row.low - 1, step)
    if farthest <= minimum_effect and row.n_processes >= SAME_PROCESSES:
        return replace(row, verdict=SAME, within=_rounded_up(farthest))
    if change < step > minimum_effect:
        return replace(row, reason=f"one step of the clock is {format_share(step)} of it")
    return row


def _rounded_up(share: float) -> float:
    """Round up to a tenth of a percent, at least one."""
    return max(math.ceil(share * 1000 - 1e-9), 1) / 1000
