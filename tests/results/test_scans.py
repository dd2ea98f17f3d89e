from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding
from clonometer.views.figures.scanned import drawn_kind

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
PTHREAD = {"call_returns_ns": 10_000, "task_runs_ns": 20_000, "reaped_ns": 30_000}


def _plus(values: dict[str, float], more_ns: float) -> dict[str, float]:
    return {name: value + more_ns for name, value in values.items()}


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def scanned(make_builder: Any) -> Any:
    """Fork takes 130 ns more for each VMA, 900 for a touched one; pthread does not mind."""
    builder = make_builder()
    for count in (0, 100, 1000, 10_000):
        builder.cell("launch.fork", _plus(FORK, 130 * count), vmas=count)
        builder.cell("launch.pthread", PTHREAD, vmas=count)
        if count:
            builder.cell("launch.fork", _plus(FORK, 900 * count), vmas=count, vma_kind="touched")
    return builder.run


def test_each_thing_more_has_its_known_slope(scanned: Any) -> None:
    findings = _findings(scanned)
    for name, truth in (("scan.vmas.fork", 130), ("scan.vmas.fork.touched", 900)):
        reaped = findings[name].numbers
        low, high = reaped["slope_ns_interval"]
        assert low <= truth <= high
        assert reaped["per"] == "VMA"
        assert reaped["x"] == [0, 100, 1000, 10_000]
        assert {stage["stage"] for stage in reaped["stages"]} == {"call_returns", "task_runs", "reaped"}
    assert findings["scan.vmas.fork"].sentence.startswith("Each VMA adds 1")
    assert " ns to fork until reaped and 1" in findings["scan.vmas.fork"].sentence
    assert "touched VMAs" in findings["scan.vmas.fork.touched"].headline


def test_no_effect_is_said_as_such(scanned: Any) -> None:
    finding = _findings(scanned)["scan.vmas.pthread"]
    assert finding.sentence.startswith("VMAs: no effect is seen on pthread until reaped; it takes ")
    assert finding.numbers["verdict"] == "same"


def test_a_stage_that_does_not_grow_is_said_to_have_nothing(builder: Any) -> None:
    for count in (0, 1000, 10_000):
        builder.cell("launch.fork", {**FORK, "reaped_ns": 90_000 + 100 * count}, vmas=count)
    sentence = _findings(builder.run)["scan.vmas.fork"].sentence
    assert " ns to fork until reaped and nothing seen until the call returns" in sentence


def test_a_curve_is_no_slope(builder: Any) -> None:
    for number in (1, 2, 3, 5, 10, 20):
        builder.cell("launch.fork", _plus(FORK, 2_000_000 / number**2), "cold", launch_number=number)
    finding = _findings(builder.run)["scan.launch_number.fork"]
    assert "at launch 1" in finding.sentence
    assert "at launch 20; no straight line lies between" in finding.sentence
    assert "adds" not in finding.sentence


def test_series_have_the_points_of_the_plan_and_share_the_one_at_zero(scanned: Any) -> None:
    scans = [scan for scan in summarize(scanned).scans if scan.stage == "reaped"]
    assert [(scan.workload, dict(scan.condition)) for scan in scans] == [
        ("launch.fork", {}),
        ("launch.pthread", {}),
        ("launch.fork", {"vma_kind": "touched"}),
    ]
    assert {scan.x for scan in scans} == {(0, 100, 1000, 10_000)}
    assert scans[0].medians[0] == scans[2].medians[0]
    for scan in scans:
        assert all(low <= median <= high for low, median, high in zip(scan.lows, scan.medians, scan.highs, strict=True))


def test_free_placements_are_never_mixed(builder: Any) -> None:
    for count in (0, 1000):
        times = _plus({**FORK, "reaped_ns": 300_000}, 100 * count)
        builder.cell("launch.fork", times, vmas=count, placement="free", other_cpu=0.5)
    scans = [scan for scan in summarize(builder.run).scans if scan.stage == "reaped"]
    assert [scan.placement for scan in scans] == ["same_cpu", "other_cpu"]
    assert {"scan.vmas.fork.free.same_cpu", "scan.vmas.fork.free.other_cpu"} <= set(_findings(builder.run))


