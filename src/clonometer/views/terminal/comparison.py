"""Comparisons on a terminal: what differs between the hosts, a table, a summary. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.ab.command_types import CommandRow
from clonometer.results.ab.types import AbRow
from clonometer.results.compare.types import Compared, ComparedPair, ComparedRow
from clonometer.verdicts import Direction
from clonometer.views.comparison import (
    BEFORE,
    differences_text,
    is_within_run,
    pick,
    reasons,
    same_run_text,
    shifts_text,
    sides_tables,
    summary,
)
from clonometer.views.table import Column, Table
from clonometer.views.terminal.table import draw_with
from clonometer.views.terminal.text import painted, rendered, wide_adds, wrap, wrap_each

SHORT_REASONS = 3
SHORT_ROWS = 11
SHORT_DIFFERENCES = 5


def verdict_style(row: ComparedRow | AbRow | CommandRow) -> str | None:
    """How a row with a difference stands out."""
    if not row.verdict.is_change:
        return None
    return "bad" if row.is_time and row.verdict == Direction.MORE else "bold"


@rendered(least_width=40)
def render_comparison(compared: Compared, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write comparisons; ``wide``: every row, every difference and every reason."""
    return comparison_lines(compared, width=width, colour=colour, wide=wide)


def comparison_lines(compared: Compared, *, width: int, colour: bool, wide: bool) -> list[str]:
    """The lines of `render_comparison`."""
    parts = [_pair(pair, width, wide, colour) for pair in compared.pairs]
    if not all(pair.same_run for pair in compared.pairs):
        parts.append(wrap(summary(compared, wide), width))
    return [line for part in parts for line in ("", *part)][1:]


def _pair(pair: ComparedPair, width: int, wide: bool, colour: bool) -> list[str]:
    shown = pair.rows if wide else pick(pair.rows, SHORT_ROWS)
    drawn = painted(wrap(f"{pair.other} against {pair.base}", width), "bold", colour)
    if pair.same_run:
        return [*drawn, *wrap(same_run_text(pair.same_run), width)]
    if pair.differences or not is_within_run(pair):
        drawn += wrap(differences_text(pair.differences, None if wide else SHORT_DIFFERENCES), width)
    if pair.rows and not is_within_run(pair):
        drawn += wrap(shifts_text(pair.shifts), width)
    table = draw_with(BEFORE, _tables(shown), width, colour) if shown else ["Nothing was measured in both."]
    drawn += ["", *table]
    return drawn + reason_lines(reasons(pair), len(pair.rows) - len(shown), width=width, wide=wide)


def _tables(rows: Sequence[ComparedRow]) -> tuple[Table, ...]:
    counts = [f"{row.base.n_processes}, {row.other.n_processes}" for row in rows]
    further = [Column("processes", counts, "point", drop=1)]
    return sides_tables(rows, further, [verdict_style(row) for row in rows])


def reason_lines(reasons: Sequence[str], hidden_rows: int, *, width: int, wide: bool) -> list[str]:
    """Write why something was not compared, the first reasons or all of them, and what ``--wide`` would add."""
    kept = reasons if wide else reasons[:SHORT_REASONS]
    lines = wrap_each(kept, width, bullet="! ")
    return lines + wide_adds((hidden_rows, "row"), (len(reasons) - len(kept), "reason"))
