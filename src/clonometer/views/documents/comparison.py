"""Comparisons of runs, of cells and of groups of hosts: what differs besides the figures, a table, the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from clonometer.dataset.types import FleetCompared
from clonometer.results.compare.types import Compared, ComparedPair, ComparedRow
from clonometer.views.comparison import (
    BEFORE,
    assurance,
    differences_text,
    in_pairs_text,
    is_stated,
    is_within_run,
    pick,
    reasons,
    row_style,
    same_run_text,
    shifts_text,
    sides_tables,
    summary,
)
from clonometer.views.comparison_picture import pair_panel
from clonometer.views.document import (
    BulletList,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Hint,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.figures.types import Panel
from clonometer.views.fleet import few_hosts, group_text, reading_notes, reading_text
from clonometer.views.table import INTERVAL_HEADING, Column, Table
from clonometer.views.terminal.text import wide_adds

SHORT_REASONS = 3
SHORT_ROWS = 11
SHORT_DIFFERENCES = 5
_Row = TypeVar("_Row")
#: Rows that a page draws.
MOST_DRAWN = 40
_RATIOS = "Ratios with their intervals; 1× is no change."


def comparison_document(compared: Compared, *, wide: bool = False) -> Document:
    """Make a document of comparisons; ``wide``: every row, every difference and every reason."""
    first, *others = compared.pairs
    title = f"Runs compared with {first.base}" if others else _title(first)
    same = all(pair.same_run for pair in compared.pairs)
    lead = same_run_text(same) if same else summary(compared)
    verdict: list[DocumentBlock] = [] if same else [Paragraph(lead)]
    rate = [Paragraph(_rate(compared))] if wide and not same else []
    decided = Paragraph(in_pairs_text(compared.in_pairs))
    return Document("compare", title, lead, [verdict, *_pairs(compared, wide=wide), [*rate, decided]])


def fleet_comparison_document(answer: FleetCompared, *, wide: bool = False) -> Document:
    """Make a document of groups of hosts against each other; as `comparison_document`."""
    lead = summary(answer.compared)
    groups: list[list[DocumentBlock]] = [
        [
            Paragraph(lead),
            Paragraph(reading_text(answer.reading)),
            *map(Note, reading_notes(answer.reading)),
            BulletList([*map(group_text, answer.groups)]),
            *(Paragraph(f"{name}: its hosts are in both groups, and each host is compared with itself.")
              for name in answer.paired),
        ],
        *_pairs(answer.compared, wide=wide),
        [Paragraph(_rate(answer.compared) if wide else ""), Paragraph(few_hosts(answer.reading))],
    ]  # fmt: skip
    return Document("fleet compare", f"Groups of hosts by {answer.by}", lead, groups, least_width=60)


def _rate(compared: Compared) -> str:
    """Say how often verdicts are wrong."""
    return assurance(compared.noise_source, compared.n_tests, compared.error_rate, "comparisons")


def _title(pair: ComparedPair) -> str:
    return f"{pair.other} compared with {pair.base}"


def _pairs(compared: Compared, *, wide: bool) -> list[list[DocumentBlock]]:
    several = len(compared.pairs) > 1
    pairs = (_pair(pair, number, several=several, wide=wide) for number, pair in enumerate(compared.pairs))
    return list(chain.from_iterable(pairs))


def _pair(pair: ComparedPair, number: int, *, several: bool, wide: bool) -> list[list[DocumentBlock]]:
    shown = pair.rows if wide else pick(pair.rows, SHORT_ROWS)
    heading = Heading(_title(pair)) if several else Paragraph(_title(pair), "bold")
    if pair.same_run:
        return [[heading, Paragraph(same_run_text(pair.same_run))]]
    about: list[DocumentBlock] = [heading]
    if pair.differences or not is_within_run(pair):
        about.append(Paragraph(differences_text(pair.differences, None if wide else SHORT_DIFFERENCES)))
    if pair.rows and not is_within_run(pair):
        about.append(Paragraph(shifts_text(pair.shifts)))
    panel = pair_panel(pair, number, MOST_DRAWN)
    # With runs for units nothing but that is left out before it is compared; with hosts, too few of them.
    rows: list[DocumentBlock] = [Paragraph("" if pair.left_out else "No row was measured in both.")]
    if shown:
        changed = [row for row in pair.rows if is_stated(row) or row.common_shift]
        rows = row_blocks(pair.rows, changed, shown, _tables, panel)
    return [about, [*rows, *limited_reasons(reasons(pair), len(pair.rows) - len(shown), wide=wide)]]


def row_blocks(
    rows: Sequence[_Row],
    changed: Sequence[_Row],
    shown: Sequence[_Row],
    tables: Callable[[Sequence[_Row]], Sequence[Table]],
    panel: Panel | None,
    *,
    kept: str = BEFORE,
) -> list[DocumentBlock]:
    """A table of the rows that are ``shown`` at a terminal; on a page of those that changed, a chart, and all, folded.

    ``tables`` gives a table in its forms, the widest first; ``kept`` as of `TableBlock`.
    """
    on_page = rows if len(rows) <= SHORT_ROWS else changed
    table = _for_page(tables(on_page)[0]) if on_page else Table([])
    folded = [] if on_page is rows else [Fold(f"All {len(rows)} rows", [TableBlock(_for_page(tables(rows)[0]))])]
    return [
        TableBlock(table, tables(shown) if shown else [Table([])], kept),
        *([FigureBlock("", _RATIOS, [panel], stacked=True)] if panel else []),
        *folded,
    ]


def _for_page(table: Table) -> Table:
    """Without the intervals of both medians: that of the change decides, and leaves no room for these."""
    return replace(table, columns=[column for column in table.columns if column.head != INTERVAL_HEADING])


def limited_reasons(reasons: Sequence[str], hidden_rows: int, *, wide: bool) -> list[DocumentBlock]:
    """Why something was not compared, the first reasons or all of them, and what ``--wide`` would add."""
    kept = reasons if wide else reasons[:SHORT_REASONS]
    return [*map(Note, kept), *map(Hint, wide_adds((hidden_rows, "row"), (len(reasons) - len(kept), "reason")))]


def _tables(rows: Sequence[ComparedRow]) -> tuple[Table, ...]:
    counts = [f"{row.base.n_processes}, {row.other.n_processes}" for row in rows]
    return sides_tables(rows, [Column("processes", counts, "point", drop=1)], [row_style(row) for row in rows])
