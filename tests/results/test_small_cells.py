"""Cells of hardly anything: an honest answer, never a NaN in a table."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from clonometer.records import to_json
from clonometer.results.summary import summarize
from clonometer.results.types import Results
from clonometer.views.documents.run import run_document
from clonometer.views.exports import FORMATS, encode
from clonometer.views.html.document import render_document_page
from clonometer.views.terminal import render_answer

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def _everywhere(results: Results) -> str:
    document = json.loads(json.dumps(to_json(results), allow_nan=False))
    for name in FORMATS:
        text = "".join(encode(name, document, results.process_medians))
        assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE), name
    page = re.sub(r"<script.*?</script>", "", render_document_page(run_document(results)), flags=re.DOTALL)
    assert not re.search(r">\s*(nan|NaN|inf|None)\b", page)
    text = "".join(render_answer(results, wide=wide) for wide in (False, True))
    assert not re.search(r"\b(nan|inf|None)\b", text)
    return text


def test_an_empty_cell(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text] = {name: column[:0] for name, column in builder.run.data[text].items()}
    for block in builder.run.metadata["blocks"]:
        block["rows"] = 0
    results = summarize(builder.run)
    assert {(row.n_samples, row.median_ns, row.p99_reason) for row in results.cells} == {(0, None, "no sample")}
    _everywhere(results)


def test_one_sample(builder: Any) -> None:
    builder.cell("launch.fork", FORK, "cold", processes=1)
    results = summarize(builder.run)
    row = results.cells[-1]
    assert (row.n_samples, row.median_low_ns, row.p99_ns, row.mad_ns) == (1, None, None, 0.0)
    assert row.mean_ns == row.median_ns == row.min_ns
    assert "95% interval" in _everywhere(results)
    assert "processes.few" in {warning.id for warning in row.warnings}


@pytest.mark.parametrize("value", [0, 1, 90_000])
def test_constant_samples(builder: Any, value: int) -> None:
    text = builder.cell("launch.fork", FORK)
    for name in FORK:
        builder.run.data[text][name][:] = value
    results = summarize(builder.run)
    for row in results.cells:
        assert (row.median_ns, row.median_low_ns, row.median_high_ns, row.mad_ns) == (value, value, value, 0)
        assert [warning.id for warning in row.warnings] == []
    text = _everywhere(results)
    if value == 0:
        assert "< 1" in text


def test_samples_at_the_clocks_resolution(builder: Any) -> None:
    builder.run.metadata["clock"]["clock_hz"] = 25_000_000
    text = builder.cell("launch.none", {"call_returns_ns": 40, "reaped_ns": 40}, None)
    random = np.random.default_rng(3)
    for name in ("call_returns_ns", "reaped_ns"):
        builder.run.data[text][name][:] = 40 * random.integers(0, 2, builder.run.data[text][name].size)
    builder.run.data[text]["reaped_ns"][:] = builder.run.data[text]["call_returns_ns"]
    results = summarize(builder.run)
    row = results.cells[-1]
    assert row.resolution_ns == 40.0
    assert (row.median_low_ns or 0) <= (row.median_ns or 0) <= (row.median_high_ns or 0)
    _everywhere(results)
