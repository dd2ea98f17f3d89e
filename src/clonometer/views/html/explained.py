"""Explanations as sections of a run's report, or as a page of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.families import END
from clonometer.results.types import Estimate
from clonometer.tracing.types import Explanation, Versus
from clonometer.tracing.work.types import AnyExplanation, WorkExplanation
from clonometer.views.html.explain import launch_section, versus_section
from clonometer.views.html.page import render_page
from clonometer.views.html.work import work_section
from clonometer.views.plots import interval_text
from clonometer.views.specs import PAGE, theme
from clonometer.words import mechanism_name


def render_explain_page(explanation: AnyExplanation) -> str:
    """Write an explanation as one self-contained document."""
    charts: list[dict[str, Any]] = []
    if isinstance(explanation, WorkExplanation):
        title = "Why threads and processes at work differ"
        sections = [work_section(explanation, "", charts)]
    else:
        names = [mechanism_name(mechanism.workload) for mechanism in explanation.mechanisms]
        title = f"Where the time of {' and '.join(names)} goes"
        sections = [versus_section(explanation, "ratio")] if isinstance(explanation, Versus) else []
        sides = explanation.mechanisms
        sections += [launch_section(each, str(mark), charts, sides=sides) for mark, each in enumerate(sides)]
    data = {"theme": theme(*PAGE), "charts": charts, "explained": []}
    return render_page(
        "explain.html.j2",
        "fit.js",
        "report.js",
        data=data,
        draws=True,
        brand="Clonometer: explain",
        title=title,
        sections=sections,
    )


def explained_sections(
    explanations: Sequence[AnyExplanation], cells: Sequence[Estimate]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Gather what a report shows of explanations.

    Of two side by side comes first what makes their ratio, then each. What the run's ``cells`` say of the very cell
    that is explained stands beside it.

    Gives sections for the template ``report.html.j2``, with ids that no two elements share; and ``id`` and ``spec``
    of each chart.
    """
    sections: list[dict[str, Any]] = []
    charts: list[dict[str, Any]] = []

    def add(explanation: Explanation, mark: str, sides: Sequence[Explanation] = ()) -> None:
        in_run = _in_run(explanation.cell, cells)
        sections.append(launch_section(explanation, mark, charts, in_run=in_run, sides=sides))

    for number, explanation in enumerate(explanations):
        if isinstance(explanation, WorkExplanation):
            sections.append(work_section(explanation, f"-explained-{number}", charts))
        elif isinstance(explanation, Versus):
            sections.append(versus_section(explanation, f"ratio-explained-{number}"))
            add(explanation.first, f"{number}-first", explanation.mechanisms)
            add(explanation.second, f"{number}-second", explanation.mechanisms)
        else:
            add(explanation, str(number))
    return sections, charts


def _in_run(cell: str, cells: Sequence[Estimate]) -> str:
    """Say what the run has measured of the same cell."""
    rows = [row for row in cells if row.cell == cell and row.stage == END and row.median_ns is not None]
    if not rows:
        return "The run has no such cell."
    row = max(rows, key=lambda row: row.n_samples)
    return f"In the run its median is {interval_text(row)}."
