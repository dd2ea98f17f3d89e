from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.catalogue import CATALOGUE

from clonometer.errors import RunFileError
from clonometer.results.summary import summarize

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def test_facts_of_the_run_are_taken_over(default_run: Any) -> None:
    results = summarize(default_run, "my-run")
    assert (results.run_name, results.status, results.plan_name, results.seed) == (
        "my-run",
        "complete",
        "default",
        42,
    )
    assert results.duration_s == 62.5
    assert results.n_processes == len(default_run.metadata["processes"])
    assert results.n_samples == sum(len(columns["process"]) for columns in default_run.data.values())
    assert results.summaries["launch.fork"] == CATALOGUE.workloads["launch.fork"].summary
    assert "wake.futex" not in results.summaries
    assert len(results.cell_outcomes) == len(default_run.data)


def test_a_run_is_named_after_its_file(builder: Any) -> None:
    assert summarize(builder.run).run_name == ""
    builder.run.path = Path("somewhere/run.parquet")
    assert summarize(builder.run).run_name == "run.parquet"


def test_metadata_that_lack_a_key_are_an_error_of_the_file(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    del builder.run.metadata["blocks"]
    with pytest.raises(RunFileError, match="metadata is damaged: blocks is missing"):
        summarize(builder.run)


def test_results_load_nothing_heavy_until_they_are_asked_to() -> None:
    code = "import sys, clonometer.results, clonometer.results.types; print('numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_there_is_nothing_else_to_ask_for() -> None:
    import clonometer.results

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = clonometer.results.nothing
