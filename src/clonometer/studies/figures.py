"""Published figures beside this machine's: one row for each published number."""

from __future__ import annotations

from collections.abc import Iterable

from clonometer.results.findings.ends import interval_ends
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.quantiles import quantile_interval
from clonometer.studies.cells import parent_bytes
from clonometer.studies.judge import Judge, MissingEvidenceError
from clonometer.studies.measured import Measurements
from clonometer.studies.published import UNITS, Item, PublishedValue
from clonometer.studies.types import FigureRow, Verdict
from clonometer.studies.workers import computed
from clonometer.units import approximate_bytes, format_duration, format_duration_interval
from clonometer.verdicts import Status
from clonometer.words import PLACEMENT_NAMES


def figure_rows(item: Item, measured: Measurements, judge: Judge | None = None) -> list[FigureRow]:
    """Set every number of a figure beside what was measured.

    ``judge`` makes the intervals of what is computed from several cells (`clonometer.studies.workers`).
    """
    if any(value.cell is None for value in item.values):
        return _computed(item, judge or Judge(measured))
    return [_row(item.id, value, measured) for value in item.values]


def _computed(item: Item, judge: Judge) -> list[FigureRow]:
    try:
        values_and_cells = computed(item.id, judge)
    except MissingEvidenceError as error:
        return [FigureRow(item.id, value, None, None, None, str(error), ()) for value in item.values]
    return [
        FigureRow(item.id, value, None, None, None, "one of the two may be zero, so there is no ratio", cells)
        if interval is None
        else FigureRow(item.id, value, *interval.ends, "", cells)
        for value, (interval, cells) in zip(item.values, values_and_cells, strict=True)
    ]


def figure_verdict(rows: Iterable[FigureRow]) -> Verdict:
    """A figure is measured if one of its numbers is; a control is none of them."""
    rows = [row for row in rows if not row.published.control]
    measured = [row for row in rows if row.value is not None]
    cells = tuple(dict.fromkeys(cell for row in rows for cell in row.cells))
    if not measured:
        why = rows[0].note.removeprefix("not measured here: ")
        return Verdict(Status.NOT_MEASURABLE, f"Not measured here: {why}.", evidence=cells)
    first = measured[0]
    interval = None if first.low is None or first.high is None else (first.low, first.high)
    notes = "; ".join(dict.fromkeys(row.note for row in rows if row.note))
    reason = f"{first.published.what}, in {first.published.unit}" + (f" ({notes})" if notes else "") + "."
    return Verdict(Status.MEASURED, reason, first.value, interval, f"{first.published.unit}", cells)


def _row(id_: str, value: PublishedValue, measured: Measurements) -> FigureRow:
    assert value.cell is not None
    assert value.quantity is not None
    row = measured.find(value.cell, value.quantity)
    if row is None:
        return FigureRow(id_, value, None, None, None, _missing(value, measured), (value.cell,))
    ours, low, high = _scaled(row, value)
    notes = [note for note in (_place(row, measured), _inside(value, measured)) if note]
    return FigureRow(id_, value, ours, low, high, ", ".join(notes), (value.cell,))


def _inside(value: PublishedValue, measured: Measurements) -> str:
    """How long the launching call took as the kernel's own events have it, which is what strace looks at."""
    call = None if value.side is None else measured.loops.making(value.side)
    if call is None:
        return ""
    means = "under ptrace" if measured.loops.means == "ptrace" else "by the kernel's events"
    return f"{call.name} {means} {format_duration(call.each_ns)}"


def _scaled(row: RunEstimate, value: PublishedValue) -> tuple[float, float | None, float | None]:
    interval = quantile_interval(row.processes.values)
    factor = value.times / UNITS[value.unit]
    low, high = interval_ends(interval, factor) or (None, None)
    return interval.value * factor, low, high


def _place(row: RunEstimate, measured: Measurements) -> str:
    """Say where the tasks ran, if that was left free and they did not all run alike."""
    placed = measured.placements(row.cell, row.quantity)
    total = sum(row.n_samples for row in placed.values())
    if row.placement not in PLACEMENT_NAMES or "placement=free" not in row.cell or not total:
        return ""
    share = row.n_samples / total
    return PLACEMENT_NAMES[row.placement] + ("" if share > 0.995 else f" ({share:.0%})")


def _missing(value: PublishedValue, measured: Measurements) -> str:
    """Why there is no number, and what the same launch takes with the most memory that was measured.

    Nothing is inferred from that: thread creation beside 4 GB is as dear as beside 512 MB, and fork is not.
    """
    assert value.cell is not None
    assert value.quantity is not None
    most = measured.largest(value.cell)
    row = measured.find(most, value.quantity) if most else None
    needed = parent_bytes(value.cell)
    if row is None or most is None or not needed or parent_bytes(most) >= needed:
        return f"{value.cell}: {measured.why(value.cell)}"
    median, low, high = _scaled(row, value)
    ends = format_duration_interval(*(end * UNITS[value.unit] for end in (median, low or median, high or median)))
    return f"not measured here: needs {approximate_bytes(needed)}; with {approximate_bytes(parent_bytes(most))} {ends}"
