from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.views.blocks import drawn_panels
from tests.views.sample_tails import LADDER_STEPS, ladder, with_tails
from tests.views.test_pictures import words_of

from clonometer.results.series_types import IsolationRow
from clonometer.views.documents.run import run_document
from clonometer.views.figures.gaps import ladder_charts, ladder_tables
from clonometer.views.figures.isolation import said_fate
from clonometer.views.html.document import render_document_page
from clonometer.views.pictures import picture
from clonometer.views.terminal import render_answer


@pytest.fixture
def tailed(results):
    return with_tails(results)


def test_a_chart_has_a_panel_for_each_distribution_and_a_line_for_each_size(tailed):
    usual, gone = ladder_charts(tailed.series["ladders"])
    assert tuple(usual.drawn) == ("1 GiB", "0 B")
    assert list(usual.panels) == ["before the fork", "during the call"]
    assert [point["longer"] for point in usual.panels["during the call"][:3]] == [1 / 2, 1 / 1000, 1 / 5000]
    assert gone.title.endswith("other process gone")


def test_the_table_has_a_row_for_each_and_a_dash_for_what_is_not_known(tailed):
    usual, gone = ladder_tables(tailed.series["ladders"])
    assert usual.head == ("", "p50", "p99.9", "longest", "values")
    assert [row[0] for row in usual.rows] == [
        "0 B, before the fork", "0 B, during the call", "1 GiB, before the fork", "1 GiB, during the call",
    ]  # fmt: skip
    assert gone.head == ("", "p50", "values")
    mixed = ladder_tables([ladder("x", 0), ladder("y", 0, LADDER_STEPS[:1])])[0]
    assert mixed.rows[1][2:4] == ("-", "-")


def test_the_terminal_prints_the_table(tailed):
    text = render_answer(tailed, wide=True)
    assert "cow.stall: gaps between writes" in text
    assert "1 GiB, during the call" in text


def test_pictures_name_what_they_draw(tailed):
    words = words_of(picture(tailed, "gaps"))
    assert {"Gaps between writes (cow.stall)", "during the call", "1 GiB", "1 in 1,000"} <= words
    words = words_of(picture(tailed, "isolation"))
    assert {"segfaults, as a thread", "all lost with their parent", "3 of 3 survive, unseen"} <= words


def test_the_report_has_both(tailed):
    text = render_document_page(run_document(tailed))
    # A chart is drawn into the first element of its name.
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {panel.id for panel in drawn_panels(run_document(tailed))} <= set(ids)
    assert "A worker fails" in text
    assert "Gaps between writes" in text or "gaps between writes" in text
    assert "p99.9" in text


def test_damage_that_nobody_sees_is_said():
    row = IsolationRow("overrun_neighbour", "thread", 3, 3, 1, True, 0, {})
    assert said_fate(row) == "1 of 3 damaged, unseen"
    assert said_fate(replace(row, damaged=0, survivors=0)) == "all lost, unseen"
