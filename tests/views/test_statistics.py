from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tools.reference import reference

from clonometer.records import to_json
from clonometer.views import statistics
from clonometer.views.documents.run import run_document
from clonometer.views.exports import encode
from clonometer.views.html.document import render_document_page
from clonometer.views.statistics import STATISTICS, Statistic
from clonometer.views.terminal import render_answer


def test_one_declaration_brings_a_statistic_into_every_view(results, monkeypatch: pytest.MonkeyPatch) -> None:
    mean = Statistic("mean_ns", "invented mean", "invented", "time", "What a test made up.")
    monkeypatch.setattr(statistics, "STATISTICS", (*STATISTICS, mean))
    results = replace(results, cells=[replace(estimate, mean_ns=4_321_000.0) for estimate in results.cells])
    document = to_json(results)
    for name, text in {
        "terminal": render_answer(results, wide=True, width=200),
        "page": render_document_page(run_document(results)),
        "markdown": "".join(encode("markdown", document, [])),
    }.items():
        assert "invented mean" in text, name
        assert re.search(r"\b4[.,]32", text), name
    assert "invented mean" in reference()
    metrics = "".join(encode("openmetrics", document, []))
    assert "# HELP clonometer_invented_seconds What a test made up." in metrics
    assert "} 0.004321\n" in metrics


def test_each_statistic_is_in_the_methods() -> None:
    methods = (Path(__file__).parents[2] / "docs/methods.md").read_text()
    assert [
        statistic.key for statistic in STATISTICS if statistic.kind == "time" and f"`{statistic.key}`" not in methods
    ] == []


def test_the_methods_can_be_read_in_twenty_minutes() -> None:
    lines = (Path(__file__).parents[2] / "docs/methods.md").read_text().splitlines()
    assert len(lines) <= 400
    assert [line for line in lines if len(line) > 130] == []
