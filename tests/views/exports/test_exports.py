"""Every format read back by whoever reads it, and the figures held against ``show --json``."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.fakes.memory_run import RunBuilder

from clonometer.errors import UsageError
from clonometer.records import to_json
from clonometer.results.summary import summarize
from clonometer.views.exports import FORMATS, encode, encode_samples
from clonometer.views.statistics import STATISTICS

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


@pytest.fixture(scope="module")
def exported() -> tuple[dict[str, Any], Any]:
    """Times and what is no time, one process and many, a stage without samples, hostile host facts."""
    builder = RunBuilder()
    builder.cell("launch.fork", FORK, processes=12)
    builder.cell("launch.pthread", {"call_returns_ns": 9_000, "reaped_ns": 30_000}, processes=1)
    builder.cell("launch.fork", FORK, placement="free", other_cpu=0.4)
    builder.cell("queue.wait", {"wait_us": 2.5, "queue_bytes": 4096}, None)
    metadata = builder.run.metadata
    metadata["cells"] += [
        {"cell": "launch.a", "status": "skipped", "reason": "no room: # 5 of 9", "stopped_by": None},
        {"cell": "launch.b", "status": "failed", "reason": None, "stopped_by": None},
    ]
    metadata["host"]["cpu.model"] = 'A "fast"\\CPU\n# EOF | *'
    results = summarize(builder.run, "run.parquet")
    return json.loads(json.dumps(to_json(results))), results.process_medians


def _text(name: str, exported: tuple[dict[str, Any], Any]) -> str:
    return "".join(encode(name, *exported))


def _key(cell: Any) -> tuple[str, str, str | None]:
    return (cell["cell"], cell["quantity"], cell["placement"])


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_of_nothing_is_encoded_too(name: str) -> None:
    results = summarize(RunBuilder().run)
    text = _text(name, (to_json(results), results.process_medians))
    assert "nan" not in text.lower()


def test_csv_is_read_by_pandas_and_polars(exported: Any) -> None:
    text = _text("csv", exported)
    frame = pd.read_csv(io.StringIO(text))
    for row, cell in zip(frame.to_dict("records"), exported[0]["cells"], strict=True):
        for key in ("median_ns", "median_low_ns", "p99_ns", "min_ns", "n_samples"):
            assert row[key] == cell[key] or (cell[key] is None and pd.isna(row[key])), key
        assert row["cell"] == cell["cell"]
        assert (row["axis.placement"] if "placement" in cell["condition"] else None) == cell["condition"].get(
            "placement"
        )
    assert set(frame["warnings"].dropna().str.split().sum()) == {
        warning["id"] for cell in exported[0]["cells"] for warning in cell["warnings"]
    }
    assert pl.read_csv(io.StringIO(text))["median_ns"].to_list() == [cell["median_ns"] for cell in exported[0]["cells"]]


def test_csv_has_the_same_columns_whatever_a_run_says_of_its_rows(exported: Any) -> None:
    document, processes = exported
    cells = [{**cell, "drift": None, "warm_up": None, "outliers": None} for cell in document["cells"]]
    described = [
        {**cells[0], "drift": {"kind": "trend", "share": 0.1}, "warm_up": {"samples": 7, "share": 0.5}},
        *cells[1:],
    ]
    without, with_them = (
        pd.read_csv(io.StringIO(_text("csv", ({**document, "cells": rows}, processes)))) for rows in (cells, described)
    )
    assert list(without.columns) == list(with_them.columns)
    shape = ["drift.kind", "drift.share", "warm_up.samples", "warm_up.share", "outliers.count"]
    assert without[shape].isna().all(axis=None)
    assert with_them.loc[0, shape[:4]].tolist() == ["trend", 0.1, 7, 0.5]


def test_json_lines_are_read_by_pandas_and_are_the_documents_entries(exported: Any) -> None:
    text = _text("jsonl", exported)
    frame = pd.read_json(io.StringIO(text), lines=True)
    assert len(frame) == len(exported[0]["cells"])
    for line, cell, medians in zip(text.splitlines(), exported[0]["cells"], exported[1], strict=True):
        value = json.loads(line)
        assert {key: value[key] for key in cell} == cell
        assert value["process_medians"] == list(medians)
        assert value["run"] == "run.parquet"


def test_markdown_says_for_how_many_a_warning_stands(exported: Any) -> None:
    document, processes = exported
    warning = {"id": "samples.few", "sentence": "few samples", "next_step": "more", "alike": 3}
    text = _text("markdown", ({**document, "warnings": [warning]}, processes))
    assert "\nWarnings:\n\n- few samples (and 3 more like it)\n" in text


def test_markdown_is_one_table_with_every_row(exported: Any) -> None:
    lines = _text("markdown", exported).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(exported[0]["cells"])
    # The cell, its stage and placement, median and interval; and what stands outside the outer pipes.
    assert {len(re.split(r"(?<!\\)\|", line)) for line in table} == {5 + len(STATISTICS) + 2}
    row = next(line for line in table if "`launch.pthread[temperature=warm]` | reaped" in line)
    assert "| - |" in row  # one process: no interval
    assert "\n" not in lines[0]
    median = next(
        cell for cell in exported[0]["cells"] if cell["workload"] == "launch.pthread" and cell["stage"] == "reaped"
    )
    assert f"{median['median_ns'] / 1000:.1f} µs" in row


def test_markdown_gives_the_ends_of_an_interval_the_digits_of_its_median(exported: Any) -> None:
    rows = [line.split(" | ") for line in _text("markdown", exported).splitlines() if "`launch.fork" in line]
    assert rows
    for row in rows:
        digits = [re.sub(r"^\d+", "", text) for text in re.findall(r"[\d.]+", " ".join(row[3:5]))]
        assert len(digits) == 3
        assert len({len(digit) for digit in digits}) == 1, row


@pytest.fixture(scope="module")
def benchstat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real program, built from the Go module proxy into a temporary folder."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    folder = tmp_path_factory.mktemp("go")
    ended = subprocess.run(
        ["go", "install", "golang.org/x/perf/cmd/benchstat@latest"],
        env={**os.environ, "GOBIN": str(folder)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    if ended.returncode:
        pytest.skip(f"benchstat cannot be built here: {ended.stderr.splitlines()[-1]}")
    return folder / "benchstat"


def test_benchstat_finds_the_same_medians(exported: Any, benchstat: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(_text("benchstat", exported))
    ended = subprocess.run([benchstat, "-format", "csv", path], capture_output=True, text=True, check=True)
    medians_read: dict[str, list[float]] = {}
    for line in ended.stdout.splitlines():
        name, _, rest = line.partition(",")
        if "=" in name and not name.startswith(("goos", "cpu")):
            medians_read.setdefault(name, []).append(float(rest.split(",")[0]))
    cell = next(cell for cell in exported[0]["cells"] if cell["stage"] == "reaped" and cell["n_processes"] == 12)
    # benchstat's tables are in seconds.
    assert medians_read["Launch.fork/temperature=warm/until=reaped/ran=same_cpu"] == [
        pytest.approx(cell["median_ns"] / 1e9, rel=1e-3)
    ]
    assert len(medians_read) == sum(cell["n_samples"] > 0 for cell in exported[0]["cells"])
    assert "need >=" in ended.stderr + ended.stdout or "± ∞" in ended.stdout  # the cell of one process has no interval


def test_openmetrics_is_read_by_prometheus(exported: Any) -> None:
    families = {family.name: family for family in text_string_to_metric_families(_text("openmetrics", exported))}
    assert families["clonometer_median_seconds"].unit == "seconds"
    for name, key in (
        ("median", "median_ns"),
        ("median_low", "median_low_ns"),
        ("minimum", "min_ns"),
        ("p99", "p99_ns"),
        ("mad", "mad_ns"),
    ):
        samples_read = {
            _key({"placement": None, **sample.labels}): sample.value
            for sample in families[f"clonometer_{name}_seconds"].samples
        }
        wanted = {_key(cell): cell[key] / 1e9 for cell in exported[0]["cells"] if cell[key] is not None}
        assert samples_read == pytest.approx(wanted, rel=1e-12)
    # What no interval would cover has none, in no export: the estimate alone.
    about = {name for name in [*families, *exported[0]["cells"][0]] if "p99" in name or "min" in name.split("_")[:2]}
    assert about == {"clonometer_p99_seconds", "p99_ns", "p99_reason", "min_ns"}
    run = families["clonometer_run"].samples[0].labels
    assert run["cpu"] == exported[0]["host"]["cpu.model"]
    assert {sample.value for sample in families["clonometer_value"].samples} == {
        cell["value"] for cell in exported[0]["cells"] if cell.get("value") is not None
    }


def test_samples_keep_nulls_and_numbers() -> None:
    rows = [("c", 0, None, 1.5), ('d,"', 1, 7, None)]
    columns = ["cell", "process", "reaped_ns", "cost_ns"]
    frame = pd.read_csv(io.StringIO("".join(encode_samples("csv", columns, iter(rows)))), dtype={"reaped_ns": "Int64"})
    assert frame["cell"].tolist() == ["c", 'd,"']
    assert frame["reaped_ns"].isna().tolist() == [True, False]
    lines = "".join(encode_samples("jsonl", columns, iter(rows))).splitlines()
    assert [list(json.loads(line).values()) for line in lines] == [list(row) for row in rows]


@pytest.mark.parametrize("count", [0, 999, 1000, 1001, 2500])
def test_samples_come_in_pieces_and_none_is_lost(count: int) -> None:
    for name, head in (("csv", 1), ("jsonl", 0)):
        pieces = list(encode_samples(name, ["a"], iter([(number,) for number in range(count)])))
        assert "".join(pieces).count("\n") == count + head
        assert max(piece.count("\n") for piece in pieces) <= 1001


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown export format 'benchstad'; did you mean 'benchstat'"):
        encode("benchstad", {}, ())
    with pytest.raises(UsageError, match="markdown takes no samples"):
        encode_samples("markdown", [], iter(()))
