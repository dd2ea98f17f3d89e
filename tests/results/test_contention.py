from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

# What an operation takes threads, for one that takes processes 1 microsecond.
TRUTH = {1: 1.0, 2: 2.0, 8: 0.5}


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def _op(time_ns: float) -> dict[str, float]:
    return {"op_ns": time_ns, "cpu_op_ns": time_ns / 2}


@pytest.fixture(scope="module")
def found(make_builder: Any) -> dict[str, Finding]:
    """Threads lose at mapping with 2 workers and win with 8; counters know no difference, but false sharing."""
    builder = make_builder()
    for workers, ratio in TRUTH.items():
        builder.cell("contend.mmap", _op(1000 * ratio), None, spread=0.005, workers=workers)
        builder.cell("contend.mmap", _op(1000), None, spread=0.005, workers=workers, task_kind="process")
    for kind in ("thread", "process"):
        builder.cell("contend.counter", _op(5), None, workers=2, task_kind=kind)
        builder.cell("contend.counter", _op(40), None, workers=2, task_kind=kind, counter_layout="packed")
    return _findings(builder.run)


def test_each_number_of_workers_has_its_known_ratio(found: dict[str, Finding]) -> None:
    numbers = found["contention.mmap"].numbers
    assert numbers["workers"] == [1, 2, 8]
    for one, truth in zip(numbers["by_workers"], TRUTH.values(), strict=True):
        # Twelve processes that scatter by half a percent tell a ratio to a percent, more than surely to five.
        assert one["ratio"] == pytest.approx(truth, rel=0.05)
        assert one["ratio_low"] <= one["ratio"] <= one["ratio_high"]
    assert [by_worker["verdict"] for by_worker in numbers["by_workers"]] == ["same", "longer", "shorter"]
    assert [cpu_by_worker["verdict"] for cpu_by_worker in numbers["cpu_by_workers"]] == ["same", "longer", "shorter"]


def test_the_sentence_says_a_ratio_above_one_and_what_cannot_be_told_apart(found: dict[str, Finding]) -> None:
    sentence = found["contention.mmap"].sentence
    assert sentence.startswith("Mapping and unmapping memory: threads take ")
    assert "times as long as processes with 2 workers; processes take " in sentence
    assert (
        "times as long as threads with 8 workers; threads and processes cannot be told apart with 1 worker" in sentence
    )
    assert found["contention.mmap"].headline.startswith("Mapping and unmapping memory, 8 workers: processes take ")


def test_the_summary_says_where_not_sharing_wins(found: dict[str, Finding]) -> None:
    numbers = found["contention"].numbers
    assert numbers["unshared_wins"] == []
    assert numbers["shared_wins"] == ["mapping and unmapping memory"]
    assert numbers["cannot_tell"] == ["adding to a counter", "adding to a counter (side by side)"]
    assert found["contention"].sentence.startswith("With 2 to 8 workers, threads win at mapping")


def test_false_sharing_has_its_known_ratio_by_threads_and_by_processes(found: dict[str, Finding]) -> None:
    finding = found["contention.packed_against_padded"]
    assert len(finding.numbers["each"]) == 2
    for one in finding.numbers["each"]:
        assert one["ratio"] == pytest.approx(8, rel=0.05)
    assert "with 2 threads and " in finding.sentence
    assert "with 2 processes." in finding.sentence
    assert "contention.one_against_padded" not in found


def test_no_straight_line_is_drawn_through_workers(found: dict[str, Finding]) -> None:
    assert not [name for name in found if name.startswith("scan.workers")]


def test_threads_alone_are_no_contest(builder: Any) -> None:
    builder.cell("contend.mmap", _op(1000), None, workers=2)
    assert not [name for name in _findings(builder.run) if name.startswith("contention")]


def test_what_no_finding_of_the_family_tells_is_told_as_of_any_axis(
    make_builder: Any, found: dict[str, Finding]
) -> None:
    builder = make_builder()
    for workers in TRUTH:
        builder.cell("contend.mmap", _op(1000 * workers), None, spread=0.005, workers=workers)
    alone = _findings(builder.run)
    assert "contention.mmap" not in alone
    assert alone["scan.workers.contend.mmap.op_ns"].numbers["slope_ns"] == pytest.approx(1000, rel=0.05)
    assert [name for name in found if name.startswith(("scan.", "choice.", "indistinct"))] == []
