"""Documents as pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from clonometer.views.document import (
    Commands,
    CommentedTables,
    Document,
    DocumentBlock,
    Explorer,
    FigureBlock,
    Fold,
    Heading,
    Hint,
    SearchableTable,
    Subheading,
    SwitchedFigure,
    TableBlock,
    TreeBlock,
)
from clonometer.views.figures.types import Panel
from clonometer.views.html.page import render_page
from clonometer.views.html.tree import tree_block
from clonometer.views.markdown import commented
from clonometer.views.specs import DASHES, PAGE, theme
from clonometer.views.table import Table
from clonometer.views.types import Spec

#: What a template takes: blocks, sections, charts.
Parts = list[dict[str, Any]]
#: The size of a chart on a page: as wide as there is room.
_WIDE = {"width": "container"}
_TALL = {**_WIDE, "height": 300}


def render_document_page(document: Document) -> str:
    """Write a document as one self-contained HTML document that fetches nothing."""
    page = _Page(document)
    draws = bool(page.charts or page.switched)
    drawn = {"theme": theme(*PAGE), "dashes": list(DASHES), "charts": page.charts, "switched": page.switched}
    # What can be used at once comes before what draws.
    scripts = [*sorted(page.scripts), *(("fit.js", "charts.js") if draws else ())]
    return render_page(
        "document.html.j2",
        *scripts,
        data=page.explored or None,
        charts=drawn if draws else None,
        brand=f"Clonometer: {document.kind}",
        title=document.title,
        about=document.about,
        lead=document.opening,
        sections=[section for section in page.sections if section["blocks"]],
    )


class _Page:
    """A document's sections as the template ``blocks.html.j2`` takes them, and what is drawn in them."""

    def __init__(self, document: Document) -> None:
        self.sections: Parts = []
        self.charts: Parts = []
        self.switched: Parts = []
        #: The model of what a reader explores: a page has it once.
        self.explored: Mapping[str, Any] = {}
        self.scripts: set[str] = set()
        #: The last heading, which names what has no title.
        self._heading = ""
        self._begin("", "", "")
        for group in document.groups:
            for block in group:
                if isinstance(block, Heading):
                    self._begin(block.text, block.link, block.anchor)
                elif not document.repeats(block):
                    self._add(block)

    def _begin(self, heading: str, link: str, anchor: str) -> None:
        name = anchor or f"section-{len(self.sections)}"
        self.sections.append({"heading": heading, "link": link or heading, "id": name, "blocks": []})
        self._heading = heading

    def _add(self, block: DocumentBlock) -> None:
        match block:
            case FigureBlock(heading=heading) | SwitchedFigure(heading=heading) if heading:
                self._begin(heading, block.link, block.anchor)
            case SearchableTable(heading) | Explorer(heading):
                self._begin(heading, "", block.anchor)
            case TreeBlock(heading):
                self._begin(heading, "", "")
        self.sections[-1]["blocks"] += self._parts(block)

    def _parts(self, block: DocumentBlock) -> Iterator[dict[str, Any]]:
        """A block as the template takes it, ``is`` its name."""
        match block:
            case Hint():
                return
            case TableBlock(table):
                yield self._table(table, "")
            case CommentedTables():
                for table, below in zip(commented(block), block.below, strict=True):
                    if table.rows or below:
                        yield self._table(table, below)
            case SearchableTable():
                yield self._searchable(block)
            case FigureBlock():
                yield from self._figures(block)
            case SwitchedFigure():
                about = {name: getattr(block, name) for name in ("id", "alt", "lines", "axes", "axis_by")}
                switches = [{"name": switch.name} for switch in block.switches]
                self.switched.append({**about, "switches": switches, "spec": {**block.spec, **_TALL}})
                yield {"is": "switched", "figure": block}
            case Explorer(model=model):
                self.explored = model
                self.scripts.add("advise.js")
                yield {"is": "explorer", "explorer": block}
            case TreeBlock(tree=tree):
                self.scripts.add("tree.js")
                yield tree_block(tree)
            case Fold(summary, blocks):
                yield {
                    "is": "fold",
                    "summary": summary,
                    "blocks": [each for block in blocks for each in self._parts(block)],
                }
            case _:
                self._heading = block.text if isinstance(block, Subheading) else self._heading
                self.scripts |= {"copy.js"} if isinstance(block, Commands) and block.copy_button else set()
                yield {"is": type(block).__name__.lower(), **asdict(block)}

    def _table(self, table: Table, below: str) -> dict[str, Any]:
        label = table.title or self._heading or "Table"
        return {"is": "table", "table": _headed(table), "label": label, "below": below}

    def _figures(self, block: FigureBlock) -> Iterator[dict[str, Any]]:
        drawn = [_chart(panel) for panel in block.panels]
        if block.legend:
            drawn = [{**chart, "spec": _without_legend(chart["spec"])} for chart in drawn]
        # Their words stand in the page.
        self.charts += [{name: chart[name] for name in ("id", "spec")} for chart in drawn]
        if drawn:
            shown = {"intro": block.intro, "legend": block.legend, "stacked": block.stacked}
            yield {"is": "figures", **shown, "charts": drawn}

    def _searchable(self, block: SearchableTable) -> dict[str, Any]:
        self.scripts.add("search.js")
        columns = {column.head: column for column in block.table.columns}
        options = [
            (label, head, list(dict.fromkeys(filter(None, columns[head].texts))))
            for label, head in block.filters
            if head in columns
        ]
        return {
            "is": "searchable",
            **{name: getattr(block, name) for name in ("id", "table", "note", "example", "heading")},
            "filters": [each for each in options if len(each[2]) > 1],
        }


def _chart(panel: Panel) -> dict[str, Any]:
    """A panel as a page draws it."""
    spec = {**panel.draw(), **(_TALL if panel.tall else _WIDE)}
    return {"id": panel.id, "title": panel.title, "alt": panel.alt, "caption": panel.caption, "spec": spec}


def _without_legend(spec: Spec) -> Spec:
    """A chart whose colours the page explains, once for several."""
    kept = {**spec, "layer": list(map(_without_legend, spec["layer"]))} if "layer" in spec else dict(spec)
    encoding = spec.get("encoding", {})
    if "color" in encoding:
        kept["encoding"] = {**encoding, "color": {**encoding["color"], "legend": None}}
    return kept


def _headed(table: Table) -> Table:
    """Give the column that says what its rows are a heading: who cannot see the table needs it."""
    return replace(table, columns=[replace(column, head=column.head or "row") for column in table.shown])
