"""A run file of the time before families had modules gives the numbers that it gave then (tests/data)."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from clonometer.results.summary import summarize
from clonometer.results.types import FEWEST_PROCESSES, Results
from clonometer.runfile import open_run

DATA = Path(__file__).parents[1] / "data"
FROZEN: dict[str, Any] = json.loads((DATA / "families.json").read_text())
# The ends that rest on fewer than 6 processes: 95% was claimed of them then, and they were too near to each other.
# What compilers and libraries of numbers may differ by.
CLOSE = 1e-6
# What is not known must stay so.
NONE = math.inf


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    path = tmp_path_factory.mktemp("old") / "families.parquet"
    path.write_bytes(gzip.decompress((DATA / "families.parquet.gz").read_bytes()))
    with open_run(path) as run:
        return summarize(run)


def test_every_row_has_its_numbers(results: Results) -> None:
    for estimate, frozen in zip(results.cells, FROZEN["cells"], strict=True):
        timed = estimate.median_ns is not None
        ends = (estimate.median_low_ns, estimate.median_high_ns) if timed else (estimate.value_low, estimate.value_high)
        middle = estimate.median_ns if timed else estimate.value
        assert [estimate.cell, estimate.quantity, estimate.placement, estimate.n_samples] == frozen[:4]
        numbers = [NONE if number is None else number for number in (middle, *ends, estimate.p99_ns)]
        expected = [NONE if number is None else number for number in frozen[4:]]
        assert numbers == pytest.approx(expected, rel=CLOSE), frozen[:2]


def test_every_finding_has_its_place_and_its_numbers(results: Results) -> None:
    assert [finding.id for finding in results.findings] == [name for name, _ in FROZEN["findings"]]
    for finding, (name, numbers) in zip(results.findings, FROZEN["findings"], strict=True):
        # Intervals of ratios were made by another method then, which gave another ratio too, but one that is near.
        made_otherwise = {"ratio", "ratio_low", "ratio_high", "confidence", "aftermath_extra_ns", "average_ns"}
        kept = [key for key in numbers if key not in made_otherwise]
        measured = {key: finding.numbers[key] for key in kept}
        assert measured == pytest.approx({key: numbers[key] for key in kept}, rel=CLOSE), name
        if numbers.get("ratio") is not None and numbers["n_processes"] >= FEWEST_PROCESSES:
            assert finding.numbers["ratio"] == pytest.approx(numbers["ratio"], rel=0.25), name
        elif "ratio" in numbers:
            # Of fewer than 6 processes there is no ratio any more, and no difference.
            assert finding.numbers["ratio"] is None, name


def test_every_family_of_it_has_what_its_figures_draw(results: Results) -> None:
    drawn = {name for name, series in results.series.items() if series}
    assert drawn == {"fits", "footprints", "isolation", "ladders", "messages"}
    assert {scan.axis for scan in results.scans} == {"parent_bytes", "vmas", "workers", "numbers"}
