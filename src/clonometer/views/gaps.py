"""Tables of ablations and of fitted curves, as texts: the same for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.grouping import group_by
from clonometer.results.series_types import TASK_KIND, AblationSeries, FitSeries, ValueWithEnds
from clonometer.units import (
    format_duration,
    format_duration_interval,
    format_figure,
    format_ratio,
    format_share,
    supported_decimals,
    table_unit,
)
from clonometer.views.scans import but_for_kind
from clonometer.views.table import Table, table_of_rows
from clonometer.words import axis_thing, axis_title, axis_words, mechanism_name, stage_name

_FIT_NOTE = "Time is the sum of the terms; 95% intervals in brackets."
_ALL_SHARED = "everything shared"


def ablation_table(ablation: AblationSeries) -> Table:
    """The rungs of an ablation: both sides, the gap, and what the step took off it; below, what is unexplained."""
    first, second = (axis_words(ablation.axis, side) for side in ablation.sides)
    unit = table_unit([max(abs(end) for rung in ablation.rungs for end in rung.gap_ns)])
    rows = [
        (
            label,
            format_duration(rung.first_ns),
            format_duration(rung.second_ns),
            _in_unit(rung.gap_ns, unit),
            _signed_percent(rung.gap_relative[0]),
            "" if rung.step_ns is None else _in_unit(rung.step_ns, unit),
            "" if rung.share is None else _share(rung.share),
        )
        for label, rung in zip(rung_labels(ablation), ablation.rungs, strict=True)
    ]
    rest = ablation.rungs[-1].gap_ns
    if ablation.remainder_share is not None:
        note = f"Unexplained: {format_duration_interval(*rest)}, {_share(ablation.remainder_share)} of the gap"
    else:
        note = (
            f"A difference between {first} and {second} is open with everything shared: there is no gap to "
            f"explain. "
            f"Left at the end: {format_duration_interval(*rest)}"
        )
    title = f"{ablation.workload} {stage_name(None, ablation.quantity)}: what is removed, one thing after the other"
    return table_of_rows(
        title,
        ("taken away", first, second, f"gap, {unit}", "gap, %", f"step, {unit}", "share"),
        tuple(rows),
        f"{note}.",
        ("share", first, second, "gap, %"),
    )


def rung_labels(ablation: AblationSeries) -> list[str]:
    """Name the rungs of an ablation by what changed."""
    return [
        _ALL_SHARED if rung.axis is None or rung.value is None else axis_words(rung.axis, rung.value)
        for rung in ablation.rungs
    ]


def fit_tables(fits: Sequence[FitSeries]) -> list[Table]:
    """A table for each axis and condition: a row a term, from the highest power down, and R2; a column a kind."""
    groups = group_by(((fit.workload, fit.quantity, fit.axis, but_for_kind(fit.condition)), fit) for fit in fits)
    return [_fit_table(kinds) for kinds in groups.values()]


def _fit_table(fits: Sequence[FitSeries]) -> Table:
    first = fits[0]
    thing, x = axis_thing(first.axis), first.points
    powers = {0: "constant", 1: f"each {thing}"}
    rows = [
        (powers.get(power, f"each {thing}^{power}"), *(coefficient_text(fit.coefficients[power]) for fit in fits))
        for power in range(len(first.coefficients) - 1, -1, -1)
    ]
    rows.append(("R2", *(format_ratio(*fit.r_squared) for fit in fits)))
    heads = [axis_words(TASK_KIND, fit.condition[TASK_KIND]) if TASK_KIND in fit.condition else "all" for fit in fits]
    title = f"{mechanism_name(first.workload)} by {axis_title(first.axis)}, from {x[0]:,} to {x[-1]:,}"
    others = [axis_words(*item) for item in but_for_kind(first.condition)]
    return table_of_rows(", ".join([title, *others]), ("term of the fit", *heads), tuple(rows), _FIT_NOTE)


def _in_unit(ends: ValueWithEnds, unit: str) -> str:
    """Write a signed time with its interval in the table's unit, to the digit that half of its width supports."""
    value, low, high = ends
    half = (high - low) / 2
    size = max(abs(value), half)
    decimals = supported_decimals(size, size - half, size + half, unit)
    texts = [format_figure(number, decimals, unit) for number in ends]
    middle, left, right = (text if text.strip("-0.") else text.removeprefix("-") for text in texts)
    return f"{middle} ({left} to {right})"


def coefficient_text(ends: ValueWithEnds) -> str:
    """Write a term of a fit with its interval: a time, which for a square may be far below a nanosecond."""
    value, low, high = ends
    return format_duration_interval(*ends) if abs(value) >= 1 else f"{format_ratio(value, low, high)} ns"


def _share(ends: ValueWithEnds) -> str:
    return f"{_percent(ends[0])} ({_percent(ends[1])} to {_percent(ends[2])})"


def _signed_percent(share: float) -> str:
    return f"{100 * share:+.0f}" if abs(share) >= 0.1 else f"{100 * share:+.1f}"


def _percent(share: float) -> str:
    return f"-{format_share(-share)}" if share < 0 else format_share(share)
