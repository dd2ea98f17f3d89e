"""The report: one self-contained HTML page that fetches nothing, returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.types import Results
from clonometer.tracing.work.types import AnyExplanation
from clonometer.views.html.content import page_content
from clonometer.views.html.explained import explained_sections
from clonometer.views.html.figures import figure_content, figure_readings, figure_sections
from clonometer.views.html.page import render_page


def render_report(results: Results, explanations: Sequence[AnyExplanation] = ()) -> str:
    """Write the report of a run.

    A whole HTML document: style, script, charts and data are inside it, and its content security policy forbids to
    fetch anything. It is below 2 MB without explanations; each adds its timelines.
    """
    sections, explained = explained_sections(explanations, results.cells)
    figures = {**figure_content(results), "explained": explained}
    return render_page(
        "report.html.j2",
        "fit.js",
        "report.js",
        data=figures,
        draws=figures["any"] or bool(explained),
        brand="Clonometer report",
        **page_content(results),
        figures=figures,
        readings=figure_readings(),
        figure_sections=figure_sections(results, figures["charts"]),
        explained_sections=sections,
    )
