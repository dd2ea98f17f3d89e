"""A validation: errors and coverage of all, by state and by largest term."""

from __future__ import annotations

from clonometer.model.validated import COVERAGE, MEDIAN_ERROR, NINE_IN_TEN_ERROR, ErrorSummary, Validation
from clonometer.units import format_share
from clonometer.views.document import Document, DocumentBlock, Paragraph, TableBlock
from clonometer.views.table import Column, Table

_STATES = {
    "first": "first fork",
    "half_written": "half rewritten",
    "unwritten": "nothing rewritten",
    "later": "later fork",
    "first_hot": "first, hot",
    "half_written_hot": "half, hot",
    "unwritten_hot": "nothing, hot",
    "later_hot": "later, hot",
    "until_exit": "until exit",
    "until_exec": "until exec",
}


def validation_document(validation: Validation) -> Document:
    """Make a document of a validation."""
    whole = validation.whole
    lead = (
        f"Half of the predictions miss the median of a process's forks by at most {format_share(whole.median_error)} "
        f"(aim {format_share(MEDIAN_ERROR)}), and 90% by at most {format_share(whole.nine_in_ten_error)} (aim "
        f"{format_share(NINE_IN_TEN_ERROR)})."
    )
    coverage = (
        f"{format_share(whole.coverage)} of single forks lie in the interval that should hold 90% (aim "
        f"{format_share(COVERAGE[0])} to {format_share(COVERAGE[1])})."
    )
    table = TableBlock(_validation_table([whole, *validation.states, *validation.terms]))
    groups: list[list[DocumentBlock]] = [[table], [Paragraph(lead), Paragraph(coverage)]]
    return Document("predict --validate", "How far predictions miss on this machine", lead, groups, least_width=50)


def _validation_table(rows: list[ErrorSummary]) -> Table:
    return Table(
        [
            Column(
                "", [_STATES.get(row.group, row.group if row.group == "all" else f"most: {row.group}") for row in rows]
            ),
            Column("cases", [str(row.processes) for row in rows], "right"),
            Column("median error", [format_share(row.median_error) for row in rows], "right"),
            Column("9 in 10 below", [format_share(row.nine_in_ten_error) for row in rows], "right"),
            Column("bias", [_signed(row.bias) for row in rows], "right", drop=1),
            Column("in interval", [format_share(row.coverage) for row in rows], "right"),
        ]
    )


def _signed(share: float) -> str:
    return f"{'-' if share < 0 else '+'}{format_share(abs(share))}"
