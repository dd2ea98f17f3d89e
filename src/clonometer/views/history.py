"""Arranges the history of a folder for every view: texts of steps and events, sparklines."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from clonometer.dataset.history_types import (
    BOOTS,
    CHANCE,
    FEW_RUNS,
    History,
    HistoryEvent,
    HistoryRow,
    HistoryStep,
)
from clonometer.results.change import Change
from clonometer.results.compare.types import BOOT, Difference
from clonometer.units import format_share, table_unit
from clonometer.verdicts import Gate
from clonometer.views.changes import change_words, range_words
from clonometer.views.comparison import differences_text
from clonometer.views.labels import label_parts
from clonometer.views.rows import first_ranked, is_part, median_text
from clonometer.views.table import MISSING, Column, Table, label_column
from clonometer.words import counted, stage_name

#: From the lowest to the highest level of a series.
_LEVELS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 16
#: Within this share all values of a series are drawn as one level, so that noise does not fill the line.
_LEAST_RANGE = 0.04
#: Rows whose changes differ by less are said to have changed by the same.
_ALIKE = 1.01
_UNSURE = {
    FEW_RUNS: " Suspected: a step needs 7 runs to be certain.",
    BOOTS: " Suspected: it came with a reboot, and boots may differ by as much; certainty needs at least two boots "
    "on each side.",
    CHANCE: " Suspected: likely, but a quarter of such steps are chance.",
}


def verdict_text(history: History) -> str:
    """Say whether there is a regression, or why nobody can tell."""
    allowed = format_share(history.max_regression)
    if history.verdict == Gate.UNKNOWN:
        if not history.rows:
            return f"Cannot tell: no row has at least 12 runs ({history.n_short:,} have fewer)."
        if count := history.counts.suspected:
            return f"Cannot tell: {counted(count, 'row')} may have become slower by {allowed} or more (suspected)."
        seen = len(history.rows) - history.n_blind
        rows = "no row" if not seen else f"only {seen} of {counted(len(history.rows), 'row')}"
        none = ", and none of these has one" if seen else ""
        return f"Cannot tell: {rows} can show a lasting slowdown of {allowed}{none} ({_runs(history)})."
    longest = max((len(row.values) for row in history.rows), default=0)
    recent = min(history.recent, longest)
    when = f"since {history.since[:10]}" if history.since else f"in the last {recent} runs"
    if history.verdict == Gate.PASS:
        seen, every = len(history.rows) - history.n_blind, len(history.rows)
        rows = f"the {counted(every, 'row')}" if seen == every else f"the {seen} of {every} rows that can show one"
        return f"No regression: no lasting slowdown of {allowed} or more {when}, in {rows}."
    count = history.counts.regressions
    rows = f"{count} row{' has' if count == 1 else 's have'}"
    return f"Regression: {rows} become slower by {allowed} or more {when}."


def _runs(history: History) -> str:
    """How many runs the series have."""
    sizes = {len(row.values) for row in history.rows}
    least, most = min(sizes), max(sizes)
    return f"{most} runs" if least == most else f"{least} to {most} runs"


def event_text(event: HistoryEvent) -> str:
    """Say when rows of a series changed, how many, by how much, and what changed with them."""
    if event.slower and event.faster:
        what = f"{event.slower} of {event.n_rows} rows slower and {event.faster} faster"
        size = f"between {range_words(event.least, event.most)}"
    else:
        what = f"{event.slower or event.faster} of {event.n_rows} rows {'slower' if event.slower else 'faster'}"
        alike = event.most / event.least < _ALIKE
        low, high = (None, None) if alike else (event.least, event.most)
        change = Change(base="before", other="after", value=event.ratio, low=low, high=high)
        size = "by " + change_words(change).replace(" slower", "").replace(" faster", "")
    return (
        f"{event.series}, since {event.since[:16].replace('T', ' ')} ({event.run}): {what}, {size}. "
        f"{causes_text(event.causes, 4)}{_UNSURE.get(event.unsure or '', '')}"
    )


def causes_text(causes: Sequence[Difference], most: int) -> str:
    """Say what changed with a step."""
    if not causes:
        return "No recorded fact changed with it."
    if all(cause.key == BOOT for cause in causes):
        return "It came with a reboot; no other recorded fact changed with it."
    return differences_text(causes, most).replace("The runs differ in", "With it changed")


def causes_label(causes: Sequence[Difference]) -> str:
    """Name the first of what changed with a step, in few words; empty where nothing did."""
    if causes and all(cause.key == BOOT for cause in causes):
        return "another boot"
    return differences_text(causes, 1).removeprefix("The runs differ in ").removesuffix(".") if causes else ""


def notes(history: History) -> list[str]:
    """Say which rows nothing can be said of."""
    short = f"{history.n_short:,} rows have fewer than 12 runs."
    allowed = format_share(history.max_regression)
    blind = (
        f"{history.n_blind:,} of {len(history.rows):,} rows are too noisy to reveal a change of {allowed} in 7 runs."
    )
    return [text for count, text in ((history.n_short, short), (history.n_blind, blind)) if count and history.rows]


def step_text(row: HistoryRow, step: HistoryStep) -> str:
    """Say what a step changed, with its interval."""
    return change_words(step.change, is_time=row.label.is_time)


def history_table(rows: Sequence[HistoryRow]) -> Table:
    """Rows with the level of now, the last step, and a line of their values."""
    levels = [_level(row) for row in rows]
    estimates = [
        row.label.estimate((level, None, None), len(row.values), 0) for row, level in zip(rows, levels, strict=True)
    ]
    unit = table_unit([estimate.median_ns for estimate in estimates])
    last = [row.steps[-1] if row.steps else None for row in rows]
    suspected = " A change with ? is only suspected." if any(step and step.unsure for step in last) else ""
    return Table(
        [
            label_column(label_parts(row.label) for row in rows),
            Column("until", [stage_name(row.label.stage, row.label.quantity) for row in rows]),
            Column("now", [median_text(estimate, unit).value for estimate in estimates], "point"),
            Column(
                "last change",
                [
                    f"{step_text(row, step)}{'?' if step.unsure else ''}" if step else MISSING
                    for row, step in zip(rows, last, strict=True)
                ],
            ),
            Column("since", [step.since[:10] if step else "" for step in last], optional=True, drop=2),
            Column("seen after", [f"{step.seen_after} runs" if step else "" for step in last], optional=True, drop=1),
            Column("all runs", [sparkline(row.values) for row in rows], drop=3),
        ],
        title=f"Levels in {unit}.{suspected}",
        row_styles=["bad" if step and step.is_regression else None for step in last],
    )


def _level(row: HistoryRow) -> float:
    start = row.steps[-1].place if row.steps else 0
    return float(median(row.values[start:]))


def sparkline(values: Sequence[float], width: int = SPARK_WIDTH) -> str:
    """Draw values as a line of blocks, each the median of its share of them; empty where there are none.

    Examples
    --------
    >>> sparkline([1, 1, 1, 2, 2, 2], 6), sparkline([1, 1.01], 6)
    ('▁▁▁███', '▄▄')
    """
    if not values:
        return ""
    count = min(width, len(values))
    edges = [len(values) * index // count for index in range(count + 1)]
    drawn = [median(values[edges[index] : edges[index + 1]]) for index in range(count)]
    low, high = min(drawn), max(drawn)
    if high - low <= _LEAST_RANGE * abs(high):
        return _LEVELS[len(_LEVELS) // 2 - 1] * count
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[round((value - low) / (high - low) * top)] for value in drawn)


def drawn_rows(history: History, most: int) -> list[HistoryRow]:
    """Choose rows to show: regressions first, then those with steps, the most evident first; in their order."""

    def rank(row: HistoryRow) -> tuple[bool, bool, float]:
        evidence = max((step.evidence for step in row.steps), default=0.0)
        regresses = any(step.is_regression for step in row.steps)
        return (not regresses, is_part(row.label.stage) and not row.steps, -evidence)

    return first_ranked(history.rows, rank, most)
