"""The page that answers again: its script simulates as Python does, by mouse and keyboard, on narrow screens too."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.advice.synthetic import basis, with_busy

from clonometer.advice.advising import advise
from clonometer.advice.wish import Wish
from clonometer.results.latency_limit import LatencyLimit
from clonometer.views.documents.advise import advice_document
from clonometer.views.html.document import render_document_page

pytestmark = pytest.mark.browser

REQUESTS = 150
STATED = Wish(
    rate_hz=900, work_ns=2.5e5, block_ns=4e5, memory_bytes=3 << 20, written_bytes=40_960,
    limit=LatencyLimit("p99", 4e6), workers=3, cpus=2,
)  # fmt: skip
OTHERS = [
    {"work_ns": 2.5e5, "memory_bytes": 3 << 20, "rate_hz": 900},
    {"work_ns": 1.7e4, "memory_bytes": 900 << 20, "rate_hz": 77},
    {"work_ns": 9.1e5, "memory_bytes": 1 << 20, "rate_hz": 1500},
    {"work_ns": 2e7, "memory_bytes": 12 << 30, "rate_hz": 40},
]


def answered(wish):
    return advise(wish, with_busy(basis(share=0.1)), seed=5, requests=REQUESTS)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("advise") / "page.html"
    path.write_text(render_document_page(advice_document(answered(STATED), wide=True)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.messages = []
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector(".explorer:not([hidden])", timeout=60_000)
    yield page
    page.close()


@pytest.mark.parametrize("load", OTHERS, ids=lambda load: f"{load['work_ns']:g}")
def test_the_page_answers_as_python_does(page, load):
    script = """(load) => {
      const { ranked, others } = document.querySelector(".explorer").answerFor(load);
      return [...ranked, ...others].map(({ design, reason, p50, p99, cpu, rank }) =>
        [design.id, reason, p50 ?? null, p99 ?? null, cpu, rank ?? null]);
    }"""
    drawn = page.evaluate(script, load)
    expected = answered(replace(STATED, **load))
    known = {design.id: design for design in expected.designs}
    ranked = [design.id for design in expected.designs if design.rank is not None]
    assert [name for name, reason, *_ in drawn if not reason] == ranked
    ends = ("value", "low", "high")
    for name, _, *spans, _ in drawn:
        design = known[name]
        for span, ours in zip(spans, (design.p50_ns, design.p99_ns, design.cpu_ns), strict=True):
            assert (span is None) == (ours is None), name
            if ours is not None:
                expected_ends = [getattr(ours, end) for end in ends]
                assert [span[end] for end in ends] == pytest.approx(expected_ends, rel=1e-6, abs=1.0), name


def test_ranks_are_shared_where_it_is_too_close_to_call(page):
    script = "(load) => document.querySelector('.explorer').answerFor(load).ranked.map(({ close }) => close)"
    closes = page.evaluate(script, OTHERS[0])
    assert closes[1:] == [each.is_close for each in answered(STATED).comparisons]
    assert True in closes


def test_the_keyboard_moves_a_slider_and_the_table_follows(page):
    slider = page.locator(".explorer input[name=work_ns]")
    rows = page.locator(".explorer tbody")
    before, text = rows.inner_text(), slider.get_attribute("aria-valuetext")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("PageUp")
    assert rows.inner_text() != before
    assert slider.get_attribute("aria-valuetext") != text
    assert page.locator(".explorer [role=status]").inner_text()
    page.locator(".explorer button").press("Enter")
    assert rows.inner_text() == before
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.messages == []
