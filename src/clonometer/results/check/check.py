"""A run against its baseline: whether anything takes longer, and whether that is sure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace

from clonometer.errors import InputError
from clonometer.plan.shipped import plan_names
from clonometer.results.check.types import (
    BLIND_FACTOR,
    Checked,
    CheckedRow,
)
from clonometer.results.compare.comparison import ERROR_RATE as COMPARE_RATE
from clonometer.results.compare.comparison import (
    match_sides,
    matched,
    refuse_a_run_twice,
    shifts_of,
    variance_of_sides,
)
from clonometer.results.compare.judge import PendingTest, adjusted, detectable, n_tests, pending_tests
from clonometer.results.compare.sides import RowPair
from clonometer.results.compare.types import CommonShift, ComparedRow
from clonometer.results.compare.variance import UNKNOWN_VARIANCE, BetweenRunVariance, NoiseSource
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.rows.warnings import run_warnings
from clonometer.results.types import LeftOut
from clonometer.run_document import RunDocument
from clonometer.units import format_share
from clonometer.verdicts import Direction, Gate, Word

MAX_REGRESSION = 0.05
#: The chance that any row of one check alarms where nothing changed.
ERROR_RATE = 0.01
#: Warnings of a run (docs/comparing.md) under which nothing is sure enough for an alarm.
DISTURBED = frozenset(("switches.involuntary", "wall.far_above_cpu"))


def check_runs(
    base: RunEstimates | Sequence[RunEstimates],
    run: RunEstimates | Sequence[RunEstimates],
    *,
    max_regression: float = MAX_REGRESSION,
    variance: BetweenRunVariance = UNKNOWN_VARIANCE,
    noise: str | None = None,
) -> Checked:
    """Check a run against its baseline.

    docs/comparing.md has the rule.

    Parameters
    ----------
    base, run
        The baseline, and the run to be judged; or several runs of either.
    max_regression
        The largest slowdown allowed, as a share above 0.
    variance
        How far two runs of the machine are apart; of no account where a side has several runs.
    noise
        How the caller named that, so that a command which decides the check can name it again.

    Raises
    ------
    InputError
        If the two have no cell in common, or a run is on one side twice.
    """
    bases, runs = _listed(base), _listed(run)
    refuse_a_run_twice(bases)
    refuse_a_run_twice(runs)
    matches, pair = matched(bases, runs)
    matches, left_out = _timed(matches, pair.left_out)
    if not matches:
        raise InputError(
            f"nothing to check: {runs[0].name} and {bases[0].name} share no time that could be compared",
            next((f"{entry.cell}: {entry.reason}" for entry in left_out), None),
        )
    variance = variance_of_sides(bases, runs, variance)
    listed = pending_tests(matches, variance)
    rows = _judge_rows(listed, max_regression)
    checked = Checked(
        baseline=pair.base,
        run=pair.other,
        verdict=Gate.PASS,
        reasons=(),
        rows=tuple(rows),
        left_out=tuple(left_out),
        differences=pair.differences,
        max_regression=max_regression,
        error_rate=ERROR_RATE,
        n_tests=n_tests(listed),
        noise_source=variance.source,
        stored=variance.stored,
        shifts=shifts_of(row.compared for row in rows),
        same_run=pair.same_run,
    )
    lost = [reason for side in runs for reason in _lost(side.document, left_out)]
    checked = _concluded(checked, list(dict.fromkeys(lost)), _disturbances(*bases, *runs))
    return replace(checked, decided_by=_command(checked, bases, runs, noise))


def check_again(
    checked: Checked,
    base: RunEstimates | Sequence[RunEstimates],
    again: RunEstimates,
    variance: BetweenRunVariance = UNKNOWN_VARIANCE,
) -> Checked:
    """Judge the flagged rows of a check by a new measurement of them.

    A flagged row alarms only if the new measurement alone does, corrected for all rows of the check: so the choice
    of what was measured again gives no false alarm a second chance.
    """
    bases = _listed(base)
    listed = pending_tests(_timed(*match_sides(bases, [again]))[0], variance_of_sides(bases, [again], variance))
    rerun = _judge_rows(listed, checked.max_regression, checked.n_tests)
    new = {row.compared.base.name: row for row in rerun}
    rows: list[CheckedRow] = []
    lost: list[str] = []
    for row in checked.rows:
        if row not in checked.flagged:
            rows.append(row)
        elif (confirmed := new.get(row.compared.base.name)) is not None:
            rows.append(_settled(row, confirmed))
        else:
            lost.append(f"{row.compared.other.cell} could not be measured again")
            rows.append(_suspected(row))  # no alarm without a confirmation
    checked = replace(checked, rows=tuple(rows), rerun=True, shifts=shifts_of(row.compared for row in rerun))
    return _concluded(checked, [*checked.reasons_lost, *dict.fromkeys(lost)], _disturbances(*bases, again))


def _listed(sides: RunEstimates | Sequence[RunEstimates]) -> list[RunEstimates]:
    return [sides] if isinstance(sides, RunEstimates) else list(sides)


def _timed(matches: Sequence[RowPair], left_out: Sequence[LeftOut]) -> tuple[list[RowPair], list[LeftOut]]:
    """Leave out what is no time, and say so: whether more of it is worse is not known."""
    others = [
        LeftOut(match.base.cell, f"{match.base.quantity} is not a time: 'clonometer compare' shows it")
        for match in matches
        if not match.base.is_time
    ]
    return [match for match in matches if match.base.is_time], [*left_out, *dict.fromkeys(others)]


def _judge_rows(listed: Sequence[PendingTest], max_regression: float, tests: int = 0) -> list[CheckedRow]:
    """Judge rows as `compare` does, for an alarm at a smaller error rate, for a suspicion at that of `compare`."""
    size = max(n_tests(listed), tests)
    rows = adjusted(listed, minimum_effect=max_regression, error_rate=ERROR_RATE, likely_rate=COMPARE_RATE, tests=tests)
    return [
        CheckedRow(
            row,
            *_verdict(row, max_regression),
            # First launches never alarm.
            None if row.base.is_first_launch else detectable(draft, ERROR_RATE, size, max_regression),
        )
        for draft, row in zip(listed, rows, strict=True)
    ]


def _verdict(row: ComparedRow, max_regression: float) -> tuple[Gate, bool]:
    """The verdict of a row, and whether it is suspected."""
    if row.verdict == Direction.MORE:
        # A process has one first launch, whose level depends on a state of the machine that is another in each run.
        return (Gate.UNKNOWN, True) if row.base.is_first_launch else (Gate.FAIL, False)
    if row.change.word == Word.LIKELY and row.change.rises:
        return Gate.UNKNOWN, True
    is_fine = row.change.high is not None and row.change.high < 1 + max_regression
    return Gate.PASS if is_fine else Gate.UNKNOWN, False


def _settled(row: CheckedRow, again: CheckedRow) -> CheckedRow:
    """Judge a flagged row by its new measurement; where it neither confirms nor refutes an alarm, suspect the row."""
    is_open = again.verdict == Gate.UNKNOWN and row.verdict == Gate.FAIL
    suspect = again.suspect or (is_open and not _refuted(row.compared, again.compared))
    return replace(row, verdict=again.verdict, suspect=suspect, again=again.compared)


def _suspected(row: CheckedRow) -> CheckedRow:
    return replace(row, verdict=Gate.UNKNOWN, suspect=True)


def _refuted(first: ComparedRow, again: ComparedRow) -> bool:
    """Whether all of the new interval lies below the first: what was slow was that moment."""
    before, now = first.change.low, again.change.high
    return before is not None and now is not None and now < before


def _lost(document: RunDocument, left_out: Sequence[LeftOut]) -> list[str]:
    """Cells that the run was to measure and could not: a gate must not pass over them."""
    ends = {entry.cell: entry for entry in document.cells}
    return [
        f"{entry.cell} {ends[entry.cell].status}: {ends[entry.cell].reason}"
        for entry in left_out
        if entry.cell in ends and ends[entry.cell].status != "ok"
    ]


def _disturbances(*sides: RunEstimates) -> list[str]:
    """Say in which runs others used the CPUs: processes are then no sample of an undisturbed machine."""
    return [
        f"{side.name}: {warning.sentence}"
        for side in sides
        for warning in run_warnings((), side.document)
        if warning.id in DISTURBED
    ]


def _concluded(checked: Checked, lost: Sequence[str], disturbances: Sequence[str]) -> Checked:
    """Draw the conclusion from the rows."""
    alarmed = checked.count(Gate.FAIL)
    if alarmed and disturbances:
        rows = [_suspected(row) if row.verdict == Gate.FAIL else row for row in checked.rows]
        checked = replace(checked, rows=tuple(rows))
    elif alarmed:
        return replace(checked, verdict=Gate.FAIL, reasons=(), reasons_lost=tuple(lost))
    reasons = [*lost, *_slower_machine(checked)]
    suspects = checked.n_suspect
    if suspects:
        more = "measured again, this is still open" if checked.rerun else "--rerun measures them again"
        if alarmed and disturbances:
            more = f"the machine was disturbed ({'; '.join(disturbances)})"
        looks = "rows look" if suspects != 1 else "row looks"
        reasons.append(f"{suspects} {looks} slower, but not certainly enough: {more}")
    reasons += _too_little(checked)
    verdict = Gate.UNKNOWN if reasons else Gate.PASS
    return replace(checked, verdict=verdict, reasons=tuple(reasons), reasons_lost=tuple(lost))


def _slower_machine(checked: Checked) -> list[str]:
    """Say that everything became slower by as much as is allowed."""
    slower = [shift for shift in checked.shifts if _is_slower(shift, checked.max_regression)]
    if not slower:
        return []
    return [
        f"everything that was measured is slower by {format_share(slower[0].ratio - 1)}: the machine, or something "
        f"that all tasks share (kernel, libc, settings); measure both again, alternately"
    ]


def _is_slower(shift: CommonShift, max_regression: float) -> bool:
    return shift.of in ("warm", "all") and shift.ratio >= 1 + max_regression


def _too_little(checked: Checked) -> list[str]:
    """Say that what was measured is too little for an answer."""
    candidates = [row for row in checked.rows if not row.compared.base.is_first_launch]
    if not candidates:
        return ["all rows are first launches (cold), which can only raise a suspicion: measure warm ones too"]
    known = _detectable(checked)
    if 2 * len(known) < len(candidates):
        return [f"only {len(known)} of {len(candidates)} rows have enough processes for an alarm: measure longer"]
    change = BLIND_FACTOR * checked.max_regression
    seen = sum(share <= change for share in known)
    if 2 * seen >= len(known):
        return []
    could = f"only in {seen}" if seen else "in none"
    return [
        f"this check could have caught a slowdown of {format_share(change)} {could} of {len(known)} warm rows "
        f"({format_share(known[len(known) // 2])} in half of them)"
    ]


def _detectable(checked: Checked) -> list[float]:
    rows = [row for row in checked.rows if not row.compared.base.is_first_launch]
    return sorted(row.detectable for row in rows if row.detectable is not None)


def _command(
    checked: Checked, bases: Sequence[RunEstimates], runs: Sequence[RunEstimates], noise: str | None
) -> str | None:
    """Name the command that decides a check, or that must come before it; None where it is decided, or none does."""
    if checked.verdict != Gate.UNKNOWN:
        return None
    words = ["clonometer", "check", *(run.name for run in runs)]
    words += [word for base in bases for word in ("--baseline", base.name)]
    if checked.noise_source == NoiseSource.UNKNOWN:
        plan = bases[0].document.plan.name
        measuring = ["clonometer", "noise", *(["--plan", plan] if plan in plan_names() else []), "--json"]
        return f"{shlex.join(measuring)} > noise.json && {shlex.join([*words, '--noise', 'noise.json'])}"
    known = _detectable(checked)
    least = known[len(known) // 2] / BLIND_FACTOR if known else 0.0
    if least <= checked.max_regression or checked.flagged:
        return None
    named = ["--noise", noise] if noise is not None else []
    return shlex.join([*words, *named, "--max-regression", f"{math.ceil(least * 100)}%"])
