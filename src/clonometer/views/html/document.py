"""Documents as pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from clonometer.views.document import (
    CommentedTables,
    Document,
    DocumentBlock,
    FigureBlock,
    Fold,
    Heading,
    Hint,
    TableBlock,
)
from clonometer.views.html.figures import chart_of
from clonometer.views.html.page import render_page
from clonometer.views.markdown import commented
from clonometer.views.specs import PAGE, theme
from clonometer.views.table import Table


def render_document_page(document: Document) -> str:
    """Write a document as one self-contained HTML document that fetches nothing."""
    charts: list[dict[str, Any]] = []
    sections: list[dict[str, Any]] = [{"heading": "", "blocks": []}]
    for group in document.groups:
        for block in group:
            if isinstance(block, Heading):
                sections.append({"heading": block.text, "blocks": []})
            elif isinstance(block, FigureBlock):
                drawn = [chart_of("figure", panel) for panel in block.panels]
                charts += drawn
                figures = {"is": "figures", "intro": block.intro, "charts": drawn}
                sections.append({"heading": block.heading, "blocks": [figures] if drawn else []})
            elif not document.repeats(block):
                sections[-1]["blocks"] += _blocks(block)
    return render_page(
        "document.html.j2",
        *(("fit.js", "report.js") if charts else ()),
        data={"theme": theme(*PAGE), "charts": charts, "explained": []} if charts else None,
        draws=bool(charts),
        brand=f"Clonometer: {document.kind}",
        title=document.title,
        lead=document.lead,
        sections=[section for section in sections if section["blocks"]],
    )


def _blocks(block: DocumentBlock) -> Iterator[dict[str, Any]]:
    """A block as the template takes it, ``is`` its name."""
    match block:
        case Hint():
            return
        case TableBlock(table):
            yield {"is": "table", "table": _headed(table), "below": ""}
        case CommentedTables():
            for table, below in zip(commented(block), block.below, strict=True):
                if table.rows or below:
                    yield {"is": "table", "table": _headed(table), "below": below}
        case Fold(summary, blocks):
            inner = [each for block in blocks for each in _blocks(block)]
            yield {"is": "fold", "summary": summary, "blocks": inner}
        case _:
            yield {"is": type(block).__name__.lower(), **asdict(block)}


def _headed(table: Table) -> Table:
    """Give the column that says what its rows are a heading: who cannot see the table needs it."""
    return replace(table, columns=[replace(column, head=column.head or "row") for column in table.columns])
