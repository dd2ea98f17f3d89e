"""Runs against a run, groups of runs against each other, and cells of a run: ratios with intervals, and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median

from clonometer.errors import InputError
from clonometer.families import family
from clonometer.results.compare.apart import settings_hint
from clonometer.results.compare.between import stored_variance, within_run
from clonometer.results.compare.differences import differences, provenance_of
from clonometer.results.compare.judge import PendingTest, adjusted, n_tests, pending_tests
from clonometer.results.compare.pairing import kind_of, pair_cells
from clonometer.results.compare.sides import RowPair, is_same_run, match_cells, match_groups
from clonometer.results.compare.types import CommonShift, Compared, ComparedPair, ComparedRow
from clonometer.results.compare.variance import NO_VARIANCE, UNKNOWN_VARIANCE, BetweenRunVariance, NoiseSource
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.types import LEAST_EFFECT, Estimate, LeftOut

ERROR_RATE = 0.05
#: Fewer kinds of process have nothing in common that could be told from what each does.
_LEAST_KINDS = 2


def compare_runs(
    sides: Sequence[RunEstimates],
    *,
    minimum_effect: float = LEAST_EFFECT,
    variance: BetweenRunVariance = UNKNOWN_VARIANCE,
) -> Compared:
    """Compare runs with the first of them, cell by cell.

    One pair for each further run.

    Parameters
    ----------
    sides
        Two or more, the first one the base.
    minimum_effect
        The least change that gets a verdict, as a share above 0.
    variance
        How far two runs of the machine are apart.

    Raises
    ------
    InputError
        If a run has no cell in common with the base.
    """
    pairs = [matched([sides[0]], [other]) for other in sides[1:]]
    return judge_pairs([(pending_tests(matches, variance), pair) for matches, pair in pairs], minimum_effect, variance)


def compare_groups(
    bases: Sequence[RunEstimates],
    others: Sequence[RunEstimates],
    *,
    minimum_effect: float = LEAST_EFFECT,
    variance: BetweenRunVariance = UNKNOWN_VARIANCE,
) -> Compared:
    """Compare a group of runs with another; where a side has several, these say themselves how far runs are apart.

    Each side has a run or more. ``variance`` does not count where a side has several; else all is as in `compare_runs`.

    Raises
    ------
    InputError
        If they have no cell in common, or a run is there twice.
    """
    refuse_a_run_twice([*bases, *others])
    matches, pair = matched(bases, others)
    variance = variance_of_sides(bases, others, variance)
    return judge_pairs([(pending_tests(matches, variance), pair)], minimum_effect, variance)


def variance_of_sides(
    bases: Sequence[RunEstimates], others: Sequence[RunEstimates], variance: BetweenRunVariance
) -> BetweenRunVariance:
    """How far runs are apart: as the sides' own runs say it where there are several, else as given."""
    if len(bases) + len(others) == 2:
        return variance
    return stored_variance([bases, others], NoiseSource.THESE_RUNS) or UNKNOWN_VARIANCE


def compare_cells(
    side: RunEstimates,
    base_glob: str,
    other_glob: str,
    *,
    minimum_effect: float = LEAST_EFFECT,
) -> Compared:
    """Compare cells of one run with each other.

    Where a glob matches several cells, those are paired that differ least (`clonometer.results.compare.pairing`).

    The pair is named by the globs.

    Raises
    ------
    UsageError
        If a glob matches no cell, or the cells cannot be paired.
    InputError
        If none of the pairs can be compared.
    """
    pairs, alone = pair_cells(_estimates(side), base_glob, other_glob)
    matches: list[RowPair] = []
    left_out = [LeftOut(cell, "no cell of the other group is a close enough match") for cell in alone]
    for base, other in pairs:
        matched, missing = match_cells(side.cells[base], side.cells[other], f"{base} and {other}", same_run=True)
        matches += matched
        left_out += missing
    if not matches:
        reasons = "; ".join(dict.fromkeys(entry.reason for entry in left_out))
        raise InputError(f"{base_glob} and {other_glob} cannot be compared: {reasons}")
    listed = pending_tests(matches, within_run(side))
    pair = ComparedPair(base_glob, other_glob, (), tuple(left_out), ())
    return judge_pairs([(listed, pair)], minimum_effect, NO_VARIANCE)


