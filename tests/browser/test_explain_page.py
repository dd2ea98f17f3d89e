"""The page of an explanation: whoever points at an event or a part sees what it means."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def explain_page(browser, tmp_path_factory):
    spec = importlib.util.spec_from_file_location(
        "explain_samples", Path(__file__).parent.parent / "views/test_explain.py"
    )
    assert spec is not None
    assert spec.loader is not None
    samples = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = samples
    spec.loader.exec_module(samples)
    from clonometer.views.html.explain import render_explain_page

    path = tmp_path_factory.mktemp("explain") / "explain.html"
    path.write_text(render_explain_page([samples.counted()], None), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield Visit(page, path)
    page.close()


def test_it_loads_in_silence_and_asks_for_nothing(explain_page):
    assert explain_page.said == []
    assert len(explain_page.asked) == 1


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ("#timeline-0-median svg .mark-symbol:not(.role-legend-symbol) path", ("event", "meaning", "who")),
        ("#timeline-0-median svg .mark-rect path", ("part", "lasts", "meaning")),
        ("#budget-0 svg .mark-rect path", ("label", "share", "meaning")),
    ],
)
def test_who_points_at_a_mark_sees_its_meaning(explain_page, marks, said):
    page = explain_page.page
    found = page.locator(marks)
    assert found.count() > 3
    page.mouse.move(0, 0)
    found.nth(2).hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    shown = page.inner_text("#vg-tooltip-element")
    for word in said:
        assert word in shown
    assert len(shown.split("meaning")[1].strip()) > 10


def test_system_calls_with_arguments_unfold(explain_page):
    page = explain_page.page
    page.click("details.listing summary")
    assert 'execve("/bin/<b>", ["b"], NULL)' in page.inner_text("details.listing")
    assert "IPC" in page.inner_text("table.counters")


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_overflows_sideways(explain_page, width):
    page = explain_page.page
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(f"document.querySelector('#budget-0 svg').getBoundingClientRect().width <= {width}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
