"""The tables of a run's estimates: the answer, temperatures side by side, and a row an estimate with its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.families import family as family_of
from clonometer.results.types import Estimate
from clonometer.units import Figures
from clonometer.views.labels import family_name, placement_name
from clonometer.views.rows import (
    EstimateRow,
    launches_unit,
    median_text,
    plain_figure,
    quantity_label,
    row_unit,
    shared_phrases,
    temperatures,
    value_unit,
)
from clonometer.views.statistics import statistic_columns
from clonometer.views.table import INTERVAL_HEADING, Column, Table, label_column
from clonometer.words import cell_parts, mechanism_name, stage_name

#: Letters of a label from which on it runs down the rows that share it.
_LONGEST_LABEL = 20
#: The one unit of the table of all cells.
CELL_UNIT = "µs"


def answer_table(rows: Sequence[EstimateRow]) -> Table:
    """Make a family's table for a page: a line a mechanism and stage, with the median and interval of each temperature.

    A row that may not be ranked has an asterisk.
    """
    columns = [
        _label_column("mechanism", rows),
        Column("until", [_until(row) for row in rows], tips=["" if row.rankable else "not ranked" for row in rows]),
    ]
    # What has no temperature stands in the first column, under a heading of its own where nothing has one.
    warmths: list[str | None] = [warmth for warmth in temperatures(rows) if warmth is not None] or [None]
    for index, warmth in enumerate(warmths):
        columns += _median_columns(rows, warmth, None if index == 0 else warmth)
    return Table(columns)


def _median_columns(rows: Sequence[EstimateRow], warmth: str | None, otherwise: str | None) -> list[Column]:
    unit = launches_unit(rows)
    texts = [
        median_text(estimate, row_unit(row, unit)) if estimate else Figures("")
        for row in rows
        for estimate in [row.estimates.get(warmth) or row.estimates.get(otherwise)]
    ]
    return [
        Column(warmth or "median", [text.value for text in texts], "point"),
        Column(INTERVAL_HEADING, [text.interval for text in texts], "range"),
    ]


def is_pinned(rows: Sequence[EstimateRow]) -> bool:
    """Whether rows are of launches that all were kept on one CPU."""
    launches = any(row.any_estimate.stage for row in rows)
    return launches and all(row.any_estimate.condition.get("placement") == "pinned" for row in rows)


def wide_table(family: str, rows: Sequence[EstimateRow]) -> Table:
    """Make a family's table of everything: a line an estimate, with all statistics."""
    # The unit is that of the stages: what is none says its own.
    launches = any(row.any_estimate.stage for row in rows)
    pairs = [(row, estimate) for row in rows for estimate in row.estimates.values()]
    of_estimates = [row for row, _ in pairs]
    unit = launches_unit(rows)
    units = [row_unit(row, unit) for row in of_estimates]
    texts = [median_text(estimate, own_unit) for (_, estimate), own_unit in zip(pairs, units, strict=True)]
    return Table(
        [
            _label_column(f"{family_name(family)}; {unit}" if launches else family_name(family), of_estimates),
            Column("until", [_until(row) for row in of_estimates]),
            Column("", [estimate.temperature or "" for _, estimate in pairs], optional=True),
            Column("median", [text.value for text in texts], "point"),
            Column(INTERVAL_HEADING, [text.interval for text in texts], "range"),
            *statistic_columns(
                [vars(estimate) for _, estimate in pairs],
                lambda number, time_ns: plain_figure(time_ns, units[number]),
            ),
        ]
    )


def _label_column(head: str, rows: Sequence[EstimateRow]) -> Column:
    shared = shared_phrases(rows)
    labels = [row.label_parts(shared) for row in rows]
    return label_column(labels, head=", ".join([head, *shared]), most=_LONGEST_LABEL)


def _until(row: EstimateRow) -> str:
    return quantity_label(row) if row.rankable else f"{quantity_label(row)}*"


def cell_table(estimates: Sequence[Estimate]) -> Table:
    """Make the table of every estimate, in one unit, so that it can be sorted."""
    texts = [median_text(estimate, CELL_UNIT) for estimate in estimates]
    medians = [estimate.median_ns if estimate.value is None else estimate.value for estimate in estimates]
    columns = [
        Column("mechanism", [mechanism_name(estimate.workload) for estimate in estimates]),
        Column("condition", [_condition(estimate) for estimate in estimates]),
        Column("temperature", [estimate.temperature or "" for estimate in estimates]),
        Column("placement", [placement_name(estimate) for estimate in estimates]),
        Column("until", [_measured_until(estimate) for estimate in estimates]),
        Column("median", [text.value for text in texts], "right", numbers=medians),
        Column(INTERVAL_HEADING, [text.interval for text in texts], "range"),
        *(
            replace(column, align="right")
            for column in statistic_columns(
                [vars(estimate) for estimate in estimates], lambda _, time_ns: plain_figure(time_ns, CELL_UNIT)
            )
        ),
        Column("notes", [_notes(estimate) for estimate in estimates], prose=True, folded="notes"),
    ]
    tips = [estimate.cell for estimate in estimates]
    return Table([column for column in columns if not column.is_empty], row_tips=tips)


def _condition(estimate: Estimate) -> str:
    _, parts = cell_parts(estimate.cell)
    return ", ".join(part for part in parts if not part.startswith(("temperature=", "placement=")))


def _notes(estimate: Estimate) -> str:
    notes = [] if estimate.rankable else [estimate.not_rankable_reason or "not ranked"]
    failed = [f"{name} {count}" for name, count in estimate.outcomes.items() if name != "ok" and count]
    notes += [f"failed {family_of(estimate.family).samples}: {', '.join(failed)}"] if failed else []
    notes += [f"clock skew in {estimate.clock_skew}"] if estimate.clock_skew else []
    return "; ".join([*notes, *(_without_subject(warning.sentence, estimate.cell) for warning in estimate.warnings)])


def _without_subject(sentence: str, cell: str) -> str:
    """What a sentence says of a cell, without naming it: its row does.

    Examples
    --------
    >>> _without_subject("launch.fork[pages=clean], reaped: only 6 samples", "launch.fork[pages=clean]")
    'only 6 samples'
    """
    rest = sentence.removeprefix(cell)
    _, colon, what = rest.partition(": ")
    return what if colon and rest != sentence else sentence


def _measured_until(estimate: Estimate) -> str:
    """Name the stage or quantity; the table is in one unit, which what is no time does not have."""
    name = stage_name(estimate.stage, estimate.quantity)
    return name if estimate.value is None else f"{name} ({value_unit(estimate) or estimate.unit})"
