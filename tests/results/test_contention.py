from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import CONTENTION, contention, operation

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return _findings(contention())


def test_each_number_of_workers_has_its_known_ratio(findings: dict[str, Finding]) -> None:
    numbers = findings["contention.mmap"].numbers
    assert numbers["workers"] == [1, 2, 8]
    for by_worker, truth in zip(numbers["by_workers"], CONTENTION.values(), strict=True):
        # Twelve processes that scatter by half a percent tell a ratio to a percent, more than surely to five.
        assert by_worker["ratio"] == pytest.approx(truth, rel=0.05)
        assert by_worker["ratio_low"] <= by_worker["ratio"] <= by_worker["ratio_high"]
    assert [by_worker["verdict"] for by_worker in numbers["by_workers"]] == ["unknown", "more", "less"]
    assert [cpu_by_worker["verdict"] for cpu_by_worker in numbers["cpu_by_workers"]] == ["unknown", "more", "less"]


def test_the_summary_says_where_not_sharing_wins(findings: dict[str, Finding]) -> None:
    numbers = findings["contention"].numbers
    assert numbers["unshared_wins"] == []
    assert numbers["shared_wins"] == ["mapping and unmapping memory"]
    assert numbers["cannot_tell"] == ["adding to a counter", "adding to a counter (side by side)"]
    assert numbers["workers"] == [2, 8]


def test_false_sharing_has_its_known_ratio_by_threads_and_by_processes(findings: dict[str, Finding]) -> None:
    finding = findings["contention.packed_against_padded"]
    assert len(finding.numbers["each"]) == 2
    for by_kind in finding.numbers["each"]:
        assert by_kind["ratio"] == pytest.approx(8, rel=0.05)
    assert ["process" in comparison["cells"][0] for comparison in finding.numbers["each"]] == [False, True]
    assert "contention.one_against_padded" not in findings


def test_no_straight_line_is_drawn_through_workers(findings: dict[str, Finding]) -> None:
    assert not [name for name in findings if name.startswith("scan.workers")]


def test_threads_alone_are_no_contest(builder: Any) -> None:
    builder.cell("contend.mmap", operation(1000), None, workers=2)
    assert not [name for name in _findings(builder.run) if name.startswith("contention")]


def test_what_no_finding_of_the_family_tells_is_told_as_of_any_axis(
    make_builder: Any, findings: dict[str, Finding]
) -> None:
    builder = make_builder()
    for workers in CONTENTION:
        builder.cell("contend.mmap", operation(1000 * workers), None, spread=0.005, workers=workers)
    alone = _findings(builder.run)
    assert "contention.mmap" not in alone
    assert alone["scan.workers.contend.mmap.op_ns"].numbers["slope_ns"] == pytest.approx(1000, rel=0.05)
    assert [name for name in findings if name.startswith(("scan.", "choice.", "indistinct"))] == []
