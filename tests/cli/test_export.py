from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.fakes.memory_run import write_run
from tests.fakes.sample_run import FORK_WARM, sample_run

from clonometer.cli.ending import run_to_the_end
from clonometer.views.exports import FORMATS

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def run_file() -> str:
    return str(Path(__file__).parents[1] / "data" / "schema1.parquet")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_to_standard_output(name: str, run_file: str, capsys: Captured) -> None:
    assert run_to_the_end(["export", run_file, "--format", name]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip()
    assert captured.err == ""


def test_the_figures_are_those_of_show(run_file: str, capsys: Captured) -> None:
    assert run_to_the_end(["show", run_file, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["cells"]
    assert run_to_the_end(["export", run_file, "--format", "jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["median_ns"] for line in lines] == [cell["median_ns"] for cell in shown]
    assert all(len(line["process_medians"]) == line["n_processes"] for line in lines)


def test_only_keeps_estimates_and_samples_of_its_cells(run_file: str, capsys: Captured) -> None:
    cells = []
    for more in ([], ["--samples"]):
        assert run_to_the_end(["export", run_file, "--format", "csv", "--only", "launch.fork*", *more]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        cells.append({row["cell"] for row in rows})
    assert cells[0] == cells[1]
    assert all(cell.startswith("launch.fork") for cell in cells[0])
    for more in ([], ["--samples"]):
        assert run_to_the_end(["export", run_file, "--format", "csv", "--only", "launch.frok*", *more]) == 2
        assert "unknown cell 'launch.frok*'" in capsys.readouterr().err


def test_samples_are_those_of_the_file(tmp_path: Path, capsys: Captured) -> None:
    path = write_run(tmp_path / "run.parquet", sample_run())
    assert run_to_the_end(["export", str(path), "--format", "jsonl", "--samples"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    table = pq.read_table(path).to_pylist()
    assert lines == table
    assert any(line["reaped_ns"] is None for line in lines if line["cell"] == FORK_WARM)


def test_an_existing_file_is_spared(run_file: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "run.csv"
    words = ["export", run_file, "--format", "csv", "--out", str(out)]
    assert run_to_the_end(words) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"wrote {out}\n")
    written = out.read_text()
    out.write_text("precious")
    assert run_to_the_end(words) == 2
    assert out.read_text() == "precious"
    assert run_to_the_end([*words, "--force"]) == 0
    assert out.read_text() == written
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "cvs"], "unknown export format 'cvs'; did you mean 'csv'?"),
        (["--format", "benchstat", "--samples"], "benchstat takes no samples"),
        ([], "missing option '--format'"),
    ],
)
def test_what_cannot_be_is_refused_before_the_run_is_read(words: list[str], message: str, capsys: Captured) -> None:
    assert run_to_the_end(["export", "absent.parquet", *words]) == 2
    assert message in capsys.readouterr().err
