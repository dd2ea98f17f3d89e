"""The tables of a run's estimates: the answer, temperatures side by side, and a row an estimate with its statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clonometer.views.labels import family_name
from clonometer.views.rows import (
    EstimateRow,
    families,
    launches_unit,
    median_text,
    plain_figure,
    quantity_label,
    row_unit,
    temperatures,
)
from clonometer.views.statistics import statistic_columns
from clonometer.views.table import BREAK, INTERVAL_HEADING, Column, Table

_LONGEST_LABEL = 20
_SHORTEST_LABEL = 12


def answer_tables(rows: Sequence[EstimateRow]) -> list[Table]:
    """Make a table of each family: a line a mechanism and stage, with the median and interval of each temperature.

    All have the same columns. Where there is no room for the second temperature its interval goes first. A row that may
    not be ranked has an asterisk.
    """
    # What has no temperature stands in the first column, under a heading of its own.
    warmths: list[str | None] = [warmth for warmth in temperatures(rows) if warmth is not None] or [None]
    return [_answer_table(family, members, warmths) for family, members in families(rows).items()]


def _answer_table(family: str, rows: Sequence[EstimateRow], warmths: Sequence[str | None]) -> Table:
    columns = [_labels("", rows), Column("", [_until(row) for row in rows], tips=_marks(rows))]
    for place, warmth in enumerate(warmths):
        columns += _median_columns(rows, warmth, place)
    pinned = is_pinned(rows)
    return Table(columns, _with_unit(f"{family_name(family)}{', pinned' if pinned else ''}", rows))


def is_pinned(rows: Sequence[EstimateRow]) -> bool:
    """Whether rows are of launches that all were kept on one CPU."""
    launches = any(row.any_estimate.stage for row in rows)
    return launches and all(row.any_estimate.condition.get("placement") == "pinned" for row in rows)


def _median_columns(rows: Sequence[EstimateRow], warmth: str | None, place: int) -> list[Column]:
    unit = launches_unit(rows)
    without = None if place == 0 else warmth
    estimates = [row.estimates.get(warmth) or row.estimates.get(without) for row in rows]
    head = _warmth_heading(rows, warmth, place)
    texts = [
        (text.median, text.interval) if estimate else ("", "")
        for row, estimate in zip(rows, estimates, strict=True)
        for text in [median_text(estimate, row_unit(row, unit))]
    ]
    medians, intervals = ([pair[end] for pair in texts] for end in (0, 1))
    return [
        Column(head, medians, "point", drop=2 * place),
        Column(INTERVAL_HEADING if head else "", intervals, "range", drop=place, dim=True),
    ]


def _warmth_heading(rows: Sequence[EstimateRow], warmth: str | None, place: int) -> str:
    """Head a family's column: its temperature, or plainly the median where it has none."""
    warmths = {measured for row in rows for measured in row.estimates}
    if warmth is not None and warmth in warmths:
        return warmth
    if None in warmths and place == 0:
        return "median"
    return "" if warmths == {None} else warmth or ""


def wide_tables(rows: Sequence[EstimateRow]) -> list[Table]:
    """Make a table of each family: a line an estimate, with all statistics."""
    return [_wide_table(family, members) for family, members in families(rows).items()]


def _wide_table(family: str, rows: Sequence[EstimateRow]) -> Table:
    pairs = [(row, estimate) for row in rows for estimate in row.estimates.values()]
    of_estimates = [row for row, _ in pairs]
    unit = launches_unit(rows)
    units = [row_unit(row, unit) for row in of_estimates]
    texts = [median_text(estimate, own_unit) for (_, estimate), own_unit in zip(pairs, units, strict=True)]
    return Table(
        [
            _labels(_with_unit(family_name(family), rows).removesuffix(" until"), of_estimates),
            Column("until", [_until(row) for row in of_estimates]),
            Column("", [estimate.temperature or "" for _, estimate in pairs], optional=True),
            Column("median", [text.median for text in texts], "point"),
            Column(INTERVAL_HEADING, [text.interval for text in texts], "range"),
            *statistic_columns(
                [vars(estimate) for _, estimate in pairs],
                lambda number, time_ns: plain_figure(time_ns, units[number]),
            ),
        ]
    )


def _labels(head: str, rows: Sequence[EstimateRow]) -> Column:
    texts = [BREAK.join((row.mechanism, *row.phrases)) for row in rows]
    return Column(head, texts, once=True, wrap_at=_LONGEST_LABEL, least=_SHORTEST_LABEL)


def _with_unit(words: str, rows: Sequence[EstimateRow]) -> str:
    """Add the unit of the stages, if there are any: what is none says its own."""
    launches = any(row.any_estimate.stage for row in rows)
    return f"{words}; {launches_unit(rows)} until" if launches else words


def _until(row: EstimateRow) -> str:
    return quantity_label(row) if row.rankable else f"{quantity_label(row)}*"


def _marks(rows: Iterable[EstimateRow]) -> list[str]:
    return ["" if row.rankable else "not ranked" for row in rows]