def refuse_a_run_twice(sides: Sequence[RunEstimates]) -> None:
    """Refuse a group in which one run stands for two: it would look like runs that agree.

    Raises
    ------
    InputError
        If two files hold the same run.
    """
    for index, side in enumerate(sides):
        for other in sides[:index]:
            if is_same_run(side, other):
                raise InputError(f"{other.name} and {side.name} are the same run", "name each run once")


def match_sides(bases: Sequence[RunEstimates], others: Sequence[RunEstimates]) -> tuple[list[RowPair], list[LeftOut]]:
    """Find what all runs of two sides have in common.

    Raises
    ------
    InputError
        If that is nothing.
    """
    matches, left_out = match_groups(bases, others)
    if not matches:
        names = ", ".join(side.name for side in bases), ", ".join(side.name for side in others)
        raise InputError(
            f"nothing to compare: {names[0]} and {names[1]} have no cell in common",
            _hint(bases[0], others[0], left_out),
        )
    return matches, left_out


def matched(bases: Sequence[RunEstimates], others: Sequence[RunEstimates]) -> tuple[list[RowPair], ComparedPair]:
    """What two sides have in common, and all that is said of them before any row is judged."""
    matches, left_out = match_sides(bases, others)
    return matches, ComparedPair(
        ", ".join(estimates.name for estimates in bases),
        ", ".join(estimates.name for estimates in others),
        (),
        tuple(left_out),
        differences(provenance_of(bases[0].document), provenance_of(others[0].document)),
        n_base_runs=len(bases),
        n_other_runs=len(others),
        same_run=any(is_same_run(base, other) for base in bases for other in others),
    )


def shifts_of(rows: Iterable[ComparedRow]) -> tuple[CommonShift, ...]:
    """What the kinds of process changed by together: cold and warm ones, and clocks and empty loops."""
    by_group: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row.change.value is not None and row.is_time:
            group = "control" if family(row.other.family).control else row.other.temperature or "all"
            by_group.setdefault(group, {}).setdefault(kind_of(row.other), []).append(row.change.value)
    shifts = []
    for group in ("cold", "warm", "all", "control"):
        kinds = [median(ratios) for ratios in by_group.get(group, {}).values()]
        if len(kinds) >= (1 if group == "control" else _LEAST_KINDS):
            shifts.append(CommonShift(group, median(kinds), min(kinds), max(kinds), len(kinds)))
    return tuple(shifts)


def judge_pairs(
    pairs: Sequence[tuple[Sequence[PendingTest], ComparedPair]], minimum_effect: float, variance: BetweenRunVariance
) -> Compared:
    """Judge all rows of all pairs as one family."""
    listed = [draft for of_pair, _ in pairs for draft in of_pair]
    judged_rows = iter(adjusted(listed, minimum_effect=minimum_effect, error_rate=ERROR_RATE))
    with_rows = []
    for of_pair, pair in pairs:
        rows = tuple(islice(judged_rows, len(of_pair)))
        shifts = () if variance.source == NO_VARIANCE.source else shifts_of(rows)
        with_rows.append(replace(pair, rows=rows, shifts=shifts))
    return Compared(
        tuple(with_rows), minimum_effect, ERROR_RATE, n_tests(listed), variance.source, stored=variance.stored
    )


def _estimates(side: RunEstimates) -> dict[str, Estimate]:
    return {cell: next(iter(rows.values())) for cell, rows in side.cells.items()}


def _hint(base: RunEstimates, other: RunEstimates, left_out: Sequence[LeftOut]) -> str:
    why = next((entry for entry in left_out if not entry.reason.startswith("only in")), None)
    if why is not None:
        return f"{why.cell}: {why.reason}"
    return settings_hint(base, other) or "; ".join(f"{side.name} has {_some(side.cells)}" for side in (base, other))


def _some(cells: Mapping[str, object]) -> str:
    listed = list(cells)
    if not listed:
        return "no cell with a result"
    return ", ".join(listed[:2]) + (f" and {len(listed) - 2} more" if len(listed) > 2 else "")
