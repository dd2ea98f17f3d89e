"""Explanations in the report of a run: a section each, with ids of its own, and what the run says of the same cell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from tests.tracing.test_work import with_ablation
from tests.views.test_explain import counted, versus

from clonometer.views.documents.explain import explanation_document
from clonometer.views.html import render_report
from clonometer.views.html.document import render_document_page
from clonometer.views.html.explained import explained_sections


def ids(page: str) -> Counter[str]:
    return Counter(re.findall(r' id="([^"]+)"', page.partition('<script type="application/json"')[0]))


def test_each_explanation_is_a_section_and_no_id_is_there_twice(results) -> None:
    page = render_report(results, [counted(), versus(), with_ablation(), with_ablation(), counted()])
    finding_ids = ids(page)
    assert max(finding_ids.values()) == 1, finding_ids.most_common(3)
    assert {"why", *(f"explained-{number}" for number in range(5))} <= set(finding_ids)
    assert {"parts-explained-1", "timeline-median-1-explained-1", "lives-explained-2"} <= set(finding_ids)
    assert '<a href="#why">Why</a>' in page
    assert "in separate, traced launches, not in those of this run" in page


def test_every_chart_has_its_element_and_the_pages_of_their_own_keep_theirs() -> None:
    explained, charts = explained_sections([counted(), versus(), with_ablation()], [])
    assert [each["title"] for each in explained] == [
        "Where the time goes: fork, warm", "Fork vs fork, warm", "Threads against processes at work"
    ]  # fmt: skip
    assert max(Counter(chart["id"] for chart in charts).values()) == 1
    page = render_document_page(explanation_document(counted()))
    assert {"parts", "timeline-median-0", "section-1"} <= set(ids(page))
    assert {"lives", "cpus", "ablation"} <= set(ids(render_document_page(explanation_document(with_ablation()))))


def test_the_sentence_names_the_greatest_parts_and_what_is_unexplained() -> None:
    [explained], _ = explained_sections([counted()], [])
    assert explained["lead"].startswith("A launch takes 100 ns: ")
    assert re.search(r"\d+% [a-z :]+ \((parent|child)\)", explained["lead"])
    assert explained["lead"].endswith("; fully accounted for.")


def test_what_the_run_has_measured_stands_beside_it(results) -> None:
    row = next(cell for cell in results.cells if cell.stage == "reaped" and cell.median_ns is not None)
    [explained], _ = explained_sections([replace(counted(), cell=row.cell)], results.cells)
    [in_run] = explained["in_run"]
    assert in_run.startswith(f"In the run, the median of {row.cell} is ")
    assert in_run in render_report(results, [replace(counted(), cell=row.cell)])
    [explained], _ = explained_sections([replace(counted(), cell="launch.fork[parent_bytes=3GiB]")], results.cells)
    assert explained["in_run"] == ["The run has no cell launch.fork[parent_bytes=3GiB]."]


def test_a_report_without_explanations_has_no_such_section(results) -> None:
    page = render_report(results)
    assert 'id="why"' not in page
    assert "#why" not in page
