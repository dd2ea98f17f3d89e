"""Tables of ablations and of fitted curves, as texts: the same for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import AblationSeries, FitSeries
from clonometer.units import (
    format_duration,
    format_duration_interval,
    format_figure,
    format_ratio,
    format_share,
    supported_decimals,
    table_unit,
)
from clonometer.views.fitted import rung_labels
from clonometer.views.labels import mechanism_name, stage_name
from clonometer.words import axis_thing, axis_title, axis_words

Ends = tuple[float, float, float]


@dataclass(frozen=True)
class TextTable:
    """A table of texts: its heading, its rows, a sentence below it, and which columns go first where room is short."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    secondary: tuple[str, ...] = ()


def ablation_table(one: AblationSeries) -> TextTable:
    """The rungs of an ablation: both sides, the gap, and what the step took off it; below, what is unexplained."""
    first, second = (axis_words(one.axis, side) for side in one.sides)
    unit = table_unit([max(map(abs, rung.gap_ns)) for rung in one.rungs])
    rows = [
        (
            label,
            format_duration(rung.first_ns),
            format_duration(rung.second_ns),
            _in_unit(rung.gap_ns, unit),
            "" if rung.step_ns is None else _in_unit(rung.step_ns, unit),
            "" if rung.share is None else _share(rung.share),
        )
        for label, rung in zip(rung_labels(one), one.rungs, strict=True)
    ]
    rest = one.rungs[-1].gap_ns
    note = f"Unexplained: {_signed(rest)}"
    if one.remainder_share is not None:
        note += f", {_share(one.remainder_share)} of the gap"
    title = f"{one.workload} {stage_name(None, one.quantity)}: what is taken away, one thing after the other"
    return TextTable(
        title,
        ("taken away", first, second, f"gap, {unit}", f"step, {unit}", "share"),
        tuple(rows),
        f"{note}.",
        ("share", first, second),
    )


def fit_tables(fits: Sequence[FitSeries]) -> list[TextTable]:
    """A table for each axis: a row a curve, its coefficients from the highest power down, and R2."""
    tables = []
    for axis in dict.fromkeys(one.axis for one in fits):
        own = [one for one in fits if one.axis == axis]
        degree = max(len(one.coefficients) for one in own) - 1
        thing = axis_thing(axis)
        powers = {0: "constant", 1: f"each {thing}"}
        head = [powers.get(power, f"each {thing}^{power}") for power in range(degree, -1, -1)]
        rows = [
            (
                _curve_label(one),
                *(_time(one.coefficients[power]) for power in range(degree, -1, -1)),
                format_ratio(*one.r_squared),
            )
            for one in own
        ]
        x = own[0].points
        title = f"{mechanism_name(own[0].workload)} by {axis_title(axis)}, from {x[0]:,} to {x[-1]:,}"
        tables.append(TextTable(title, ("", *head, "R2"), tuple(rows), secondary=("constant",)))
    return tables


def _curve_label(one: FitSeries) -> str:
    return ", ".join(axis_words(*item) for item in one.condition.items()) or stage_name(None, one.quantity)


def _signed(ends: Ends) -> str:
    return format_duration_interval(*ends)


def _in_unit(ends: Ends, unit: str) -> str:
    """Write a signed time with its interval in the table's unit, to the digit that half of its width supports."""
    value, low, high = ends
    half = (high - low) / 2
    size = max(abs(value), half)
    decimals = supported_decimals(size, size - half, size + half, unit)
    texts = [format_figure(number, decimals, unit) for number in ends]
    middle, left, right = (text if text.strip("-0.") else text.removeprefix("-") for text in texts)
    return f"{middle} ({left} to {right})"


def _time(ends: Ends) -> str:
    value, low, high = ends
    return _signed(ends) if abs(value) >= 1 else f"{format_ratio(value, low, high)} ns"


def _share(ends: Ends) -> str:
    return f"{_percent(ends[0])} ({_percent(ends[1])} to {_percent(ends[2])})"


def _percent(share: float) -> str:
    return f"-{format_share(-share)}" if share < 0 else format_share(share)
