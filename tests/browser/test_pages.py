"""Every kind of page at three widths, in both themes: nothing cut, nothing said, nothing asked, open to everybody."""

from __future__ import annotations

import re
import sys
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

import pytest
from tests.browser.conftest import load
from tests.views.page_charts import page_charts
from tests.views.sample_documents import DOCUMENTS

from clonometer.views.html.document import render_document_page

pytestmark = pytest.mark.browser

WIDTHS = (1280, 768, 390)

#: Text that does not fit: beyond its own box, beyond the box that would scroll, or beyond a chart.
CUT = """() => {
  const name = (e) => `${e.tagName} ${e.id || e.className} ${(e.textContent || "").trim().slice(0, 60)}`;
  const shown = (e) => e.getClientRects().length > 0 && e.checkVisibility();
  const scrolls = [...document.querySelectorAll("body *")].filter((e) => {
    const flow = getComputedStyle(e).overflowX;
    if (!shown(e) || e.matches("select, input, svg, svg *") || flow === "visible") return false;
    return e.scrollWidth > e.clientWidth + 1;
  });
  const outside = [...document.querySelectorAll("svg text")].filter((text) => {
    const room = text.closest(".plot, .chart, .picture").getBoundingClientRect();
    const box = text.getBoundingClientRect();
    return box.width > 0 && (box.right > room.right + 1 || box.left < room.left - 1);
  });
  return [...scrolls, ...outside].map(name);
}"""

#: Headings of which a line ends within a word.
BROKEN = """() => [...document.querySelectorAll("h1, h2, h3, th, nav a")].filter((heading) => {
  const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) return true;
    }
  }
  return false;
}).map((heading) => heading.textContent)"""


def reproduced():
    from clonometer.studies.answer import answer
    from clonometer.views.documents.studies import studies_document

    sys.path.insert(0, str(Path(__file__).parent.parent / "studies"))
    reproduction = answer(load("browser/test_studies.py").some_measured(), [])
    return render_document_page(studies_document(reproduction, wide=True))


#: Rows that differ in their texts alone have the same colours: looking at each of them takes five times as long.
LEAVE_ONE_OF_EACH_ROW = """() => {
  const seen = new Set();
  for (const row of [...document.querySelectorAll("tbody tr")]) {
    const markup = row.outerHTML.replace(/>[^<]+</g, ">text<").replace(/ (title|data-\\w+)="[^"]*"/g, " $1");
    const kind = [row.closest("table").className, row.rowIndex % 2, markup].join();
    if (seen.has(kind)) row.remove();
    seen.add(kind);
  }
}"""

#: What is inside a chart has a text beside it: its marks are many, and nobody meets them one by one.
EMPTY_CHARTS = "document.querySelectorAll('svg').forEach((chart) => chart.replaceChildren())"
#: Texts in boxes of the same kinds have the same colours: whether they are legible is asked of one of each.
LEAVE_ONE_OF_EACH_TEXT = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  const seen = new Set();
  for (const text of texts) {
    const boxes = [];
    for (let box = text.parentElement; box; box = box.parentElement) {
      const before = box.previousElementSibling;
      boxes.push(box.tagName, box.id, box.getAttribute("class"), box.getAttribute("style"), box.rowIndex % 2);
      boxes.push(before?.checked, before?.disabled);
    }
    const kind = boxes.join();
    if (seen.has(kind)) text.remove();
    seen.add(kind);
  }
}"""


def run_axe(rules):
    return f"axe.run({{ exclude: ['svg'] }}, {{ resultTypes: ['violations'], {rules} }})"


ONLY = "runOnly: {{ type: 'rule', values: ['{}'] }}".format
#: Light and dark differ in colours only; that of a link beside its text is looked at while all texts are there.
AXE = (
    ("light", run_axe("rules: { 'color-contrast': { enabled: false } }")),
    ("dark", run_axe(ONLY("link-in-text-block"))),
    ("dark", f"({LEAVE_ONE_OF_EACH_TEXT})() ?? {run_axe(ONLY('color-contrast'))}"),
    ("light", run_axe(ONLY("color-contrast"))),
)

PAGES = {"reproduce": reproduced}
PAGES |= {
    f"document-{name}": partial(lambda make: render_document_page(make()), make) for name, make in DOCUMENTS.items()
}


@cache
def page_of(kind):
    """The text of a page of a kind."""
    return PAGES[kind]()


def colours_in(spec, of, values=()):
    """Gather what each point that says what it is ``of`` is drawn in, in a chart and its layers."""
    values = spec.get("data", {}).get("values", values)
    colour = spec.get("encoding", {}).get("color", {})
    for point in values:
        if "of" in point and colour.get("field") in point:
            value = point[colour["field"]]
            scale = colour.get("scale")
            drawn = value if scale is None else dict(zip(scale["domain"], scale["range"], strict=True))[value]
            of.setdefault(point["of"], set()).add(drawn)
    for layer in spec.get("layer", ()):
        colours_in(layer, of, values)


def drawn_on(page):
    """What each mechanism and kind of task is drawn in, on a page with charts or with pictures."""
    of = {}
    data = page_charts(page)
    for chart in data.get("charts", ()):
        colours_in(chart["spec"], of)
    for line in (line for figure in data.get("switched", ()) for line in figure["lines"]):
        of.setdefault(line["of"], set()).add(line["colour"])
    for tag in re.findall(r"<path [^>]*aria-label=[^>]*>", page):
        words = re.search(r'aria-label="(?:published, )?(threads|processes): ', tag)
        drawn = re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', tag)
        if words and drawn:
            of.setdefault(words[1], set()).update(drawn)
    return of


def test_a_mechanism_has_one_colour_on_all_pages():
    whole = {}
    for kind in PAGES:
        for name, drawn in drawn_on(page_of(kind)).items():
            whole.setdefault(name, set()).update(drawn)
    assert {"fork", "pthread", "posix_spawn", "threads", "processes"} <= set(whole)
    assert {name: drawn for name, drawn in whole.items() if len(drawn) > 1} == {}
    # Processes as fork, threads as pthread.
    assert (whole["processes"], whole["threads"]) == (whole["fork"], whole["pthread"])


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_whole_at_every_width_silent_and_open_to_everybody(browser, tmp_path, kind):
    path = tmp_path / "page.html"
    path.write_text(page_of(kind), encoding="utf-8")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    messages, asked = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    if "chart-data" in path.read_text("utf-8"):
        page.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for width in WIDTHS:
        if width != WIDTHS[0]:
            page.evaluate("delete document.documentElement.dataset.drawn")
            page.set_viewport_size({"width": width, "height": 900})
            if "chart-data" in path.read_text("utf-8"):
                page.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(CUT) == [], width
        assert page.evaluate(BROKEN) == [], width
    for script in (LEAVE_ONE_OF_EACH_ROW, EMPTY_CHARTS, axe):
        page.evaluate(script)
    for scheme, asked_of_axe in AXE:
        page.emulate_media(color_scheme=scheme)
        violations = page.evaluate(asked_of_axe)["violations"]
        serious = {
            entry["id"]: [node["html"][:120] for node in entry["nodes"]][:3]
            for entry in violations
            if entry["impact"] in ("serious", "critical")
        }
        assert serious == {}, scheme
    assert messages == []
    assert asked == [path.as_uri()]
    page.close()
