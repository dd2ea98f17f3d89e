"""The page of an explanation: whoever points at an event or a part sees what it means."""

from __future__ import annotations

import pytest
from tests.browser.conftest import Visit, load
from tests.views.page_charts import page_charts

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
    from clonometer.views.documents.explain import explanation_document
    from clonometer.views.html.document import render_document_page

    return show(render_document_page(explanation_document(load("views/test_explain.py").counted())))


@pytest.fixture(scope="module")
def work_page(show):
    from clonometer.views.documents.explain import explanation_document
    from clonometer.views.html.document import render_document_page

    return show(render_document_page(explanation_document(load("tracing/test_work.py").with_ablation())))


@pytest.fixture(scope="module")
def report_page(show):
    from clonometer.views.documents.run import run_document
    from clonometer.views.html.document import render_document_page

    samples = load("views/test_explain.py")
    explanations = [samples.counted(), samples.versus(), load("tracing/test_work.py").with_ablation()]
    return show(render_document_page(run_document(load("views/sample_results.py").sample_results(), explanations)))


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
        ("#timeline-median-0 svg .mark-symbol:not(.role-legend-symbol) path", ("event", "meaning", "who")),
        ("#timeline-median-0 svg .mark-rect path", ("part", "lasts", "meaning")),
        ("#parts svg .mark-rect path", ("label", "share", "meaning")),
    ],
)
def test_who_points_at_a_mark_sees_its_meaning(explain_page, marks, words_shown):
    shown = hover(explain_page.page, marks, 2)
    for word in words_shown:
        assert word in shown
    assert len(shown.split("meaning")[1].strip()) > 10


def test_system_calls_with_arguments_unfold(explain_page):
    page = explain_page.page
    for words, inside in (("arguments", 'execve("/bin/<b>", ["b"], NULL)'), ("counted", "IPC")):
        fold = page.locator("details", has=page.locator("summary", has_text=words))
        assert inside not in fold.inner_text()
        fold.locator("summary").click()
        assert inside in fold.inner_text()


def test_a_chart_that_is_folded_is_drawn_once_it_is_opened(explain_page):
    page = explain_page.page
    chart = page.locator("#timeline-p99-0")
    page.locator("summary", has_text="A slow launch").click()
    chart.locator("svg").wait_for()
    assert chart.locator("svg").bounding_box()["width"] > 800


def test_the_page_of_workers_draws_every_chart_in_silence_and_says_what_a_bar_means(work_page):
    assert work_page.messages == []
    page = work_page.page
    for name in ("lives", "timeline-threads", "timeline-processes", "ablation"):
        assert page.locator(f"#{name} svg").count() == 1, name
    shown = hover(page, "#lives svg .mark-rect path", 1)
    assert "share of the gap" in shown
    assert len(shown.split("meaning")[1].strip()) > 10


def test_the_report_of_a_run_draws_its_explanations_in_silence(report_page):
    assert report_page.messages == []
    assert len(report_page.asked) == 1
    page = report_page.page
    charts = [chart["id"] for chart in page_charts(page.content())["charts"]]
    assert len(charts) > 8
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for name in charts:
        page.wait_for_selector(f"#{name} svg", state="attached")
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
        "#timeline-median-0-explained-0 svg .mark-symbol:not(.role-legend-symbol) path",
        "#timeline-median-1-explained-1 svg .mark-rect path",
        "#parts-explained-0 svg .mark-rect path",
        "#lives-explained-2 svg .mark-rect path",
    ],
)
def test_in_the_report_too_who_points_at_a_mark_sees_its_meaning(report_page, marks):
    shown = hover(report_page.page, marks, 1)
    assert len(shown.split("meaning")[1].strip()) > 10