def test_memory_is_no_scan_but_a_finding_for_each_kind(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    for size in (64 << 20, 1 << 30):
        builder.cell("launch.fork", _plus(FORK, 50 * (size >> 12)), parent_bytes=size)
        builder.cell("launch.fork", _plus(FORK, 200 * (size >> 21)), parent_bytes=size, page_kind="thp")
    results = summarize(builder.run)
    assert {drawn_kind(line) for line in results.scans} == {"memory"}
    kinds = {(line.condition["page_kind"], line.stage) for line in results.scans}
    assert kinds >= {("4k", "reaped"), ("thp", "reaped")}
    found = {finding.id: finding for finding in results.findings}
    low, high = found["memory.fork.thp"].numbers["slope_ns_per_page_interval"]
    assert low <= 200 / 512 <= high
    assert "ns per 2 MiB page" in found["memory.fork.thp"].sentence
    assert "(THP)" in found["memory.fork.thp"].headline
    assert found["memory.fork.thp"].numbers["parent_bytes"] == [0, 64 << 20, 1 << 30]


@pytest.fixture(scope="module")
def ladder(make_builder: Any) -> Any:
    builder = make_builder()
    builder.cell("flags.none", FORK, spread=0.01)
    builder.cell("flags.files", _plus(FORK, -20_000), spread=0.01)
    builder.cell("flags.fs", _plus(FORK, -20_000), spread=0.01)
    builder.cell("flags.thread", PTHREAD, spread=0.01)
    builder.cell("launch.pthread", PTHREAD, spread=0.01)
    return builder.run


def test_a_step_saves_what_it_saves(ladder: Any) -> None:
    finding = _findings(ladder)["step.flags.files"]
    differences = {difference["stage"]: difference for difference in finding.numbers["differences"]}
    for difference in differences.values():
        assert difference["difference_low_ns"] < difference["difference_ns"] < difference["difference_high_ns"] < 0
        assert difference["difference_ns"] == pytest.approx(-20_000, rel=0.1)
        assert difference["verdict"] == "shorter"
    assert finding.sentence.startswith("From flags.none to flags.files, warm, pinned: saves ")
    assert finding.headline.startswith("From flags.none to flags.files, warm, pinned: saves ")


def test_a_step_that_changes_nothing_says_so(ladder: Any) -> None:
    finding = _findings(ladder)["step.flags.fs"]
    assert "no difference is seen until the call returns" in finding.sentence
    same = next(difference for difference in finding.numbers["differences"] if difference["stage"] == "call_returns")
    assert same["verdict"] == "same"
    assert same["difference_low_ns"] < 0 < same["difference_high_ns"]


def test_ends_by_other_ways_of_reaping_are_left_out(ladder: Any) -> None:
    finding = _findings(ladder)["step.flags.thread"]
    assert [difference["stage"] for difference in finding.numbers["differences"]] == ["call_returns", "task_runs"]
    assert "their ends cannot be compared (reaped by futex, not wait)" in finding.sentence


def test_rungs_do_not_compete(ladder: Any) -> None:
    assert not [id_ for id_ in _findings(ladder) if id_.startswith("fastest")]


@pytest.mark.parametrize("processes", [1, 12])
def test_of_one_process_no_interval_is_shown(builder: Any, processes: int) -> None:
    for count in (0, 1000, 10_000):
        builder.cell("launch.fork", _plus(FORK, 100 * count), processes=processes, vmas=count)
    for size in (0, 1 << 26, 1 << 30):
        builder.cell("launch.pthread", _plus(FORK, size / 4096), processes=processes, parent_bytes=size)
    builder.cell("flags.none", FORK, processes=processes)
    builder.cell("flags.files", _plus(FORK, 5_000), processes=processes)
    findings = _findings(builder.run)
    scan, memory, step = (findings[name].numbers for name in ("scan.vmas.fork", "memory.pthread", "step.flags.files"))
    intervals = [
        scan["slope_ns_interval"],
        scan["average_ns_interval"],
        memory["slope_ns_per_page_interval"],
        memory["ms_per_gib_interval"],
        step["difference_low_ns"],
        step["difference_high_ns"],
    ]
    if processes == 1:
        assert intervals == [None] * 6
        assert {one["interval_reason"] for one in (scan, memory, step)} == {
            "one process: what others would have given is not known"
        }
        assert "(one process)" in findings["scan.vmas.fork"].sentence
        assert "(one process)" in findings["memory.pthread"].sentence
    else:
        assert None not in intervals
        assert {one["interval_reason"] for one in (scan, memory, step)} == {None}
        assert "one process" not in findings["scan.vmas.fork"].sentence
