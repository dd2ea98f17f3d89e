"""A page of sections with charts and tables, as fleets and histories have: one self-contained HTML document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from clonometer.views.figures.types import Panel, Section
from clonometer.views.html.figures import chart_of
from clonometer.views.html.page import render_page
from clonometer.views.specs import PAGE, theme
from clonometer.views.table import Table


def page_section(
    name: str, words: Section, *, charts: Sequence[Panel] = (), tables: Sequence[Table] = ()
) -> dict[str, Any]:
    """Gather a section: its words, its charts, its tables; ``name`` is the id of its element."""
    drawn = [chart_of(name, panel) for panel in charts]
    return {"id": name, **asdict(words), "charts": drawn, "tables": list(map(headed, tables))}


def render_plain_page(
    title: str, brand: str, lead: str, notes: Sequence[str], sections: Sequence[dict[str, Any]]
) -> str:
    """Write a page.

    ``brand`` stands above the title; ``lead`` is the answer in a sentence, ``notes`` go with it. Sections without
    charts and tables are left out.
    """
    shown = [section for section in sections if section["charts"] or section["tables"]]
    charts = [chart for section in shown for chart in section["charts"]]
    data = {"theme": theme(*PAGE), "charts": charts, "explained": []}
    return render_page(
        "plain.html.j2",
        "fit.js",
        "report.js",
        data=data,
        draws=bool(charts),
        brand=brand,
        title=title,
        lead=lead,
        notes=list(notes),
        figure_sections=shown,
    )


def headed(table: Table) -> Table:
    """Give the column that says what its rows are a heading: who cannot see the table needs it."""
    return replace(table, columns=[replace(column, head=column.head or "row") for column in table.columns])
