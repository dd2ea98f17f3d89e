from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import FORK, areas, choices, curve, few_processes, ladder, plus, scaled

from clonometer.results.findings.growth import MOST_MISS
from clonometer.results.findings.wording import condition
from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.figures.scanned import drawn_kind
from clonometer.views.pictures import picture_spec


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def scanned() -> Any:
    return areas()


def test_each_thing_more_has_its_known_slope(scanned: Any) -> None:
    findings = _findings(scanned)
    for name, truth in (("scan.vmas.fork", 130), ("scan.vmas.fork.touched", 900)):
        reaped = findings[name].numbers
        low, high = reaped["slope_ns_interval"]
        assert low <= truth <= high
        assert reaped["per"] == "VMA"
        assert reaped["x"] == [0, 100, 1000, 10_000]
        assert {stage["stage"] for stage in reaped["stages"]} == {"call_returns", "task_runs", "reaped"}


def test_no_effect_is_said_as_such(scanned: Any) -> None:
    finding = _findings(scanned)["scan.vmas.pthread"]
    assert finding.numbers["verdict"] == "unknown"


def test_a_stage_that_does_not_grow_is_said_to_have_nothing(builder: Any) -> None:
    for count in (0, 1000, 10_000):
        builder.cell("launch.fork", {**FORK, "reaped_ns": 90_000 + 100 * count}, vmas=count)
    stages = _findings(builder.run)["scan.vmas.fork"].numbers["stages"]
    ends = {stage["stage"]: stage["slope_ns_interval"] for stage in stages}
    assert ends["reaped"][0] <= 100 <= ends["reaped"][1]
    assert ends["call_returns"][0] < 0 < ends["call_returns"][1]


def test_a_curve_is_no_slope() -> None:
    finding = _findings(curve())["scan.launch_number.fork"]
    assert finding.numbers["largest_miss"] > MOST_MISS
    assert finding.numbers["straight_upto"] is None


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
        times = plus({**FORK, "reaped_ns": 300_000}, 100 * count)
        builder.cell("launch.fork", times, vmas=count, placement="free", other_cpu=0.5)
    scans = [scan for scan in summarize(builder.run).scans if scan.stage == "reaped"]
    assert [scan.placement for scan in scans] == ["same_cpu", "other_cpu"]
    assert {"scan.vmas.fork.free.same_cpu", "scan.vmas.fork.free.other_cpu"} <= set(_findings(builder.run))


