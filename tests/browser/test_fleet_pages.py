"""The pages of fleets and histories draw their charts, and the gallery searches, from a folder and without network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.conftest import Visit
from tests.catalogue import CATALOGUE
from tests.dataset.made import make_run, write_fleet
from tests.fakes.memory_run import write_run

from clonometer.dataset.gallery import read_gallery
from clonometer.dataset.history import find_history
from clonometer.dataset.load import load
from clonometer.dataset.publish import scrub
from clonometer.dataset.published import PUBLISHED_SUFFIX
from clonometer.dataset.show import show_fleet
from clonometer.records import to_json
from clonometer.views.documents.fleet import fleet_document
from clonometer.views.documents.history import history_document
from clonometer.views.html.document import render_document_page
from clonometer.views.html.gallery import gallery_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for number, model in enumerate(("AMD EPYC 9R14", "Intel Xeon 8481C", "Intel Xeon 8481C")):
        facts = {"cpu.model": model, "kernel.release": f"6.{10 + number}.1"}
        run = write_run(folder / f"{number}.parquet", make_run(seed=number, facts=facts))
        (folder / f"{number}{PUBLISHED_SUFFIX}").write_text(json.dumps(to_json(scrub(run, CATALOGUE).published)))
    for name, text in gallery_site(read_gallery(folder)).items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text, encoding="utf-8")
    return folder


def test_the_gallery_searches_and_sorts_by_likeness(browser: Any, site: Path) -> None:
    page = browser.new_page()
    messages: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "site" / "index.html").as_uri())

    def shown() -> list[str]:
        return [row.inner_text().split("\t")[0] for row in page.query_selector_all("#list tbody tr:not([hidden])")]

    assert len(shown()) == 3
    page.fill("input[name=words]", "xeon 6.12")
    assert shown() == ["Intel Xeon 8481C"]
    page.fill("input[name=words]", "")
    page.select_option("select[name=kernel]", "6.10.1")
    assert shown() == ["AMD EPYC 9R14"]
    page.select_option("select[name=kernel]", "")
    page.set_input_files("input[name=mine]", str(site / f"1{PUBLISHED_SUFFIX}"))
    page.locator("#count", has_text="most alike").wait_for()
    assert shown() == ["Intel Xeon 8481C", "Intel Xeon 8481C", "AMD EPYC 9R14"]
    page.click("text=AMD EPYC 9R14")
    assert "Medians" in page.inner_text("main")
    page.click("text=Machines like it")
    page.locator("#count", has_text="most alike").wait_for()
    assert shown()[0] == "AMD EPYC 9R14"
    assert all(url.startswith(("file:", "blob:", "data:")) for url in asked)
    assert messages == []
    page.close()


def test_pages_of_a_fleet_and_of_a_history_draw_their_charts(browser: Any, tmp_path: Path) -> None:
    fleet = load(write_fleet(tmp_path / "runs", hosts=8, runs=2, odd=2.0))
    random = np.random.default_rng(1)
    for day in range(14):
        factor = float(np.exp(0.005 * random.normal())) * (1.2 if day >= 9 else 1.0)
        write_run(tmp_path / "days" / f"{day}.parquet", make_run(day=day, seed=day, factor=factor))
    pages = {
        "fleet": (render_document_page(fleet_document(show_fleet(fleet, "class", with_hosts=True), wide=True)), 2),
        "history": (render_document_page(history_document(find_history(load(tmp_path / "days")), wide=True)), 6),
    }
    for name, (text, charts) in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_page()
        visit = Visit(page, path)
        assert len(page.query_selector_all(".plot svg, .plot canvas")) == charts, name
        assert visit.messages == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in visit.asked)
        page.close()
