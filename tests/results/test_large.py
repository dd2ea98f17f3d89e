"""A large cell is read in pieces, and its answer is that of the same cell held whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.fakes.sensed import sense

from clonometer.errors import RunFileError
from clonometer.records import to_json
from clonometer.results.rows import large
from clonometer.results.summary import summarize
from clonometer.results.types import Estimate

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
EXACT = (
    "n_samples", "n_processes", "median_ns", "median_low_ns", "median_high_ns", "p99_ns", "min_ns", "mad_ns",
    "outcomes", "clock_skew", "drift", "placement", "resolution_ns",
)  # fmt: skip


@dataclass
class Pieces:
    """A run in memory that gives its cells in pieces, too."""

    run: Any
    rows: int = 257

    @property
    def document(self) -> Any:
        return self.run.document

    def cells(self) -> list[str]:
        return list(self.run.cells())

    def columns(self, cell: str, names: Sequence[str]) -> Any:
        raise AssertionError(f"{cell} was read whole")

    def n_rows(self, cell: str) -> int:
        return len(self.run.data[cell]["process"])

    def pieces(self, cell: str, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        columns = self.run.data[cell]
        for first in range(0, self.n_rows(cell), self.rows):
            yield {name: columns[name][first : first + self.rows] for name in names}


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_ROWS", 100)
    monkeypatch.setattr(large, "KEPT_SAMPLES", 300)
    monkeypatch.setattr(large, "_HELD_VALUES", 64)


def _both(builder: Any, rows: int = 257) -> Iterator[tuple[Estimate, Estimate]]:
    whole, piecewise = summarize(builder.run).cells, summarize(Pieces(builder.run, rows)).cells
    yield from zip(whole, piecewise, strict=True)


@pytest.mark.parametrize("rows", [1, 90, 257, 10_000])
def test_pieces_give_the_same_figures(builder: Any, rows: int) -> None:
    builder.cell("launch.fork", FORK, spread=0.2, placement="free", other_cpu=0.3)
    for whole, piecewise in _both(builder, rows):
        for name in EXACT:
            assert getattr(piecewise, name) == getattr(whole, name), name
        assert piecewise.mean_ns == pytest.approx(whole.mean_ns)
        assert piecewise.relative_error == 0.0


def test_failures_skew_and_nulls_are_counted_alike(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.1)
    columns = builder.run.data[text]
    columns["errno"][5:400:7] = 11
    columns["task_runs_ns"][3:500:50] = 10**7
    columns["call_returns_ns"][2::11] = np.iinfo(np.int64).min
    for whole, piecewise in _both(builder):
        for name in EXACT:
            assert getattr(piecewise, name) == getattr(whole, name), name


@pytest.mark.parametrize("scale", [1, 1000])
def test_other_types_are_within_a_thousandth(builder: Any, scale: int) -> None:
    """Floats, and whole numbers beyond those counted one by one."""
    builder.cell("clock.used", {"cost_ns": 9.8}, None)
    builder.cell("launch.fork", {name: value * scale for name, value in FORK.items()}, spread=0.3)
    for whole, piecewise in _both(builder):
        for name in ("median_ns", "median_low_ns", "p99_ns", "min_ns"):
            assert getattr(piecewise, name) == pytest.approx(getattr(whole, name), rel=1e-3), name
        assert piecewise.relative_error <= 1e-3
        assert (piecewise.relative_error > 0) == (scale > 1 or whole.quantity == "cost_ns")


def test_a_stage_without_samples_and_what_is_no_time(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {"call_returns_ns": 10_000, "reaped_ns": 20_000})
    builder.cell("queue.wait", {"wait_us": 2.5, "queue_bytes": 4096}, None)
    for whole, piecewise in _both(builder):
        assert piecewise.n_samples == whole.n_samples
        assert piecewise.p99_reason == whole.p99_reason
        assert piecewise.value == whole.value
        if whole.median_ns:
            assert piecewise.median_ns == pytest.approx(whole.median_ns, rel=1e-3)


def test_only_some_samples_are_kept_for_drawing(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    results = summarize(Pieces(builder.run))
    assert all(len(series.x_ns) <= 270 for series in results.ecdfs)
    assert {row.n_samples for row in results.cells} == {1080}
    assert to_json(results)["n_samples"] == 1080


def test_rows_out_of_order_are_refused(builder: Any) -> None:
    text = builder.cell("launch.fork", FORK)
    builder.run.data[text]["process"] = builder.run.data[text]["process"][::-1].copy()
    with pytest.raises(RunFileError, match="not in the order of processes"):
        summarize(Pieces(builder.run))


@pytest.mark.parametrize("share", [0.6, 0.999])
def test_launches_alone_are_chosen_alike(builder: Any, share: float) -> None:
    text = builder.cell("launch.fork", FORK, spread=0.1)
    columns = builder.run.data[text]
    shared = np.random.default_rng(5).random(columns["process"].size) < share
    # One process has too few.
    shared |= (columns["process"] == columns["process"][0]) & (columns["sample"] > 0)
    sense(builder.run, {text: shared}, slower=1.4)
    for whole, piecewise in _both(builder):
        for name in EXACT:
            assert getattr(piecewise, name) == getattr(whole, name), name
        assert whole.alone is not None
        assert whole.alone.counted is (share < 0.9)
        assert piecewise.alone == replace(whole.alone, others_take=None)
        assert whole.n_processes == (11 if share < 0.9 else 12)
