"""The tree of creation on a page: it stands without scripts, and zooms by buttons and keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.browser.test_pages import page_of

PAGE = "document-census_over_time"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(page_of(PAGE), encoding="utf-8")
    return path


def place_of(page, name: str):
    box = page.locator(".tree li", has_text=name).first.locator("i").first.bounding_box()
    return box["x"], box["width"]


def test_without_scripts_it_is_a_figure_whose_tracks_open(browser, path) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    assert not page.locator(".tree-tools").is_visible()
    marked = page.locator(".tree li.marked").first
    assert marked.locator("i.made").bounding_box()["width"] > 0
    marked.locator("summary").click()
    assert "Creation and exec took" in marked.inner_text()
    assert "300 × true" in page.locator(".tree").inner_text()
    context.close()


def test_buttons_and_keys_zoom_move_and_find_what_is_marked(browser, path) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.goto(path.as_uri())
    before, output = place_of(page, "300 × true"), page.locator(".tree output")
    assert output.inner_text() == "0 ms to 100 ms"
    page.get_by_role("button", name="Zoom in").click()
    assert output.inner_text() == "25.0 ms to 75.0 ms"
    assert place_of(page, "300 × true")[1] == pytest.approx(2 * before[1], rel=0.05)
    page.get_by_role("button", name="Next of the most expensive").click()
    assert page.evaluate("document.activeElement.closest('li').className") == "marked"
    page.keyboard.press("ArrowLeft")
    assert output.inner_text() == "12.5 ms to 62.5 ms"
    page.keyboard.press("-")
    assert output.inner_text() == "0 ms to 100 ms"
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Zoom to this track").click()
    low, high = (float(each) for each in re.findall(r"[\d.]+", output.inner_text()))
    assert low < high <= 100
    page.locator(".tree input").check()
    shown = page.locator(".tree li:visible").count()
    page.keyboard.press("0")
    page.locator(".tree input").uncheck()
    assert page.locator(".tree li:visible").count() >= shown
    assert output.inner_text() == "0 ms to 100 ms"
    page.close()


def test_the_page_is_small_however_many_tasks_there_were() -> None:
    from tests.views.test_creation_tree import census_of, lived

    from clonometer.views.documents.census import census_document
    from clonometer.views.html.document import render_document_page

    tasks = [lived(100 + n, 1, n / 50, program=f"/usr/bin/program-{n}", cost_ns=1000 + n) for n in range(4000)]
    assert len(render_document_page(census_document(census_of(*tasks), "make"))) < 400_000
