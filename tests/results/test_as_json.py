from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from clonometer.records import to_json
from clonometer.results.summary import summarize
from clonometer.results.types import Results

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/show.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(default_run: Any) -> Results:
    return summarize(default_run, "run.parquet")


@pytest.fixture
def document(results: Results) -> Any:
    return to_json(results)


def _validate(document: Any) -> None:
    Draft202012Validator(SCHEMA).validate(document)


def _round_trip(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_results_are_valid_json_without_nan(document: Any) -> None:
    again = _round_trip(document)
    assert again == document
    _validate(again)


def test_it_has_the_promised_keys(document: Any) -> None:
    assert {"schema", "status", "host", "cells", "findings"} <= set(document)
    promised = """cell workload condition temperature stage placement quantity unit n_samples n_processes
        median_ns median_low_ns median_high_ns p99_ns min_ns effective_mhz warnings"""
    assert all(set(promised.split()) <= set(cell) for cell in document["cells"])
    assert all(set(finding) == {"id", "sentence", "numbers"} for finding in document["findings"])


def test_an_entry_has_the_numbers_of_its_estimate(results: Results, document: Any) -> None:
    for estimate, entry in zip(results.cells, document["cells"], strict=True):
        assert entry["median_ns"] == estimate.median_ns
        assert entry["condition"] == dict(estimate.condition)
        assert entry["warnings"] == [vars(warning) for warning in estimate.warnings]


def test_an_empty_run_is_valid(builder: Any) -> None:
    builder.run.metadata |= {"status": "partial", "status_reason": "interrupted"}
    builder.run.metadata["ended"] = builder.run.metadata["started"]
    document = _round_trip(to_json(summarize(builder.run)))
    _validate(document)
    assert (document["cells"], document["findings"], document["duration_s"]) == ([], [], 0.0)


def test_failed_and_missing_cells_are_valid(builder: Any) -> None:
    values = {"call_returns_ns": 1, "task_runs_ns": 2, "reaped_ns": 3}
    text = builder.cell("launch.fork", values)
    builder.run.data[text]["errno"][:] = 11
    cells = builder.run.metadata["cells"]
    cells[0]["stopped_by"] = "budget"
    cells.append({"cell": "x", "status": "skipped", "reason": "no memory", "stopped_by": None})
    document = _round_trip(to_json(summarize(builder.run)))
    _validate(document)
    assert document["cell_outcomes"][-1] == {
        "cell": "x",
        "status": "skipped",
        "reason": "no memory",
        "stopped_by": None,
    }
    assert document["cell_outcomes"][0]["stopped_by"] == "budget"


def test_a_run_of_one_process_a_cell_has_no_interval_anywhere(builder: Any) -> None:
    for workload, factor in (("launch.fork", 3), ("launch.pthread", 1)):
        times = {"call_returns_ns": 1000 * factor, "task_runs_ns": 2000 * factor, "reaped_ns": 3000 * factor}
        builder.cell(workload, times, processes=1)
    results = summarize(builder.run)
    document = _round_trip(to_json(results))
    _validate(document)
    assert {row["median_low_ns"] for row in document["cells"]} == {None}
    numbers = next(finding["numbers"] for finding in document["findings"] if finding["id"] == "process_vs_thread.warm")
    assert (numbers["ratio_low"], numbers["ratio_high"]) == (None, None)
    assert not any(re.search(r"\d to \d", finding.sentence) for finding in results.findings)


def test_foreign_nans_and_numpy_numbers_become_json(results: Results) -> None:
    host = {"a": float("nan"), "b": [np.float64("inf"), np.int64(3)], "c": {"d": np.float32(0.5)}}
    document = _round_trip(to_json(replace(results, host=host)))
    assert document["host"] == {"a": None, "b": [None, 3.0], "c": {"d": 0.5}}


def _broken(document: Any) -> Iterator[tuple[str, Any]]:
    for key in SCHEMA["required"]:
        yield f"without {key}", {name: value for name, value in document.items() if name != key}
    row = document["cells"][0]
    for key in SCHEMA["$defs"]["estimate"]["required"]:
        yield (
            f"row without {key}",
            {**document, "cells": [{name: content for name, content in row.items() if name != key}]},
        )
    yield "negative time", {**document, "cells": [{**row, "min_ns": -1.0}]}
    yield "unknown key", {**document, "cells": [{**row, "mode_ns": 1.0}]}
    yield "p99 without reason", {**document, "cells": [{**row, "p99_ns": None, "p99_reason": None}]}
    yield "finding without cells", {**document, "findings": [{"id": "a", "sentence": "b", "numbers": {}}]}


def test_the_schema_refuses_what_is_not_results(document: Any) -> None:
    validator = Draft202012Validator(SCHEMA)
    accepted = [what for what, broken in _broken(document) if validator.is_valid(broken)]
    assert accepted == []
