"""A run against its baseline: whether anything takes longer, and whether that is sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clonometer.errors import InputError
from clonometer.results.checked import (
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
from clonometer.results.compare import Match, Side, draft_row, inflations_of, match_runs, resolution_share, seed_of
from clonometer.results.compared import ComparedRow, LeftOut
from clonometer.results.differences import differences
from clonometer.results.gate import ERROR_RATE, MAX_REGRESSION, SUSPECT_RATE, alarms, detectable_change, p_slower
from clonometer.results.machine import Evened, even_out
from clonometer.results.warnings import run_warnings
from clonometer.stats.multiplicity import can_reject, holm
from clonometer.stats.rank_sum import least_p
from clonometer.stats.serial import inflated_p
from clonometer.units import format_share

#: A check that would miss a slow-down of this many times the allowed one in most rows cannot tell.
BLIND_FACTOR = 2.0
#: Warnings of a run (docs/methods.md) under which nothing is sure enough for an alarm.
DISTURBED = frozenset(("switches.involuntary", "wall.far_above_cpu"))


def check_runs(
    base: Side,
    run: Side,
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
            next((f"{one.cell}: {one.reason}" for one in left_out), None),
        )
    evened = even_out(matches)
    matches = list(evened.matches)
    inflations = inflations_of(matches)
    rows, tests = _judged(matches, inflations, max_regression, error_rate)
    if power and evened.shift < max_regression:
        rows = _with_detectable(rows, evened, tests, inflations, (max_regression, error_rate))
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
        machine_shift=evened.shift,
        machine_kinds=evened.kinds,
    )
    return _concluded(checked, _lost(run.metadata, left_out), _disturbances(base, run), power=power)


def check_again(checked: Checked, base: Side, again: Side) -> Checked:
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
    evened = even_out(_timed(*match_runs(base, again))[0])
    matches = evened.matches
    own = {_key(match.base.estimate): match for match in matches}
    # All rows that were measured again tell of its drift, not only those in doubt.
    inflations = {_key(match.base.estimate): one for match, one in zip(matches, inflations_of(matches), strict=True)}
    flagged = [_key(row.compared.base) for row in checked.flagged if _key(row.compared.base) in own]
    chosen = [own[key] for key in flagged]
    families = checked.n_tests, checked.n_first
    own_inflations = [inflations[key] for key in flagged]
    judged, _ = _judged(chosen, own_inflations, checked.max_regression, checked.error_rate, families)
    new = {_key(row.compared.base): row for row in judged}
    rows: list[CheckedRow] = []
    lost: list[str] = []
    for row in checked.rows:
        found = new.get(_key(row.compared.base)) if row in checked.flagged else None
        if found is not None:
            rows.append(_settled(row, found))
        else:
            if row in checked.flagged:
                lost.append(f"{row.compared.other.cell} could not be measured again")
                row = replace(row, verdict=SUSPECT)  # noqa: PLW2901 -- no alarm without a confirmation
            rows.append(row)
    checked = replace(checked, rows=tuple(rows), rerun=True, machine_shift=evened.shift, machine_kinds=evened.kinds)
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
    verdict = again.verdict
    if verdict == SUSPECT or (verdict == UNCLEAR and row.verdict == REGRESSED):
        # Two measurements that do not agree: neither an alarm nor all clear.
        verdict = SUSPECT
    return replace(row, verdict=verdict, again=again.compared)


def _key(estimate: Any) -> tuple[str, str, str | None]:
    return (estimate.cell, estimate.quantity, estimate.placement)


def _judged(
    matches: Sequence[Match],
    inflations: Sequence[float],
    max_regression: float,
    error_rate: float,
    families: tuple[int, int] | None = None,
) -> tuple[list[CheckedRow], int]:
    """Judge rows as two families, or as part of ``families`` of so many rows; also give the size of the first.

    The first are the rows that may alarm; the second, first launches, are suspected at most: one launch a process
    depends on a state of the machine that is another in each run, and the spread within a run does not tell of it.
    """
    drafts = [draft_row(match) for match in matches]
    rows = [CheckedRow(row, _untested(row, max_regression), None) for row in drafts]
    known = [place for place, row in enumerate(drafts) if row.low is not None]
    p_values = {place: _p_slower(matches[place], max_regression, inflations[place]) for place in known}
    first = [place for place in known if drafts[place].base.is_first_launch]
    candidates = [place for place in known if not drafts[place].base.is_first_launch]
    tested = _able(drafts, candidates, inflations, error_rate, families and families[0])
    for place in set(candidates) - set(tested):
        reason = f"too few processes for an alarm among {len(candidates)} rows"
        rows[place] = replace(rows[place], compared=replace(drafts[place], reason=reason))
    tests = max(families[0] if families else 0, len(tested))
    rule = alarms(
        [p_values[place] for place in tested],
        [drafts[place].ratio or 0.0 for place in tested],
        max_regression=max_regression,
        error_rate=error_rate,
        tests=tests,
    )
    alarming = {place for place, alarm in zip(tested, rule.tolist(), strict=True) if alarm}
    for family, size in ((tested, tests), (first, max(families[1] if families else 0, len(first)))):
        adjusted = holm([p_values[place] for place in family], size)
        for place, p_adjusted in zip(family, adjusted.tolist(), strict=True):
            compared = replace(drafts[place], p_value=p_values[place], p_adjusted=p_adjusted)
            rows[place] = CheckedRow(compared, _verdict(compared, place in alarming, max_regression), None)
    return rows, tests


def _able(
    drafts: Sequence[ComparedRow],
    candidates: Sequence[int],
    inflations: Sequence[float],
    error_rate: float,
    tests: int | None,
) -> list[int]:
    """Those of the rows whose processes are enough for an alarm, whatever they say."""
    least = [
        inflated_p(least_p(drafts[place].base.n_processes, drafts[place].other.n_processes), inflations[place])
        for place in candidates
    ]
    able = can_reject(least, error_rate) if tests is None else [one * tests <= error_rate for one in least]
    return [place for place, enough in zip(candidates, able, strict=True) if enough]


def _p_slower(match: Match, max_regression: float, inflation: float) -> float:
    return p_slower(match.base.processes.values, match.other.processes.values, max_regression, inflation)


def _untested(row: ComparedRow, max_regression: float) -> str:
    return FINE if row.high is not None and row.n_processes > 1 and row.high < 1 + max_regression else UNCLEAR


def _verdict(row: ComparedRow, alarm: bool, max_regression: float) -> str:
    if row.ratio is None or row.low is None or row.p_adjusted is None:
        return UNCLEAR
    beyond = row.ratio >= 1 + max_regression and row.ratio - 1 >= resolution_share(row)
    if beyond and alarm and row.low > 1:
        return REGRESSED
    if beyond and row.p_adjusted <= SUSPECT_RATE:
        return SUSPECT
    return _untested(row, max_regression)


def _with_detectable(
    rows: Sequence[CheckedRow], evened: Evened, tests: int, inflations: Sequence[float], rule: tuple[float, float]
) -> list[CheckedRow]:
    found = []
    for row, match, blind, inflation in zip(rows, evened.matches, evened.blind, inflations, strict=True):
        if row.compared.p_value is None or row.compared.base.is_first_launch:
            found.append(row)
            continue
        base = match.base.processes.values
        change = detectable_change(
            base,
            (base.size, match.other.processes.values.size),
            tests=tests,
            seed=seed_of(row.compared.base, row.compared.other),
            max_regression=rule[0],
            error_rate=rule[1],
            inflation=inflation,
        )
        found.append(replace(row, detectable=None if change is None else (1 + change) * blind - 1))
    return found


def _lost(metadata: Mapping[str, Any], left_out: Sequence[LeftOut]) -> list[str]:
    """Cells that the run was to measure and could not: a gate must not pass over them."""
    ends = {entry["cell"]: entry for entry in metadata["cells"]}
    return [
        f"{one.cell} {ends[one.cell]['status']}: {ends[one.cell]['reason']}"
        for one in left_out
        if one.cell in ends and ends[one.cell]["status"] != "ok"
    ]


def _disturbances(*sides: Side) -> list[str]:
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
    # What the machine's speed is taken off with is the typical row's share of it: others feel it twice as much.
    if alarmed and (disturbances or _machine_slower(checked)):
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
        more = "measured again, they still are" if checked.rerun else "--rerun measures them again"
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
