"""Workers: threads against processes, curves through numbers and workers, and what an ablation leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clonometer.results.change import Change
from clonometer.results.findings.comparing import PairwiseTests, cells_of, numbers_of
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, headed, listed, measured, sentence, sentences, verdict
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.series.ablation import AblationEvidence, ablations_of, rung_cells
from clonometer.results.series.fits import Fit, fits_of
from clonometer.results.series.kinds import pairs_of_kinds
from clonometer.results.series_types import SIDES, TASK_KIND
from clonometer.results.types import Finding
from clonometer.stats.interval import Interval
from clonometer.stats.polynomial import ratio_of_coefficients
from clonometer.units import format_duration_interval, format_ratio, format_share
from clonometer.verdicts import Direction
from clonometer.words import axis_thing, axis_title, axis_words

FAMILY = "work"
_POWERS = ("constant", "linear term", "quadratic term", "cubic term", "quartic term")
#: Fewer conditions speak for themselves.
_LEAST_VARIANTS = 3
#: A workload, its condition apart from kind and workers, and comparisons by the number of workers.
_Contests = tuple[str, dict[str, "int | str"], list[tuple[int, Change[RunEstimate]]]]
_NAMES = {side: axis_words(TASK_KIND, side) for side in SIDES}


def workers(tests: PairwiseTests) -> list[Finding]:
    """Say how threads and processes at work compare: at the ends of each scan, by their curves, by ablation."""
    estimates = tests.estimates
    ablations = ablations_of(estimates, tests.seed)
    # The rungs of an ablation are told together.
    rungs = rung_cells(estimates)
    fits = fits_of(estimates, tests.seed)
    contests = _contests(tests, rungs, fits)
    tests.mark_reported((row for pair in _pairs(estimates) for row in pair), TASK_KIND)
    return [
        *(_ablation(tests, evidence) for evidence in ablations),
        *_fits(tests, fits),
        *_variants(contests),
        *(finding for finding, _ in contests),
    ]


def _contests(tests: PairwiseTests, rungs: frozenset[str], fits: Sequence[Fit]) -> list[tuple[Finding, _Contests]]:
    """Threads against processes with as many workers as there are CPUs, and with most; else where both were.

    Of points on a curve only the last is told: what lies between is the curve's.
    """
    curves = {(point.cell, fit.scan.axis) for fit in fits for point in fit.scan.points}
    pairs = [pair for pair in _pairs(tests.estimates) if pair[0].cell not in rungs]
    groups: dict[tuple[Any, ...], list[tuple[int, RunEstimate, RunEstimate]]] = {}
    for a, b in pairs:
        if (a.cell, "numbers") in curves and not _is_last(a, fits):
            continue
        others = tests.estimates.changes(a, TASK_KIND, "workers")
        count = int(a.condition.get("workers", 1))
        key = (a.workload, a.quantity, tuple(others.items()))
        groups.setdefault(key, []).append((count, a, b))
    contests = []
    for (workload, quantity, others), compared in groups.items():
        chosen = _ends(sorted(compared, key=lambda comparison: comparison[0]), tests.estimates.cpus or 1)
        made = [(count, tests.compare(a, b)) for count, a, b in chosen]
        distinct = [(count, comparison) for count, comparison in made if comparison is not None]
        if distinct:
            contests.append((_contest(workload, quantity, dict(others), distinct), (workload, dict(others), distinct)))
    return contests


def _is_last(row: RunEstimate, fits: Sequence[Fit]) -> bool:
    by_numbers = [fit for fit in fits if fit.scan.axis == "numbers"]
    return any(fit.scan.points[-1].cell == row.cell for fit in by_numbers)


def _variants(contests: list[tuple[Finding, _Contests]]) -> list[Finding]:
    """Where several conditions were compared with as many workers: those in which one kind takes longer, most first."""
    groups: dict[tuple[str, int], list[tuple[dict[str, int | str], Change[RunEstimate]]]] = {}
    for _, (workload, others, compared) in contests:
        for count, comparison in compared:
            groups.setdefault((workload, count), []).append((others, comparison))
    return [
        _variant(workload, count, variants)
        for (workload, count), variants in reversed(groups.items())
        if len(variants) >= _LEAST_VARIANTS
    ]


def _variant(workload: str, count: int, variants: list[tuple[dict[str, int | str], Change[RunEstimate]]]) -> Finding:
    first, second = (_NAMES[side] for side in SIDES)
    common = set.intersection(*({*others.items()} for others, _ in variants))
    parts = []
    for longer, (slow, fast) in {Direction.MORE: (first, second), Direction.LESS: (second, first)}.items():
        apart = [variant for variant in variants if variant[1].direction == longer]
        apart.sort(key=lambda variant: -variant[1].size)
        ratios = [f"{comparison.upward.text} times with {_apart(others, common)}" for others, comparison in apart]
        parts += [f"{slow} take longer than {fast}: {listed(ratios)}"] if ratios else []
    same = [_apart(others, common) for others, comparison in variants if comparison.direction == Direction.UNKNOWN]
    parts += [f"a difference is open with {listed(same)}"] if same else []
    text = headed(f"{workload}, {axis_words('workers', count)}", parts)
    numbers = {
        "workload": workload,
        "workers": count,
        "ratios": [{"condition": others, **numbers_of(comparison)} for others, comparison in variants],
        "cells": cells_of(comparison for _, comparison in variants),
    }
    return Finding(f"variants.{workload}.{count}", text, numbers)


def _apart(others: dict[str, int | str], common: set[tuple[str, int | str]]) -> str:
    named = [axis_words(*item) for item in others.items() if item not in common and item[0] != "numbers"]
    return " and ".join(named) or "nothing shared"


def _ends(pairs: list[tuple[int, RunEstimate, RunEstimate]], cpus: int) -> list[tuple[int, RunEstimate, RunEstimate]]:
    within = [pair for pair in pairs if pair[0] <= cpus]
    return [*within[-1:], *[pair for pair in pairs[-1:] if pair[0] > cpus]]


def _pairs(estimates: RunEstimates) -> list[tuple[RunEstimate, RunEstimate]]:
    return pairs_of_kinds(row for row in estimates.rows if row.family == FAMILY and not row.detail)


def _contest(
    workload: str, quantity: str, others: dict[str, int | str], comparisons: list[tuple[int, Change[RunEstimate]]]
) -> Finding:
    what = condition(others, None)
    head = f"{workload} {measured(None, quantity)}{f', {what}' if what else ''}"
    clauses = [f"with {axis_words('workers', count)}, {_verdict(comparison)}" for count, comparison in comparisons]
    last = comparisons[-1][1]
    numbers = numbers_of(last) | {
        "workers": [count for count, _ in comparisons],
        "ratios": [numbers_of(comparison) for _, comparison in comparisons],
        "cells": cells_of(comparison for _, comparison in comparisons),
    }
    name = ".".join([workload, *map(str, others.values())])
    return Finding(f"workers.{name}", headed(head, clauses), numbers, headed(head, clauses[-1:]))


def _verdict(comparison: Change[RunEstimate]) -> str:
    first, second = (_NAMES[side] for side in SIDES)
    return verdict(first, second, comparison, plural=True)


def _fits(tests: PairwiseTests, fits: Sequence[Fit]) -> list[Finding]:
    """One finding for each pair of curves that differ in the kind of task alone, or for one that stands alone."""
    groups: dict[tuple[Any, ...], dict[str, Fit]] = {}
    for fit in fits:
        first = fit.scan.points[0]
        others = tuple((axis, value) for axis, value in fit.scan.condition.items() if axis != TASK_KIND)
        key = (first.workload, first.quantity, fit.scan.axis, others)
        groups.setdefault(key, {})[str(first.condition.get(TASK_KIND, ""))] = fit
    return [
        _fit(tests, curves, dict(others), workload=workload, quantity=quantity, axis=axis)
        for (workload, quantity, axis, others), curves in groups.items()
    ]


def _fit(
    tests: PairwiseTests, fits: dict[str, Fit], others: dict[str, int | str], *, workload: str, quantity: str, axis: str
) -> Finding:
    some = next(iter(fits.values()))
    shape = "line" if some.polynomial.degree == 1 else "parabola"
    where = f"from {some.x[0]:,} to {some.x[-1]:,} {axis_title(axis)}"
    curves = [f"{_NAMES.get(kind, '')} {_curve(tests, fit)}".strip() for kind, fit in fits.items()]
    what = condition(others, None)
    head = f"a {shape} {where} through {workload} {measured(None, quantity)}{f', {what}' if what else ''}"
    clauses = curves
    numbers: dict[str, Any] = {
        "workload": workload,
        "quantity": quantity,
        "axis": axis,
        "curves": {kind or "all": _numbers(fit) for kind, fit in fits.items()},
        "cells": [point.cell for fit in fits.values() for point in fit.scan.points],
    }
    if set(SIDES) <= set(fits):
        ratios = [
            ratio_of_coefficients(fits[SIDES[0]].polynomial, fits[SIDES[1]].polynomial, power)
            for power in range(some.polynomial.degree + 1)
        ]
        numbers["coefficient_ratios"] = [None if ratio is None else list(ratio.ends) for ratio in ratios]
        clauses = [*curves, *_compared(tests, ratios, head)]
    name = ".".join([axis, workload, *map(str, others.values())])
    brief = [f"{_NAMES.get(kind, '')} R2 {_r_squared(fit)}".strip() for kind, fit in fits.items()]
    return Finding(f"fit.{name}", headed(head, clauses), numbers, sentence(f"{head}: {', '.join(brief)}"))


def _compared(tests: PairwiseTests, ratios: list[Interval | None], head: str) -> list[str]:
    """Say which terms of the two sides differ, by how much, and of which that could not be told."""
    first, second = (_NAMES[side] for side in SIDES)
    known = [(power, ratio) for power, ratio in reversed(list(enumerate(ratios))) if ratio is not None]
    texts, unsure = [], []
    for power, ratio in known:
        words = format_ratio(*ratio.ends)
        more = replace(ratio, value=ratio.value - 1, low=ratio.low - 1, high=ratio.high - 1)
        if tests.is_sure(more, head, power):
            texts.append(f"the {_POWERS[power]} of {first} is {words} times that of {second}")
        else:
            unsure.append(f"the {_POWERS[power]} ({words.replace(' (', ', ').removesuffix(')')})")
    unknown = f"a difference between {first} and {second} is open in {listed(unsure)}" if unsure else ""
    return [*texts, *([unknown] if unknown else [])]


def _curve(tests: PairwiseTests, fit: Fit) -> str:
    """Say the terms from the highest power down; one that is not surely other than 0 may be nothing."""
    last = fit.scan.points[-1]
    terms, unsure = [], []
    for power, coefficient in reversed(list(enumerate(fit.polynomial.coefficients))):
        unit = {0: "", 1: f" for each {axis_thing(fit.scan.axis)}"}.get(
            power, f" for each {axis_thing(fit.scan.axis)} squared"
        )
        sure = tests.is_sure(coefficient, last.cell, last.quantity, fit.scan.axis, power) if power else True
        if not sure:
            unsure.append(_POWERS[power])
        else:
            terms.append(f"{_coefficient(coefficient)}{unit}")
    zero = f"; the {listed(unsure)} may be zero" if unsure else ""
    return f"{' + '.join(terms)}{zero} (R2 {_r_squared(fit)})"


def _coefficient(coefficient: Interval) -> str:
    """A time, which for a square may be far below a nanosecond."""
    if abs(coefficient.value) >= 1:
        return format_duration_interval(*coefficient.ends)
    return f"{format_ratio(*coefficient.ends)} ns"


def _r_squared(fit: Fit) -> str:
    return format_ratio(*fit.polynomial.r_squared.ends).replace(" (", ", ").removesuffix(")")


def _numbers(fit: Fit) -> dict[str, Any]:
    fitted = fit.polynomial
    return {
        "x": list(fit.x),
        "coefficients_ns": [coefficient.value for coefficient in fitted.coefficients],
        "coefficients_ns_intervals": [[coefficient.low, coefficient.high] for coefficient in fitted.coefficients],
        "r_squared": fitted.r_squared.value,
        "r_squared_interval": [fitted.r_squared.low, fitted.r_squared.high],
        "n_values": fit.n_values,
        "method": fitted.coefficients[0].method,
    }


def _ablation(tests: PairwiseTests, evidence: AblationEvidence) -> Finding:
    ladder, rungs = evidence.ladder, evidence.rungs
    first, second = (_NAMES[side] for side in SIDES)
    gap, rest = ladder.gaps[0], ladder.gaps[-1]
    what = f"{evidence.workload} {measured(None, evidence.quantity)}"
    share = ladder.remainder_share
    both = f"{first} and {second}"
    if share is None or tests.difference(*rungs[0].sides).direction == Direction.UNKNOWN:
        text = f"{what}: a difference between {both} is open with everything shared ({_signed(gap)})"
        left = f"so there is no gap to explain; at the end, {first} minus {second} is {_signed(rest)}"
    else:
        text = f"{what}: {_gap(first, second, gap)} with everything shared"
        left = f"{_signed(rest)} are unexplained, {_share(share)} of the gap"
    steps = sorted(zip(rungs[1:], ladder.steps, strict=True), key=lambda step: -abs(step[1].value))
    seen = [
        f"{axis_words(*rung.taken)} {_signed(step)}"
        for rung, step in steps
        if rung.taken and tests.is_sure(step, evidence.workload, evidence.quantity, rung.taken)
    ]
    taken = f"steps that change the gap: {', '.join(seen)}" if seen else "no single step certainly changes the gap"
    numbers = {
        "gap_ns": gap.value,
        "gap_ns_interval": [gap.low, gap.high],
        "unexplained_ns": rest.value,
        "unexplained_ns_interval": [rest.low, rest.high],
        "unexplained_share": None if share is None else list(share.ends),
        "steps": [
            {"axis": rung.taken[0], "value": rung.taken[1], "step_ns": step.value, "ends_ns": [step.low, step.high]}
            for rung, step in zip(rungs[1:], ladder.steps, strict=True)
            if rung.taken
        ],
        "method": gap.method,
        "n_processes": gap.n,
        "cells": [side.cell for rung in rungs for side in rung.sides],
    }
    headline = sentences(text, left)
    return Finding(f"ablation.{evidence.workload}", sentences(text, taken, left), numbers, headline)


def _gap(first: str, second: str, gap: Interval) -> str:
    """Say who takes longer, by how much."""
    if gap.value < 0:
        first, second, gap = second, first, replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
    return f"{first} take {_signed(gap)} longer than {second}"


def _signed(interval: Interval) -> str:
    return format_duration_interval(*interval.ends)


def _share(interval: Interval) -> str:
    share = f"-{format_share(-interval.value)}" if interval.value < 0 else format_share(interval.value)
    return f"{share} ({100 * interval.low:.0f} to {100 * interval.high:.0f}%)"


FINDERS = (Finder(workers, 30),)
