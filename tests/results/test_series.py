from __future__ import annotations

from typing import Any

import pytest

from clonometer.results.summary import summarize
from clonometer.results.types import Results
from clonometer.views.plots import ecdf_index

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


@pytest.fixture(scope="module")
def results(default_run: Any) -> Results:
    return summarize(default_run)


def test_distributions_are_rising_and_small(results: Results) -> None:
    assert results.ecdfs
    for series in results.ecdfs:
        assert len(series.x_ns) == len(series.fraction) <= 400
        assert list(series.x_ns) == sorted(set(series.x_ns))
        assert series.fraction[-1] == 1.0


def test_distributions_leave_out_memory_and_the_floor(results: Results) -> None:
    assert {series.family for series in results.ecdfs} == {"same_image", "new_program"}
    assert not [series for series in results.ecdfs if "parent_bytes" in series.cell]


def test_labels_tell_placements_and_linkages_apart(results: Results) -> None:
    keys = [
        (entry["label"], entry["placement"], entry["stage"], entry["temperature"])
        for entry in ecdf_index(results, results.ecdfs)
    ]
    assert {
        ("fork", "pinned"),
        ("fork, lazily bound", "pinned"),
        ("fork", "free, same CPU"),
        ("fork", "free, other CPU"),
        ("fork+exec", "pinned"),
    } <= {key[:2] for key in keys}
    assert len(keys) == len(set(keys))


def test_memory_series_are_warm_sorted_and_rewritten(results: Results) -> None:
    keys = {(series.workload, series.stage) for series in results.scans}
    assert keys == {
        (f"launch.{name}", stage) for name in ("fork", "pthread") for stage in ("call_returns", "task_runs", "reaped")
    }
    for series in results.scans:
        assert series.condition == {"page_kind": "4k", "pages": "rewritten"}
        assert list(series.x) == [0, 2 << 20, 64 << 20, 1 << 30]
        for low, median, high in zip(series.lows, series.medians, series.highs, strict=True):
            assert 0 < low <= median <= high
    fork = next(scan for scan in results.scans if (scan.workload, scan.stage) == ("launch.fork", "reaped"))
    assert fork.medians[0] == pytest.approx(90_000, rel=0.05)


def test_cold_stands_in_for_warm(builder: Any) -> None:
    for size in (0, 1 << 20):
        builder.cell("launch.fork", FORK, "cold", parent_bytes=size)
    assert len(summarize(builder.run).scans) == 3


def test_one_size_is_no_series(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    assert summarize(builder.run).scans == ()
