"""The page of an explanation: whoever points at an event or a part sees what it means."""

from __future__ import annotations

import pytest
from tests.browser.conftest import Visit, load

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def show(browser, tmp_path_factory):
    """Open a page that holds this text."""
    pages = []

    def open_page(text, width=1280):
        path = tmp_path_factory.mktemp("explain") / "page.html"
        path.write_text(text, encoding="utf-8")
        pages.append(browser.new_page(viewport={"width": width, "height": 900}))
        return Visit(pages[-1], path)

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def explain_page(show):
    from clonometer.views.html.explained import render_explain_page

    return show(render_explain_page(load("views/test_explain.py").counted()))


@pytest.fixture(scope="module")
def work_page(show):
    from clonometer.views.html.explained import render_explain_page

    return show(render_explain_page(load("tracing/test_work.py").with_ablation()))


@pytest.fixture(scope="module")
def report_page(show):
    from clonometer.views.html import render_report

    samples = load("views/test_explain.py")
    explanations = [samples.counted(), samples.versus(), load("tracing/test_work.py").with_ablation()]
    return show(render_report(load("views/sample_results.py").sample_results(), explanations))


def hover(page, marks, number):
    """Point at a mark, and read what appears."""
    located = page.locator(marks)
    assert located.count() > number
    page.mouse.move(0, 0)
    located.nth(number).hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    return page.inner_text("#vg-tooltip-element")


def test_it_loads_in_silence_and_asks_for_nothing(explain_page):
    assert explain_page.messages == []
    assert len(explain_page.asked) == 1


@pytest.mark.parametrize(
    ("marks", "words_shown"),
    [
        ("#timeline-0-median svg .mark-symbol:not(.role-legend-symbol) path", ("event", "meaning", "who")),
        ("#timeline-0-median svg .mark-rect path", ("part", "lasts", "meaning")),
        ("#budget-0 svg .mark-rect path", ("label", "share", "meaning")),
    ],
)
def test_who_points_at_a_mark_sees_its_meaning(explain_page, marks, words_shown):
    shown = hover(explain_page.page, marks, 2)
    for word in words_shown:
        assert word in shown
    assert len(shown.split("meaning")[1].strip()) > 10


def test_system_calls_with_arguments_unfold(explain_page):
    page = explain_page.page
    page.click("details.listing summary")
    assert 'execve("/bin/<b>", ["b"], NULL)' in page.inner_text("details.listing")
    assert "IPC" in page.inner_text("table.counters")


def test_the_page_of_workers_draws_every_chart_in_silence_and_says_what_a_bar_means(work_page):
    assert work_page.messages == []
    page = work_page.page
    for name in ("lives", "cpus", "timeline-thread", "timeline-process", "ablation-chart"):
        assert page.locator(f"#{name} svg").count() == 1, name
    shown = hover(page, "#lives svg .mark-rect path", 1)
    assert "share of the gap" in shown
    assert len(shown.split("meaning")[1].strip()) > 10


def test_the_report_of_a_run_draws_its_explanations_in_silence(report_page):
    assert report_page.messages == []
    assert len(report_page.asked) == 1
    page = report_page.page
    charts = page.evaluate("JSON.parse(document.getElementById('report-data').textContent).explained.map((c) => c.id)")
    assert len(charts) > 8
    for name in charts:
        assert page.locator(f"#{name} svg").count() == 1, name
    assert (
        page.evaluate(
            "(() => { const ids = [...document.querySelectorAll('[id]')].map((e) => e.id)"
            ".filter((id) => !id.startsWith('clip') && !id.startsWith('gradient'));"
            " return ids.filter((id, place) => ids.indexOf(id) !== place); })()"
        )
        == []
    )


@pytest.mark.parametrize(
    "marks",
    [
        "#timeline-0-median svg .mark-symbol:not(.role-legend-symbol) path",
        "#timeline-1-second-median svg .mark-rect path",
        "#budget-0 svg .mark-rect path",
        "#lives-explained-2 svg .mark-rect path",
    ],
)
def test_in_the_report_too_who_points_at_a_mark_sees_its_meaning(report_page, marks):
    shown = hover(report_page.page, marks, 0)
    assert len(shown.split("meaning")[1].strip()) > 10
