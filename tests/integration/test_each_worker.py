from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.schemas import check

from clonometer.cli.ending import run_to_the_end
from clonometer.results.workers.each_worker import each_worker
from clonometer.runfile import open_run

pytestmark = pytest.mark.real
WORDS = ["work.factor", "--set", "task_kind=thread,process", "--set", "workers=3", "--budget", "0.1"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of three workers."""
    path = tmp_path_factory.mktemp("workers") / "run.parquet"
    assert run_to_the_end(["run", *WORDS, "--out", str(path)]) == 0
    return path


def test_every_worker_of_a_run_is_told(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_run(measured) as run:
        threads, processes = each_worker(run, [entry.cell for entry in run.document.cells])
    for cell in (threads, processes):
        assert [row.worker for row in cell.rows] == [0, 1, 2]
        # In which order they begin is the machine's affair.
        for row in cell.rows:
            assert row.values["worker_begins_ns"] > 0
            assert row.values["worker_ends_ns"] > row.values["worker_begins_ns"]
            assert row.values["worker_cpu_ns"] > 0
        assert "whole_each_ns" not in cell.units
    assert processes.rows[0].values["minor_faults"] > threads.rows[1].values["minor_faults"]
    assert run_to_the_end(["show", str(measured), "--workers"]) == 0
    printed = capsys.readouterr().out
    assert processes.cell in printed
    assert "pushed" in printed


def test_a_run_without_workers_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.parquet"
    assert run_to_the_end(["run", "launch.none", "--budget", "0.1", "--out", str(path)]) == 0
    assert run_to_the_end(["show", str(path), "--workers"]) == 2
    assert "no cell here has workers" in capsys.readouterr().err


def test_workers_as_json_keep_to_the_schema_and_are_the_same(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_to_the_end(["show", str(measured), "--workers", "--json", "--only", "*task_kind=process*"]) == 0
    document = json.loads(capsys.readouterr().out)
    check(document, "workers")
    with open_run(measured) as run:
        cells = [entry.cell for entry in run.document.cells]
        [processes] = [of_cell for of_cell in each_worker(run, cells) if "task_kind=process" in of_cell.cell]
    [cell] = document["cells"]
    assert (document["run"], cell["cell"], cell["units"]) == (str(measured), processes.cell, processes.units)
    assert [(of_cell["worker"], of_cell["values"]) for of_cell in cell["workers"]] == [
        (row.worker, row.values) for row in processes.rows
    ]


def test_json_of_a_run_without_workers_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.parquet"
    assert run_to_the_end(["run", "launch.none", "--budget", "0.1", "--out", str(path)]) == 0
    capsys.readouterr()
    assert run_to_the_end(["show", str(path), "--workers", "--json"]) == 2
    assert capsys.readouterr().out == ""
