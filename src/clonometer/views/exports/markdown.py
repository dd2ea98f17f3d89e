"""Markdown, as GitHub draws it: a table for an issue or a mail, with the digits that the intervals support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.units import Figures, figures, format_duration
from clonometer.views.exports.entries import figures as measured_figures
from clonometer.views.exports.entries import figures_unit, measured
from clonometer.views.statistics import statistic_columns
from clonometer.views.table import DRIFTS, INTERVAL_HEADING, MISSING, Column, Table
from clonometer.views.warning_groups import for_all


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode the estimates as a table of pipes, then findings and warnings as lists."""
    host = document["host"]
    facts = [host.get("cpu.model"), f"Linux {host.get('kernel.release') or '?'}", f"plan {document['plan']}"]
    yield f"{', '.join(_escaped(str(fact)) for fact in facts if fact)}; {document['started']}; {document['status']}\n\n"
    yield from pipe_table(_cells_table(document["cells"]))
    findings = [finding["sentence"] for finding in document["findings"]]
    warnings = [for_all(warning["sentence"], warning["alike"]) for warning in document["warnings"]]
    missing = [f"{language['reason']}." for language in document.get("missing_languages", ())]
    for title, sentences in (("Not measured", missing), ("Findings", findings), ("Warnings", warnings)):
        if sentences:
            yield f"\n{title}:\n\n"
            yield from (f"- {_escaped(sentence)}\n" for sentence in sentences)


def _cells_table(cells: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        [
            Column("cell", [f"`{cell['cell']}`" for cell in cells]),
            Column("until", [measured(cell).replace("_", " ") for cell in cells]),
            Column("placement", [(cell["placement"] or "").replace("_", " ") for cell in cells]),
            Column("median", [_median(cell) for cell in cells], "point"),
            Column(INTERVAL_HEADING, [_interval(cell) for cell in cells], "range"),
            *statistic_columns(cells, lambda _, time_ns: format_duration(time_ns)),
        ]
    )


def _figures(cell: Mapping[str, Any]) -> Figures | None:
    numbers, unit = measured_figures(cell), figures_unit(cell)
    if numbers is None:
        return None
    return figures(*numbers, unit, resolution=cell["resolution_ns"] if unit == "ns" else 0.0)


def _median(cell: Mapping[str, Any]) -> str:
    written = _figures(cell)
    return MISSING if written is None else written.short


def _interval(cell: Mapping[str, Any]) -> str:
    written = _figures(cell)
    if written is None or not written.low:
        return DRIFTS if cell.get("drift") else MISSING
    return f"{written.low} to {written.high} {written.unit}".rstrip()


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "*<>\\`" else letter for letter in text)


def pipe_table(table: Table) -> Iterator[str]:
    """Draw a table, a line after the other, each ended by a newline; its title and note are left to the caller."""
    yield _line(table.head)
    yield _line(["---:" if column.align != "left" else "---" for column in table.columns])
    yield from map(_line, table.rows)


def _line(texts: Sequence[str]) -> str:
    # A pipe inside a cell, even one between backticks, would end it.
    return "| " + " | ".join(text.replace("|", r"\|").replace("\n", " ") for text in texts) + " |\n"
