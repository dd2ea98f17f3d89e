from __future__ import annotations

from pathlib import Path

import pytest

from clonometer.cli.ending import run_to_the_end
from clonometer.results.each_worker import each_worker
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
        threads, processes = each_worker(run, [entry["cell"] for entry in run.metadata["cells"]])
    for one in (threads, processes):
        assert [row.worker for row in one.rows] == [0, 1, 2]
        # In which order they begin is the machine's affair.
        for row in one.rows:
            assert row.values["worker_begins_ns"] > 0
            assert row.values["worker_ends_ns"] > row.values["worker_begins_ns"]
            assert row.values["worker_cpu_ns"] > 0
        assert "whole_each_ns" not in one.units
    assert processes.rows[0].values["minor_faults"] > threads.rows[1].values["minor_faults"]
    assert run_to_the_end(["show", str(measured), "--workers"]) == 0
    told = capsys.readouterr().out
    assert processes.cell in told
    assert "pushed" in told


def test_a_run_without_workers_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.parquet"
    assert run_to_the_end(["run", "launch.none", "--budget", "0.1", "--out", str(path)]) == 0
    assert run_to_the_end(["show", str(path), "--workers"]) == 2
    assert "no cell here has workers" in capsys.readouterr().err


def test_workers_have_no_json(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_to_the_end(["show", str(measured), "--workers", "--json"]) == 2
    assert "export --samples" in capsys.readouterr().err
