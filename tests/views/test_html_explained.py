"""Explanations in the report of a run: a section each, with ids of its own, and what the run says of the same cell."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from tests.tracing.test_work import with_ablation
from tests.views.blocks import drawn_panels
from tests.views.test_explain import counted, versus

from clonometer.views.document import Document, Heading, Paragraph
from clonometer.views.documents.explain import explanation_document
from clonometer.views.documents.run import run_document
from clonometer.views.documents.run_explained import explained_groups
from clonometer.views.html.document import render_document_page


def ids(page: str) -> Counter[str]:
    return Counter(re.findall(r' id="([^"]+)"', page.partition('<script type="application/json"')[0]))


def test_each_explanation_is_a_section_and_no_id_is_there_twice(results) -> None:
    page = render_document_page(
        run_document(results, [counted(), versus(), with_ablation(), with_ablation(), counted()])
    )
    finding_ids = ids(page)
    assert max(finding_ids.values()) == 1, finding_ids.most_common(3)
    assert {"why", *(f"explained-{number}" for number in range(5))} <= set(finding_ids)
    assert {"parts-explained-1", "timeline-median-1-explained-1", "lives-explained-2"} <= set(finding_ids)
    assert '<a href="#why">Why</a>' in page
    assert "in separate, traced launches, not in those of this run" in page


def texts_of(explanations, cells) -> list[str]:
    blocks = [block for group in explained_groups(explanations, cells) for block in group]
    return [block.text for block in blocks if isinstance(block, (Heading, Paragraph))]


def test_every_chart_has_its_element_and_the_pages_of_their_own_keep_theirs() -> None:
    explanations = [counted(), versus(), with_ablation()]
    groups = explained_groups(explanations, [])
    assert [block.text for group in groups for block in group if isinstance(block, Heading)] == [
        "Why", "Where the time goes: fork, warm", "Fork vs fork, warm", "Threads against processes at work"
    ]  # fmt: skip
    drawn = drawn_panels(Document("", "", "", groups))
    assert max(Counter(panel.id for panel in drawn).values()) == 1
    assert len(drawn) == sum(len(drawn_panels(explanation_document(each))) for each in explanations)
    page = render_document_page(explanation_document(counted()))
    assert {"parts", "timeline-median-0", "section-1"} <= set(ids(page))
    assert {"lives", "cpus", "ablation"} <= set(ids(render_document_page(explanation_document(with_ablation()))))


def test_the_sentence_names_the_greatest_parts_and_what_is_unexplained() -> None:
    lead = texts_of([counted()], [])[3]
    assert lead.startswith("A launch takes 100 ns: ")
    assert re.search(r"\d+% [a-z :]+ \((parent|child)\)", lead)
    assert lead.endswith("; fully accounted for.")


def test_what_the_run_has_measured_stands_beside_it(results) -> None:
    row = next(cell for cell in results.cells if cell.stage == "reaped" and cell.median_ns is not None)
    in_run = texts_of([replace(counted(), cell=row.cell)], results.cells)[4]
    assert in_run.startswith(f"In the run, the median of {row.cell} is ")
    assert in_run in render_document_page(run_document(results, [replace(counted(), cell=row.cell)]))
    absent = texts_of([replace(counted(), cell="launch.fork[parent_bytes=3GiB]")], results.cells)
    assert absent[4] == "The run has no cell launch.fork[parent_bytes=3GiB]."


def test_a_report_without_explanations_has_no_such_section(results) -> None:
    page = render_document_page(run_document(results))
    assert 'id="why"' not in page
    assert "#why" not in page
