"""A browser that can reach nothing, and the report of the sample run on disk."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

#: Debian's two builds of one engine: without windows it takes two thirds of the time.
CHROMIUM = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]


def load(name):
    spec = importlib.util.spec_from_file_location(f"browser_{Path(name).stem}", Path(__file__).parent.parent / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def browser():
    if (program := next(filter(Path.exists, CHROMIUM), None)) is None:
        pytest.skip("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(program), args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report_file(tmp_path_factory):
    from clonometer.views.documents.run import run_document
    from clonometer.views.html.document import render_document_page

    sample = load("views/sample_results.py")
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_document_page(run_document(sample.sample_results())), encoding="utf-8")
    return path


class Visit:
    """A page that has drawn its charts, with all it said and asked for."""

    def __init__(self, page, path):
        self.page = page
        self.messages, self.asked = [], []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)


@pytest.fixture
def visit(browser, report_file):
    """Open a page of one's own, to be worked with."""
    pages = []

    def open_page(width=1280, scheme="light"):
        pages.append(browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme))
        return Visit(pages[-1], report_file)

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def look(browser, report_file):
    """Open a page to look at only: one for each width and scheme, because drawing takes a second."""
    visits = {}

    def open_page(width=1280, scheme="light"):
        if (width, scheme) not in visits:
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            visits[width, scheme] = Visit(page, report_file)
        return visits[width, scheme]

    yield open_page
    for visit in visits.values():
        visit.page.close()
