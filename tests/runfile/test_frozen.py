"""Frozen run files open for ever: their figures are those that were stated when they were frozen."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.fakes.memory_run import write_run
from tests.fakes.sample_run import sample_run

import clonometer
from clonometer.runfile import open_run
from clonometer.runfile.document import parse_document

DATA = Path(__file__).parents[1] / "data"
SCHEMA1 = DATA / "schema1.parquet"

# Samples, failed launches, median and sum of reaped_ns in whole ns.
SCHEMA1_LAUNCHES = {
    "launch.fork[parent_bytes=64MiB,temperature=warm]": (480, 0, 1_110_455.0, 534_038_985),
    "launch.fork[placement=free,temperature=warm]": (480, 0, 151_082.5, 72_347_738),
    "launch.fork[temperature=cold]": (12, 0, 372_599.5, 4_461_817),
    "launch.fork[temperature=warm]": (480, 0, 139_470.0, 67_198_344),
    "launch.pthread[temperature=cold]": (12, 0, 76_305.5, 927_234),
    "launch.pthread[temperature=warm]": (480, 120, 31_007.0, 11_196_636),
}


def test_schema1_was_not_made_again() -> None:
    digest = hashlib.sha256(SCHEMA1.read_bytes()).hexdigest()
    assert digest == "e9d2e72cc9c2c861c3effdb9682e66bc768a5df9325bb892c4cd562e6d54fd22"


def test_schema1_opens() -> None:
    with open_run(SCHEMA1) as run:
        details = run.document
        assert (details.schema, details.status, run.n_samples) == (1, "complete", 2424)
        assert (details.started, details.seed) == ("2026-01-02T03:04:05+00:00", 20260102)
        assert (len(details.processes), len(details.blocks), len(details.cells)) == (60, 144, 8)
        assert details.cells[-1].reason == "needs Linux 9.9, this is 6.1"
        assert details.blocks[0].facts["wall_ns"] > 0
        assert run.cells() == ["clock.used", *SCHEMA1_LAUNCHES]


def test_the_schema_describes_schema1_and_what_is_written_today(tmp_path: Path) -> None:
    schema = json.loads((DATA.parents[1] / "docs/schemas/run.schema.json").read_text(encoding="utf-8"))
    for path in (SCHEMA1, write_run(tmp_path / "run.parquet", sample_run())):
        text = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
        jsonschema.validate(json.loads(text), schema)
        assert parse_document(text) == open_run(path).document


@pytest.mark.parametrize("cell", SCHEMA1_LAUNCHES)
def test_schema1_has_its_launches(cell: str) -> None:
    run = open_run(SCHEMA1)
    columns = run.columns(cell)
    ok = columns["errno"] == 0
    reaped = columns["reaped_ns"][ok]
    assert set(columns["process"].tolist()) <= set(range(60))
    assert len(set(columns["process"].tolist())) == 12
    assert (len(ok), int((~ok).sum()), float(np.median(reaped)), int(reaped.sum())) == SCHEMA1_LAUNCHES[cell]
    assert set(columns["reaped_ns"][~ok].tolist()) <= {-(2**63)}
    assert set(columns["image_runs_ns"].tolist()) == {-(2**63)}
    assert np.isnan(columns["cost_ns"]).all()


def test_schema1_has_its_clock() -> None:
    cost = open_run(SCHEMA1).columns("clock.used", ["cost_ns"])["cost_ns"]
    assert (len(cost), float(np.median(cost))) == (480, 23.023681472788393)


def test_schema1_gives_results() -> None:
    results = clonometer.load(SCHEMA1).results()
    warm = next(
        cell for cell in results.cells if (cell.cell, cell.stage) == ("launch.pthread[temperature=warm]", "reaped")
    )
    assert (warm.n_samples, warm.n_processes, warm.outcomes) == (360, 12, {"ok": 360, "EAGAIN": 120})
    assert warm.median_ns is not None
    assert 30_000 < warm.median_ns < 32_000
