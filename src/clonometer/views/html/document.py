"""Documents as pages, and as sections of other pages."""

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
from clonometer.views.types import Spec

#: What a template takes: blocks, sections, charts.
Parts = list[dict[str, Any]]


def render_document_page(document: Document) -> str:
    """Write a document as one self-contained HTML document that fetches nothing."""
    sections, charts = document_sections(document)
    return render_page(
        "document.html.j2",
        *(("fit.js", "report.js") if charts else ()),
        data={"theme": theme(*PAGE), "charts": charts, "explained": []} if charts else None,
        draws=bool(charts),
        brand=f"Clonometer: {document.kind}",
        title=document.title,
        lead=document.lead,
        sections=sections,
    )


def document_sections(document: Document, mark: str = "") -> tuple[Parts, Parts]:
    """Gather a document's sections for the template ``blocks.html.j2``, and the charts in them.

    The ids of its elements end in ``mark``, so that a page may have several documents.
    """
    charts: Parts = []
    sections: Parts = [{"heading": "", "link": "", "blocks": []}]
    for group in document.groups:
        for block in group:
            if isinstance(block, Heading):
                sections.append({"heading": block.text, "link": block.link or block.text, "blocks": []})
            elif not document.repeats(block):
                if isinstance(block, FigureBlock) and block.heading:
                    sections.append({"heading": block.heading, "link": block.heading, "blocks": []})
                sections[-1]["blocks"] += _blocks(block, mark, charts)
    named = [{**section, "id": f"section-{number}{mark}"} for number, section in enumerate(sections)]
    return [section for section in named if section["blocks"]], charts


def _blocks(block: DocumentBlock, mark: str, charts: Parts) -> Iterator[dict[str, Any]]:
    """A block as the template takes it, ``is`` its name; its charts are added to ``charts``."""
    match block:
        case Hint():
            return
        case TableBlock(table):
            yield {"is": "table", "table": _headed(table), "below": ""}
        case CommentedTables():
            for table, below in zip(commented(block), block.below, strict=True):
                if table.rows or below:
                    yield {"is": "table", "table": _headed(table), "below": below}
        case FigureBlock(panels=panels) if panels:
            drawn = [chart_of("figure", panel) for panel in panels]
            for chart in drawn:
                chart["id"] += mark
                chart["spec"] = _without_legend(chart["spec"]) if block.legend else chart["spec"]
            charts += drawn
            yield {"is": "figures", "intro": block.intro, "legend": block.legend, "stacked": block.stacked,
                   "charts": drawn}  # fmt: skip
        case FigureBlock():
            return
        case Fold(summary, blocks):
            inner = [each for block in blocks for each in _blocks(block, mark, charts)]
            yield {"is": "fold", "summary": summary, "blocks": inner}
        case _:
            yield {"is": type(block).__name__.lower(), **asdict(block)}


def _without_legend(spec: Spec) -> Spec:
    """A chart whose colours the page explains, once for several."""
    kept = {**spec, "layer": list(map(_without_legend, spec["layer"]))} if "layer" in spec else dict(spec)
    encoding = spec.get("encoding", {})
    if "color" in encoding:
        kept["encoding"] = {**encoding, "color": {**encoding["color"], "legend": None}}
    return kept


def _headed(table: Table) -> Table:
    """Give the column that says what its rows are a heading: who cannot see the table needs it."""
    return replace(table, columns=[replace(column, head=column.head or "row") for column in table.columns])
