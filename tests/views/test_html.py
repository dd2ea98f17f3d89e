from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.results.runs_of_servers import servers_with_memory
from tests.views.page_charts import page_charts
from tests.views.sample_kinds import panels_of

from clonometer.results.summary import summarize
from clonometer.results.types import CellOutcome, Finding, RunWarning
from clonometer.views.distributions import MOST_SERIES
from clonometer.views.documents.run import MOST_CELL_ROWS, run_document
from clonometer.views.figures import figures
from clonometer.views.html.document import render_document_page
from clonometer.views.statistics import STATISTICS

MEGABYTE = 1_000_000
#: What the page may take for a row of its table of all cells, for each statistic in it, and for a thinned distribution.
ROW_BYTES, STATISTIC_BYTES, DISTRIBUTION_BYTES = 280, 60, 250
VOID = {"meta", "link", "input", "br", "img", "wbr"}


class Page(HTMLParser):
    """Collects what a browser would fetch, ids, headings and text, and checks that tags close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.fetched, self.ids, self.headings, self.words = [], [], [], [], []
        self.links, self.labelled = [], {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        fields = dict(attrs)
        if tag not in VOID:
            self.open.append((tag, fields.get("id")))
        self.fetched += [value for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.fetched += [fields["href"]] if tag == "link" else []
        self.links += [fields["href"]] if tag == "a" else []
        self.ids += [fields["id"]] if "id" in fields else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        self.labelled |= {fields["id"]: fields.get("aria-label")} if fields.get("role") == "img" else {}

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, _ = self.open[-1] if self.open else ("", None)
        if tag not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def page(report):
    return Page(report)


def test_it_is_one_small_file_that_fetches_nothing(report, page):
    assert len(report.encode()) < 2 * MEGABYTE
    assert set(page.fetched) == {"data:,"}
    assert "default-src 'none'" in report
    assert "@import" not in report.split("<script", 1)[0]
    assert "url(" not in report.split("<script", 1)[0]


def test_it_has_all_findings_warnings_and_the_command(results, page):
    for finding in results.findings:
        assert finding.sentence in page.text
    for warning in results.warnings:
        assert warning.next_step in page.text
    assert shlex.join(results.command) in page.text


def test_each_figure_has_a_section_or_stands_in_one_that_says_how_to_read_it(page):
    elsewhere = [figure for figure in figures() if not figure.section]
    assert {figure.kind: figure.stands_in for figure in elsewhere} == {"overview": "answer", "ecdf": "distributions"}
    for figure in elsewhere:
        assert figure.reading in page.text


def test_the_table_is_the_terminals(page):
    for words in ("51.4", "50.9 – 51.9", "247.5", "Same image", "New program"):
        assert words in page.text
    assert "until the new task executes the first instruction of its own code." in page.text


def test_headings_are_nested_links_lead_somewhere_and_charts_have_a_text(page):
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert all(page.labelled.values())


def test_every_figure_is_drawn_once_with_its_title_its_text_and_a_link(everything):
    text = render_document_page(run_document(everything))
    page = Page(text)
    drawn = panels_of(everything)
    of_choice = {figure.kind for figure in figures() if figure.stands_in == "distributions"}
    panels = [panel for kind in drawn.keys() - of_choice for panel in drawn[kind]]
    charts = page_charts(text)["charts"]
    assert Counter(chart["id"] for chart in charts) == Counter(panel.id for panel in panels)
    assert page.labelled.keys() == {panel.id for panel in panels} | of_choice
    for panel in panels:
        assert panel.title in page.text
        assert page.labelled[panel.id] == panel.alt
    for figure in figures():
        if figure.section and figure.kind in drawn:
            assert f"#{figure.kind}" in page.links
            assert figure.kind in page.ids
            assert figure.section.heading in page.text


def test_a_fact_that_could_not_be_read_has_its_reason(page):
    assert "not known (no cpufreq in /sys/devices/system/cpu)" in page.text


def test_every_estimate_has_a_row(results, report):
    assert report.count('<tr title="') == len(results.cells)


def test_embedded_data_is_json_and_every_distribution_is_there(results, report):
    data = page_charts(report)
    [figure] = data["switched"]
    assert len(figure["lines"]) == len(results.ecdfs)
    assert {chart["id"].partition("-")[0] for chart in data["charts"]} >= {"overview", "memory", "story", "footprint"}
    assert '<option value="all" selected>warm and cold</option>' in report


def test_texts_cannot_break_out_of_the_page(results):
    evil = "</script><script>alert(1)</script><!--\u2028&"
    text = render_document_page(
        run_document(
            replace(
                results,
                findings=(Finding("x", evil, {"cells": [evil]}),),
                warnings=(RunWarning("w", evil, evil),),
                host={"cpu.model": evil, "kernel.version": evil},
                ecdfs=[replace(results.ecdfs[0], cell=evil, workload=evil)],
                cells=[replace(results.cells[0], cell=evil, workload=evil)],
                command=[evil],
            )
        )
    )
    page = Page(text)
    assert "<script>alert" not in text
    assert page_charts(text)["switched"][0]["lines"][0]["label"] == evil
    assert evil.replace("\u2028", " ") in page.text


def test_an_empty_failed_run_is_a_page_too(results):
    failed = replace(
        results,
        status="failed",
        status_reason="the driver was not found",
        cells=[],
        ecdfs=[],
        scans=[],
        series={},
        findings=(),
        warnings=(),
        cell_outcomes=[CellOutcome("launch.fork", "failed", "exit status 127")],
    )
    text = render_document_page(run_document(failed))
    page = Page(text)
    assert "This run failed: the driver was not found." in page.text
    assert "Nothing was measured" in page.text
    assert "exit status 127" in page.text
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(text) < 100_000, "a page without charts needs no chart library"


def test_a_run_with_very_many_cells_stays_small(results, report):
    """What a page is more for more cells: so much a row, a figure of it and a distribution, and nothing besides."""
    cells = [replace(cell, cell=f"{cell.cell}{turn}") for turn in range(20) for cell in results.cells]
    ecdfs = [replace(ecdf, cell=f"{ecdf.cell}{turn}") for turn in range(8) for ecdf in results.ecdfs]
    text = render_document_page(run_document(replace(results, cells=cells, ecdfs=ecdfs)))
    rows = MOST_CELL_ROWS - len(results.cells)
    lines = MOST_SERIES - len(results.ecdfs)
    growth = len(text.encode()) - len(report.encode())
    assert growth <= rows * (ROW_BYTES + STATISTIC_BYTES * len(STATISTICS)) + lines * DISTRIBUTION_BYTES
    assert text.count('<tr title="') == MOST_CELL_ROWS
    assert f"{len(cells) - MOST_CELL_ROWS} more rows" in text
    assert f"{len(ecdfs) - MOST_SERIES} more distributions" in text


def test_a_run_of_servers_is_summed_up_by_design_and_load():
    page = Page(render_document_page(run_document(summarize(servers_with_memory(), "run.parquet"))))
    text = " ".join(page.words)
    assert "CPU time, 32 MiB" in text
