"""The tables of a run's estimates: the answer, temperatures side by side, and a row an estimate with its statistics."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.units import Figures
from clonometer.views.labels import family_name
from clonometer.views.rows import (
    EstimateRow,
    launches_unit,
    median_text,
    plain_figure,
    quantity_label,
    row_unit,
    temperatures,
)
from clonometer.views.statistics import statistic_columns
from clonometer.views.table import INTERVAL_HEADING, Column, Table, label_column

#: Letters of a label from which on it runs down the rows that share it.
_LONGEST_LABEL = 20


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
    return label_column([(row.mechanism, *row.phrases) for row in rows], head=head, most=_LONGEST_LABEL)


def _until(row: EstimateRow) -> str:
    return quantity_label(row) if row.rankable else f"{quantity_label(row)}*"
