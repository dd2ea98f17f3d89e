"""The page of a reproduction in a browser: narrow, dark, hovered."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "studies"))


def some_measured():
    """Some cells of every study, and a reason without a space."""
    from made import measured

    from clonometer.studies.cells import cell, heap
    from clonometer.studies.judge import CALL, REAPED, RUNS

    values = {(cell("launch.fork", temperature="warm"), stage): 100e3 for stage in (CALL, RUNS, REAPED)}
    values |= {(cell("launch.pthread", temperature="warm"), stage): 20e3 for stage in (CALL, RUNS, REAPED)}
    for size in (1, 2, 64):
        for workload, times in (("launch.fork", 1.0), ("launch.pthread", 0.1)):
            values[heap(workload, f"{size}MiB"), CALL] = (30e3 + size * 1e3) * times
    long = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq_that_no_line_of_a_telephone_has_room_for"
    missing = {cell("launch.fork", frequency="base", temperature="warm"): f"there is no {long}"}
    return measured(values, missing=missing)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    from clonometer.studies.answer import answer
    from clonometer.views.documents.studies import studies_document
    from clonometer.views.html.document import render_document_page

    path = tmp_path_factory.mktemp("studies") / "studies.html"
    document = studies_document(answer(some_measured(), []), wide=True)
    path.write_text(render_document_page(document), encoding="utf-8")
    return path


def test_it_is_dark_where_that_is_wished(browser, page_file):
    grounds = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(page_file.as_uri())
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        ink = page.evaluate("getComputedStyle(document.querySelector('.plot')).color")
        assert ink != grounds[-1]
        page.close()
    assert grounds[0] != grounds[1]


def test_whoever_points_at_a_mark_sees_what_it_is(browser, page_file):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    mark = page.locator("#bendersky-2018-large-heap [aria-label^='processes'][aria-roledescription='point']").last
    mark.hover(timeout=5000)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "launch time (µs)" in page.inner_text("#vg-tooltip-element")
    page.close()
