"""Explanations in the report of a run: a section each, with ids of its own, and what the run says of the same cell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from tests.tracing.test_work import with_ablation
from tests.views.test_explain import counted, versus

from clonometer.views.html import render_report
from clonometer.views.html.explained import explained_sections, render_explain_page


def ids(page: str) -> Counter[str]:
    return Counter(re.findall(r' id="([^"]+)"', page.partition('<script type="application/json"')[0]))


def test_each_explanation_is_a_section_and_no_id_is_there_twice(results) -> None:
    page = render_report(results, [counted(), versus(), with_ablation(), with_ablation(), counted()])
    finding_ids = ids(page)
    assert max(finding_ids.values()) == 1, finding_ids.most_common(3)
    assert {"why", "explained-0", "ratio-explained-1", "explained-1-first", "explained-1-second"} <= set(finding_ids)
    assert {"gap-explained-2", "gap-explained-3", "explained-4", "timeline-0-median", "budget-4"} <= set(finding_ids)
    assert '<a href="#why">Why</a>' in page
    assert "in launches of its own, traced, not in those of this run" in page


def test_every_chart_has_its_element_and_the_pages_of_their_own_keep_theirs() -> None:
    sections, charts = explained_sections([counted(), versus(), with_ablation()], [])
    assert [section["kind"] for section in sections] == ["launch", "versus", "launch", "launch", "work"]
    assert max(Counter(chart["id"] for chart in charts).values()) == 1
    assert {"budget-0", "timeline-0-median", "explained-0"} <= set(ids(render_explain_page(counted())))
    assert {"gap", "lives", "cpu-time", "meanings", "ablation-chart"} <= set(ids(render_explain_page(with_ablation())))


def test_the_sentence_names_the_greatest_parts_and_what_is_unexplained() -> None:
    [section], _ = explained_sections([counted()], [])
    assert section["sentence"].startswith("A launch takes 100 ns: ")
    assert re.search(r"\d+% [a-z :]+ \((parent|child)\)", section["sentence"])
    assert section["sentence"].endswith("; fully accounted for.")


def test_what_the_run_has_measured_stands_beside_it(results) -> None:
    row = next(cell for cell in results.cells if cell.stage == "reaped" and cell.median_ns is not None)
    [section], _ = explained_sections([replace(counted(), cell=row.cell)], results.cells)
    assert section["in_run"].startswith("In the run its median is ")
    [section], _ = explained_sections([replace(counted(), cell="launch.fork[parent_bytes=3GiB]")], results.cells)
    assert section["in_run"] == "The run has no such cell."


def test_a_report_without_explanations_has_no_such_section(results) -> None:
    page = render_report(results)
    assert 'id="why"' not in page
    assert "#why" not in page
