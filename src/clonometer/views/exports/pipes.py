"""Tables as GitHub-flavoured Markdown draws them: with pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.views.table import Table


def pipe_table(table: Table) -> Iterator[str]:
    """Draw a table, a line after the other, each ended by a newline; its title and note are left to the caller."""
    yield _line(table.head)
    yield _line(["---:" if column.align != "left" else "---" for column in table.columns])
    yield from map(_line, table.rows)


def _line(texts: Sequence[str]) -> str:
    # A pipe inside a cell, even one between backticks, would end it.
    return "| " + " | ".join(text.replace("|", r"\|").replace("\n", " ") for text in texts) + " |\n"
