"""Two commands: what they are, a row a quantity, and what launching is of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clonometer.results.ab.command_types import CommandMedian, CommandRow, CommandsResult
from clonometer.results.ab.wording import change_text
from clonometer.units import approximate_bytes, format_duration, format_duration_interval
from clonometer.views.comparison import row_style, verdict_word
from clonometer.views.document import BulletList, Document, DocumentBlock, Note, Paragraph, TableBlock
from clonometer.views.documents.ab import change_texts, guarantee_text, p_text, summary_text, why_no_verdict
from clonometer.views.table import Column, Table


def commands_document(result: CommandsResult, *, wide: bool = False) -> Document:
    """Make a document of a comparison of two commands; ``wide``: with p, and what is guaranteed."""
    sides = (result.a, result.a_settings), (result.b, result.b_settings)
    first, second = (shlex.join(words) + _started_in(settings) for words, settings in sides)
    lead = summary_text(result)
    groups: list[list[DocumentBlock]] = [
        [Paragraph(f"A: {first}", "bold"), Paragraph(f"B: {second}", "bold")],
        [
            TableBlock(_ab_commands_table(result.rows, wide=wide)),
            BulletList([f"{row.sentence}." for row in result.rows]),
            *map(Note, why_no_verdict(result.rows)),
            Paragraph(_launch_text(result)),
            Paragraph(lead),
            Paragraph(guarantee_text(result) if wide else ""),
        ],
    ]
    return Document("ab", f"{second} against {first}", lead, groups)


def _started_in(settings: Sequence[str]) -> str:
    return f" (with {', '.join(settings)})" if settings else ""


def _ab_commands_table(rows: Sequence[CommandRow], *, wide: bool) -> Table:
    columns = [
        Column("", [row.name for row in rows]),
        Column("A", [_median(row, row.a) for row in rows], "right", drop=4),
        Column("B", [_median(row, row.b) for row in rows], "right", drop=3),
        Column("B above A", [f"{row.b_slower} of {row.pairs}" for row in rows], "right", drop=1),
        Column("change", [change_texts(row)[0] for row in rows], "right"),
        Column("interval", [change_texts(row)[1] for row in rows], "range", drop=2),
        *([Column("p", [p_text(row.change.p) for row in rows], "point", drop=1)] if wide else []),
        Column("verdict", [verdict_word(row) for row in rows]),
    ]
    return Table(columns, row_styles=[row_style(row) for row in rows])


def _median(row: CommandRow, side: CommandMedian) -> str:
    return format_duration(side.median) if row.unit == "ns" else approximate_bytes(side.median)


def _launch_text(result: CommandsResult) -> str:
    """What of both is launching, and how much more B takes without it."""
    empty = result.empty
    if empty.low is None or empty.high is None:
        takes = format_duration(empty.median)
    else:
        takes = format_duration_interval(empty.median, empty.low, empty.high)
    text = f"Launching an empty program takes {takes}, which is part of both wall times."
    wall = result.rows[0]
    if wall.verdict.is_change and wall.net_ratio and wall.net_interval and wall.net_interval[0] > 0:
        text += f" Without it B is {verdict_word(wall)} {change_text(wall.net_ratio, wall.net_interval)}."
    brief = [
        name for name, side in (("A", wall.a), ("B", wall.b)) if side.low and empty.high and side.low <= empty.high
    ]
    if brief:
        whose = "their" if brief[1:] else "its"
        text += f" {' and '.join(brief)} may take no longer than that, so {whose} own work is not seen."
    return text