def test_memory_is_no_scan_but_a_finding_for_each_kind(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    for size in (64 << 20, 1 << 30):
        builder.cell("launch.fork", plus(FORK, 50 * (size >> 12)), parent_bytes=size)
        builder.cell("launch.fork", plus(FORK, 200 * (size >> 21)), parent_bytes=size, page_kind="thp")
    results = summarize(builder.run)
    assert {drawn_kind(line) for line in results.scans} == {"memory"}
    kinds = {(line.condition["page_kind"], line.stage) for line in results.scans}
    assert kinds >= {("4k", "reaped"), ("thp", "reaped")}
    findings = {finding.id: finding for finding in results.findings}
    low, high = findings["memory.fork.thp"].numbers["slope_ns_per_page_interval"]
    assert low <= 200 / 512 <= high
    assert findings["memory.fork.thp"].numbers["parent_bytes"] == [0, 64 << 20, 1 << 30]


def test_memory_under_any_other_condition_is_a_scan(builder: Any) -> None:
    for size in (0, 64 << 20, 1 << 30):
        for files in (0, 100):
            builder.cell("launch.fork", plus(FORK, size >> 12), parent_bytes=size, open_files=files)
    results = summarize(builder.run)
    lines = [line for line in results.scans if line.axis == "parent_bytes" and line.stage == "reaped"]
    assert {(line.condition.get("open_files"), drawn_kind(line)) for line in lines} == {(None, "memory"), (100, "scan")}
    titles = [group["title"]["text"] for group in picture_spec(results, "scan")["vconcat"]]
    assert titles == ["Same image: open files", "Same image: memory of the parent, 100 open files"]
    (group,) = picture_spec(results, "memory")["vconcat"]
    assert {point["label"] for point in group["concat"][0]["data"]["values"]} == {"fork"}


@pytest.fixture(scope="module")
def flags() -> Any:
    return ladder()


def test_a_step_saves_what_it_saves(flags: Any) -> None:
    finding = _findings(flags)["step.flags.files"]
    differences = {difference["stage"]: difference for difference in finding.numbers["differences"]}
    for difference in differences.values():
        assert difference["difference_low_ns"] < difference["difference_ns"] < difference["difference_high_ns"] < 0
        assert difference["difference_ns"] == pytest.approx(-20_000, rel=0.1)
        assert difference["verdict"] == "less"


def test_a_step_that_changes_nothing_says_so(flags: Any) -> None:
    finding = _findings(flags)["step.flags.fs"]
    same = next(difference for difference in finding.numbers["differences"] if difference["stage"] == "call_returns")
    assert same["verdict"] == "unknown"
    assert abs(same["difference_ns"]) < 200


def test_ends_by_other_ways_of_reaping_are_left_out(flags: Any) -> None:
    finding = _findings(flags)["step.flags.thread"]
    assert [difference["stage"] for difference in finding.numbers["differences"]] == ["call_returns", "task_runs"]


def test_rungs_do_not_compete(flags: Any) -> None:
    assert not [id_ for id_ in _findings(flags) if id_.startswith("fastest")]


@pytest.mark.parametrize("processes", [1, 12])
def test_of_one_process_no_interval_is_shown(builder: Any, processes: int) -> None:
    for count in (0, 1000, 10_000):
        builder.cell("launch.fork", plus(FORK, 100 * count), processes=processes, vmas=count)
    for size in (0, 1 << 26, 1 << 30):
        builder.cell("launch.pthread", plus(FORK, size / 4096), processes=processes, parent_bytes=size)
    builder.cell("flags.none", FORK, processes=processes)
    builder.cell("flags.files", plus(FORK, 5_000), processes=processes)
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
        assert {numbers["interval_reason"] for numbers in (scan, memory, step)} == {
            "one process: how much others would differ is not known"
        }
    else:
        assert None not in intervals
        assert {numbers["interval_reason"] for numbers in (scan, memory, step)} == {None}


def test_where_tasks_may_run_is_said_once_and_first():
    assert condition({"vmas": 9, "placement": "free"}, "warm", "pinned") == "warm, free, 9 VMAs"


def _choices(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings if finding.id.startswith("choice.")}


def test_each_value_is_held_against_the_default() -> None:
    batch, fifo, shell = _choices(choices()).items()
    assert batch[0] == "choice.sched_class.launch.fork.batch"
    assert batch[1].numbers["ratio"] == pytest.approx(1.5, rel=0.05)
    assert batch[1].numbers["verdict"] == "more"
    assert fifo[0] == "choice.sched_class.launch.fork.fifo"
    ratios = fifo[1].numbers["ratios"]
    assert [(ratio["stage"], ratio["verdict"]) for ratio in ratios] == [
        ("call_returns", "unknown"),
        ("task_runs", "unknown"),
        ("reaped", "more"),
    ]
    # A text such as a program is a choice too.
    assert shell[0] == "choice.program.launch.fork_exec./bin/sh"
    assert shell[1].numbers["ratio"] == pytest.approx(3, rel=0.05)


def test_a_call_that_contains_the_childs_life_is_left_out(builder: Any) -> None:
    builder.cell("launch.vfork", FORK)
    builder.cell("launch.vfork", scaled(FORK, 2), sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    assert [ratio["stage"] for ratio in finding.numbers["ratios"]] == ["task_runs", "reaped"]


def test_without_the_default_the_first_value_takes_its_place(builder: Any) -> None:
    builder.cell("launch.fork", FORK, sched_class="batch")
    builder.cell("launch.fork", scaled(FORK, 2), sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    assert (finding.numbers["value"], finding.numbers["of"]) == ("fifo", "batch")


def test_a_choice_at_several_sizes_is_told_at_the_largest(builder: Any) -> None:
    for size, factor in ((1 << 30, 3), (0, 1), (1 << 20, 2)):
        builder.cell("launch.fork", FORK, parent_bytes=size)
        builder.cell("launch.fork", scaled(FORK, factor), parent_bytes=size, sched_class="fifo")
    (finding,) = [choice for choice in _choices(builder.run).values() if "parent_bytes" in choice.numbers["cells"][0]]
    assert all(f"parent_bytes={1 << 30}" in cell for cell in finding.numbers["cells"])
    assert finding.numbers["ratio"] == pytest.approx(3, rel=0.05)


def test_free_launches_are_compared_where_both_ran(builder: Any) -> None:
    fork = {**FORK, "reaped_ns": 900_000}
    slow = {**fork, "task_runs_ns": 120_000}
    builder.cell("launch.fork", fork, placement="free", other_cpu=0.9)
    builder.cell("launch.fork", slow, placement="free", other_cpu=0.2, sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    ratio = next(ratio["ratio"] for ratio in finding.numbers["ratios"] if ratio["stage"] == "task_runs")
    assert ratio == pytest.approx(2, rel=0.05)


def test_what_has_findings_of_its_own_is_not_told_twice(default_run: Any) -> None:
    assert _choices(default_run) == {}


def test_two_processes_tell_nothing_apart() -> None:
    (finding,) = _choices(few_processes()).values()
    assert {ratio["verdict"] for ratio in finding.numbers["ratios"]} == {"unknown"}
