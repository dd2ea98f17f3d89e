"""A run against its baseline: whether anything takes longer, and whether that is sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clonometer.errors import InputError
from clonometer.results.check.gate import ERROR_RATE, MAX_REGRESSION, SUSPECT_RATE, alarms
from clonometer.results.check.row_tests import RowTest, row_tests
from clonometer.results.check.types import (
    CANNOT_TELL,
    CONFIRMED,
    FINE,
    NONE,
    REGRESSED,
    SUSPECT,
    UNCLEAR,
    Checked,
    CheckedRow,
)
from clonometer.results.compare.comparison import Match, match_runs, resolution_share
from clonometer.results.compare.differences import differences
from clonometer.results.compare.types import ComparedRow, LeftOut
from clonometer.results.rows.evidence import Book
from clonometer.results.rows.warnings import run_warnings
from clonometer.stats.multiplicity import can_reject, holm
from clonometer.units import format_share

#: A check that would miss a slow-down of this many times the allowed one in most rows cannot tell.
BLIND_FACTOR = 2.0
#: A row in which only a slow-down of more than this share would be found surely alarms for no smaller one.
DULL = 0.5
#: Warnings of a run (docs/methods.md) under which nothing is sure enough for an alarm.
DISTURBED = frozenset(("switches.involuntary", "wall.far_above_cpu"))


def check_runs(
    base: Book,
    run: Book,
    *,
    max_regression: float = MAX_REGRESSION,
    error_rate: float = ERROR_RATE,
    power: bool = True,
) -> Checked:
    """Check a run against its baseline.

    Parameters
    ----------
    base, run
        The baseline, and the run to be judged.
    max_regression
        The largest slow-down allowed, as a share above 0.
    error_rate
        The chance that any row alarms where nothing changed.
    power
        Whether to find out what each row would detect, which takes nearly all of the time. Without it no row has a
        ``detectable`` and the verdict does not ask for it.

    Returns
    -------
    Checked
        docs/methods.md has the rule.

    Raises
    ------
    InputError
        If the two have no cell in common.
    """
    matches, left_out = _timed(*match_runs(base, run))
    if not matches:
        raise InputError(
            f"nothing to check: {run.name} has no cell in common with {base.name}",
            next((f"{entry.cell}: {entry.reason}" for entry in left_out), None),
        )
    tested = row_tests(matches, max_regression)
    rows, tests = _judged(tested.rows, max_regression, error_rate)
    if power:
        rows = _with_detectable(rows, tested.rows, tests, (max_regression, error_rate))
    checked = Checked(
        baseline=base.name,
        run=run.name,
        verdict=NONE,
        reasons=(),
        rows=tuple(rows),
        left_out=tuple(left_out),
        differences=differences(base.metadata, run.metadata),
        max_regression=max_regression,
        error_rate=error_rate,
        n_tests=tests,
        machine_shift=tested.shift,
        machine_kinds=tested.kinds,
    )
    return _concluded(checked, _lost(run.metadata, left_out), _disturbances(base, run), power=power)


def check_again(checked: Checked, base: Book, again: Book) -> Checked:
    """Judge the flagged rows of a check by a new measurement of them.

    Parameters
    ----------
    checked
        The check, whose flagged rows were measured again.
    base, again
        Its baseline, and the new measurement.

    Returns
    -------
    Checked
        A flagged row alarms only if the new measurement alone does, corrected for all rows of the check: so the choice
        of what was measured again gives no false alarm a second chance.
    """
    # All rows that were measured again tell of its drift, not only those in doubt.
    tested = row_tests(_timed(*match_runs(base, again))[0], checked.max_regression)
    tests = {_key(test.match.base.estimate): test for test in tested.rows}
    flagged = [_key(row.compared.base) for row in checked.flagged if _key(row.compared.base) in tests]
    families = checked.n_tests, checked.n_first
    judged, _ = _judged([tests[key] for key in flagged], checked.max_regression, checked.error_rate, families)
    new = {_key(row.compared.base): row for row in judged}
    rows: list[CheckedRow] = []
    lost: list[str] = []
    for row in checked.rows:
        confirmed = new.get(_key(row.compared.base)) if row in checked.flagged else None
        if confirmed is not None:
            rows.append(_settled(row, confirmed))
        else:
            if row in checked.flagged:
                lost.append(f"{row.compared.other.cell} could not be measured again")
                row = replace(row, verdict=SUSPECT)  # noqa: PLW2901 -- no alarm without a confirmation
            rows.append(row)
    checked = replace(checked, rows=tuple(rows), rerun=True, machine_shift=tested.shift, machine_kinds=tested.kinds)
    return _concluded(checked, [*checked.reasons_lost, *dict.fromkeys(lost)], _disturbances(base, again))


def _timed(matches: Sequence[Match], left_out: Sequence[LeftOut]) -> tuple[list[Match], list[LeftOut]]:
    """Leave out what is no time, and say so: whether more of it is worse is not known."""
    others = [
        LeftOut(match.base.estimate.cell, f"{match.base.estimate.quantity} is no time: 'clonometer compare' has it")
        for match in matches
        if not match.base.is_time
    ]
    return [match for match in matches if match.base.is_time], [*left_out, *dict.fromkeys(others)]


def _settled(row: CheckedRow, again: CheckedRow) -> CheckedRow:
    """Judge a flagged row by its new measurement; where it neither confirms nor refutes an alarm, suspect the row."""
    verdict = again.verdict
    if verdict == UNCLEAR and row.verdict == REGRESSED and not _refuted(row.compared, again.compared):
        verdict = SUSPECT
    return replace(row, verdict=verdict, again=again.compared)


def _refuted(first: ComparedRow, again: ComparedRow) -> bool:
    """Whether all of the new interval lies below the first: what was slow was that moment."""
    return first.low is not None and again.high is not None and again.high < first.low


def _key(estimate: Any) -> tuple[str, str, str | None]:
    return (estimate.cell, estimate.quantity, estimate.placement)


def _judged(
    tests: Sequence[RowTest], max_regression: float, error_rate: float, families: tuple[int, int] | None = None
) -> tuple[list[CheckedRow], int]:
    """Judge rows as two families, or as part of ``families`` of so many rows; also give the size of the first.

    The first are the rows that may alarm; the second, first launches, are suspected at most: one launch a process
    depends on a state of the machine that is another in each run, and the spread within a run does not tell of it.
    """
    rows = [CheckedRow(test.draft, _untested(test.draft, max_regression), None, level=test.level) for test in tests]
    known = [place for place, test in enumerate(tests) if test.p_value is not None]
    first = [place for place in known if tests[place].draft.base.is_first_launch]
    candidates = [place for place in known if place not in first]
    able = _able([tests[place].least_p for place in candidates], error_rate, families and families[0])
    tested = [place for place, enough in zip(candidates, able, strict=True) if enough]
    for place in set(candidates) - set(tested):
        reason = f"too few processes for an alarm among {len(candidates)} rows"
        rows[place] = replace(rows[place], compared=replace(tests[place].draft, reason=reason))
    size = max(families[0] if families else 0, len(tested))
    alarming = {
        place
        for place in _alarming({place: tests[place] for place in tested}, size, max_regression, error_rate)
        if not _is_dull(tests[place], size, max_regression, error_rate)
    }
    by_median = {place: median for place in tested if (median := tests[place].median) is not None}
    slower_median = _alarming(by_median, size, max_regression, error_rate)
    for family, count in ((tested, size), (first, max(families[1] if families else 0, len(first)))):
        adjusted = holm([tests[place].p_value or 0.0 for place in family], count)
        for place, p_adjusted in zip(family, adjusted.tolist(), strict=True):
            compared = replace(tests[place].draft, p_value=tests[place].p_value, p_adjusted=p_adjusted)
            verdict = _verdict(compared, place in alarming, max_regression)
            if place in slower_median and verdict not in (REGRESSED, SUSPECT):
                compared = replace(compared, reason=_part_of_it(by_median[place]))
                verdict = SUSPECT
            rows[place] = replace(rows[place], compared=compared, verdict=verdict)
    return rows, size


def _alarming(tests: Mapping[int, RowTest], size: int, max_regression: float, error_rate: float) -> set[int]:
    """Those of the rows that are surely slower, on a machine that is not."""
    rule = alarms(
        [test.p_value or 0.0 for test in tests.values()],
        [test.ratio or 0.0 for test in tests.values()],
        max_regression=max_regression,
        error_rate=error_rate,
        tests=size,
    )
    return {
        place
        for (place, test), alarm in zip(tests.items(), rule.tolist(), strict=True)
        if alarm and (test.draft.low or 0.0) > 1 and test.shift < max_regression
    }


def _is_dull(test: RowTest, size: int, max_regression: float, error_rate: float) -> bool:
    """Whether a row tells so little that what it shows is more likely another moment than a slow-down.

    Few processes that each found the machine in a state of their own, such as memory elsewhere, sometimes agree.
    """
    change = test.detectable(size, max_regression, error_rate)
    return change is None or (change > DULL and (test.ratio or 0.0) - 1 < change)


def _part_of_it(median: RowTest) -> str:
    return f"its median is {median.draft.ratio:.2f} times as large, its fastest tenth is not: part of its processes"


def _able(least: Sequence[float], error_rate: float, tests: int | None) -> Sequence[bool]:
    """Those of the rows whose processes are enough for an alarm, whatever they say."""
    return can_reject(least, error_rate).tolist() if tests is None else [p * tests <= error_rate for p in least]


def _untested(row: ComparedRow, max_regression: float) -> str:
    return FINE if row.high is not None and row.n_processes > 1 and row.high < 1 + max_regression else UNCLEAR


def _verdict(row: ComparedRow, alarm: bool, max_regression: float) -> str:
    if row.ratio is None or row.low is None or row.p_adjusted is None:
        return UNCLEAR
    beyond = row.ratio >= 1 + max_regression and row.ratio - 1 >= resolution_share(row)
    if beyond and alarm:
        return REGRESSED
    if beyond and row.p_adjusted <= SUSPECT_RATE:
        return SUSPECT
    return _untested(row, max_regression)


def _with_detectable(
    rows: Sequence[CheckedRow], tests: Sequence[RowTest], size: int, rule: tuple[float, float]
) -> list[CheckedRow]:
    return [
        row
        if row.compared.p_value is None or row.compared.base.is_first_launch or test.shift >= rule[0]
        else replace(row, detectable=test.detectable(size, *rule))
        for row, test in zip(rows, tests, strict=True)
    ]


def _lost(metadata: Mapping[str, Any], left_out: Sequence[LeftOut]) -> list[str]:
    """Cells that the run was to measure and could not: a gate must not pass over them."""
    ends = {entry["cell"]: entry for entry in metadata["cells"]}
    return [
        f"{entry.cell} {ends[entry.cell]['status']}: {ends[entry.cell]['reason']}"
        for entry in left_out
        if entry.cell in ends and ends[entry.cell]["status"] != "ok"
    ]


def _disturbances(*sides: Book) -> list[str]:
    """Say in which runs others used the CPUs: processes are then no sample of an undisturbed machine."""
    return [
        f"{side.name}: {warning.sentence}"
        for side in sides
        for warning in run_warnings((), side.metadata)
        if warning.id in DISTURBED
    ]


def _machine_slower(checked: Checked) -> bool:
    """Whether all that was measured is slower by as much as is allowed: no single row is sure then."""
    return checked.machine_shift >= checked.max_regression


def _concluded(checked: Checked, lost: Sequence[str], disturbances: Sequence[str], *, power: bool = True) -> Checked:
    """Draw the conclusion from the rows."""
    alarmed = checked.count(REGRESSED)
    if alarmed and disturbances:
        rows = [replace(row, verdict=SUSPECT) if row.verdict == REGRESSED else row for row in checked.rows]
        checked = replace(checked, rows=tuple(rows))
    elif alarmed:
        return replace(checked, verdict=CONFIRMED, reasons=(), reasons_lost=tuple(lost))
    reasons = list(lost)
    if _machine_slower(checked):
        reasons.append(
            f"all that was measured is slower by {format_share(checked.machine_shift)}: the machine then, or what all "
            "tasks share (kernel, libc, settings); measure both again, in turn"
        )
    suspects = checked.count(SUSPECT)
    if suspects:
        more = "measured again, that is not settled" if checked.rerun else "--rerun measures them again"
        if alarmed and disturbances:
            more = f"the machine was disturbed ({'; '.join(disturbances)})"
        reasons.append(f"{suspects} {'rows look' if suspects != 1 else 'row looks'} slower, not surely enough: {more}")
    candidates = [row.compared for row in checked.rows if not row.compared.base.is_first_launch]
    tested = sum(row.p_value is not None for row in candidates)
    change = BLIND_FACTOR * checked.max_regression
    seen = checked.count_detectable(change)
    if not candidates:
        reasons.append("all rows are first launches (cold), which are suspected at most: measure warm ones too")
    elif 2 * tested < len(candidates):
        reasons.append(f"only {tested} of {len(candidates)} rows have processes enough for an alarm: measure longer")
    elif power and not _machine_slower(checked) and 2 * seen < tested:
        reasons.append(
            f"only in {seen} of {tested} rows would a slow-down of {format_share(change)} be found: "
            "measure both runs longer, or on a quieter machine"
        )
    verdict = CANNOT_TELL if reasons else NONE
    return replace(checked, verdict=verdict, reasons=tuple(reasons), reasons_lost=tuple(lost))
