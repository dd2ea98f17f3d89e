from __future__ import annotations

import random
from typing import Any

import pytest
from tests.results.runs import FORK, open_contests, scaled

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def findings(default_run: Any) -> dict[str, Finding]:
    return _findings(default_run)


def _within(numbers: Any, truth: float) -> bool:
    return bool(numbers["ratio_low"] <= truth <= numbers["ratio_high"])


def test_process_against_thread_comes_first(findings: dict[str, Finding]) -> None:
    assert next(iter(findings)) == "process_vs_thread.warm"


def test_process_against_thread_has_the_known_ratios(findings: dict[str, Finding]) -> None:
    numbers = findings["process_vs_thread.warm"].numbers
    assert _within(numbers, 3.0)
    assert numbers["stage"] == "reaped"
    assert [stage["stage"] for stage in numbers["stages"]] == ["call_returns", "task_runs", "reaped"]
    assert all(_within(stage, truth) for stage, truth in zip(numbers["stages"], (5, 3, 3), strict=True))


def test_the_fastest_of_each_family_has_its_runner_up(findings: dict[str, Finding]) -> None:
    numbers = findings["fastest.same_image.warm"].numbers
    by_stage = {stage["stage"]: stage for stage in numbers["stages"]}
    assert by_stage["call_returns"]["order"] == ["launch.pthread", "launch.fork"]
    assert by_stage["task_runs"]["fastest"] == "launch.vfork"
    assert by_stage["reaped"]["order"] == ["launch.pthread", "launch.vfork", "launch.fork"]
    assert by_stage["reaped"]["ratio"] == pytest.approx(1.2, rel=0.03)


def test_vforks_call_is_never_ranked_and_families_never_meet(findings: dict[str, Finding]) -> None:
    for id_, finding in findings.items():
        if not id_.startswith("fastest."):
            continue
        family = {"same_image": {"fork", "vfork", "pthread"}, "new_program": {"posix_spawn", "fork_exec"}}
        allowed = {f"launch.{name}" for name in family[id_.split(".")[1]]}
        for stage in finding.numbers["stages"]:
            assert set(stage["order"]) <= allowed
            if stage["stage"] == "call_returns":
                assert not set(stage["order"]) & {"launch.vfork", "launch.posix_spawn"}
    assert {stage["stage"] for stage in findings["fastest.new_program.warm"].numbers["stages"]} == {
        "image_runs",
        "reaped",
    }


def test_what_cannot_be_told_apart_has_no_first(findings: dict[str, Finding]) -> None:
    stages = findings["fastest.new_program.warm"].numbers["stages"]
    assert [(stage["stage"], stage["verdict"]) for stage in stages] == [("image_runs", "more"), ("reaped", "unknown")]
    assert [stage["fastest"] for stage in stages] == ["launch.posix_spawn", None]
    assert stages[1]["tied_for_fastest"] == ["launch.posix_spawn", "launch.fork_exec"]


def test_memory_has_the_known_slope(findings: dict[str, Finding]) -> None:
    numbers = findings["memory.fork"].numbers
    low, high = numbers["slope_ns_per_page_interval"]
    assert low <= 50 <= high
    assert numbers["ms_per_gib"] == pytest.approx(numbers["slope_ns_per_page"] * 0.262144)
    assert numbers["parent_bytes"] == [0, 2 << 20, 64 << 20, 1 << 30]


def test_memory_does_not_change_a_thread(findings: dict[str, Finding]) -> None:
    assert findings["memory.pthread"].numbers["verdict"] == "unknown"


def test_cold_and_warm_agree_and_disagree(findings: dict[str, Finding]) -> None:
    finding = findings["cold_and_warm"]
    assert finding.numbers["agree"] == ["call_returns"]
    assert finding.numbers["disagree"] == ["task_runs", "reaped"]


def test_cold_and_warm_cannot_be_compared_where_one_is_open() -> None:
    finding = _findings(open_contests())["cold_and_warm"]
    assert finding.numbers["cannot_tell"] == ["call_returns", "task_runs", "reaped"]


def test_linkage_and_pages_have_their_known_ratios(findings: dict[str, Finding]) -> None:
    assert _within(findings["linkage.fork.dynamic_lazy"].numbers, 1.5)
    assert _within(findings["pages.fork.clean"].numbers, 0.6)
    assert _within(findings["pages.fork.first"].numbers, 1.3)


def test_linkages_do_not_compete(findings: dict[str, Finding]) -> None:
    for id_, finding in findings.items():
        if id_.startswith(("fastest", "process_vs_thread", "memory", "cold_and")):
            assert "dynamic_lazy" not in str(finding.numbers)


def test_free_placements_are_told_apart(findings: dict[str, Finding]) -> None:
    numbers = findings["placement.fork"].numbers
    assert numbers["other_cpu_share"] == pytest.approx(0.7, abs=0.05)
    assert _within(numbers, 1.5)


def test_the_floor_is_said(findings: dict[str, Finding]) -> None:
    finding = findings["floor"]
    assert finding.numbers["clock_used_ns"] == pytest.approx(9.8, rel=0.1)
    assert finding.numbers["launch_stamp_ns"] == pytest.approx(1_050, rel=0.1)


@pytest.mark.parametrize(("times", "is_doubted"), [(1.01, False), (1.05, True)])
def test_an_effect_below_two_percent_is_no_effect(builder: Any, times: float, *, is_doubted: bool) -> None:
    builder.cell("launch.fork", scaled(FORK, times), spread=1e-4)
    builder.cell("launch.pthread", FORK, spread=1e-4)
    finding = _findings(builder.run)["process_vs_thread.warm"]
    assert finding.numbers["ratio_low"] > 1
    assert finding.numbers["verdict"] == "unknown"
    # Layout may do as much as 5%. Of 1% nothing needs to be said.
    assert (finding.numbers["told_from"] is not None) == is_doubted


@pytest.mark.parametrize(("processes", "verdict"), [(1, "unknown"), (5, "unknown"), (6, "more")])
def test_below_six_processes_a_side_there_is_no_ratio(builder: Any, processes: int, verdict: str) -> None:
    builder.cell("launch.fork", scaled(FORK, 10), processes=processes)
    builder.cell("launch.pthread", FORK, processes=processes)
    finding = _findings(builder.run)["process_vs_thread.warm"]
    assert finding.numbers["verdict"] == verdict
    assert (finding.numbers["ratio"] is None) == (verdict == "unknown")
    assert ("from only" in finding.sentence) == (verdict == "unknown")


def test_another_condition_than_the_default_is_named(builder: Any) -> None:
    builder.cell("launch.fork", scaled(FORK, 3), parent_bytes=1 << 30)
    builder.cell("launch.pthread", FORK, parent_bytes=1 << 30)
    finding = _findings(builder.run)["process_vs_thread.warm"]
    assert all(f"parent_bytes={1 << 30}" in cell for cell in finding.numbers["cells"])


_SWITCH = {"handover_ns": 3_000, "alone_ns": 1_000, "switch_ns": 2_000}


@pytest.mark.parametrize("axes", [(), ("placement",)])
def test_pinned_is_said_of_what_can_be_pinned_alone(builder: Any, axes: tuple[str, ...]) -> None:
    stages = {"call_returns_ns": "call_returns", "reaped_ns": "reaped"}
    for place, workload in enumerate(("runtime.start", "runtime.resume")):
        builder.invent(workload, stages, "parent_bytes", *axes, family="same_image")
        for size in (0, 1 << 20, 4 << 20):
            times = {"call_returns_ns": 5_000 + size, "reaped_ns": 9_000 + size}
            builder.cell(workload, scaled(times, 1 + place), parent_bytes=size)
    builder.invent("switch.baton", dict.fromkeys(_SWITCH), "task_kind", "partner_cpu", *axes, family="switch")
    for kind, factor in (("thread", 1), ("process", 2)):
        builder.cell("switch.baton", scaled(_SWITCH, factor), None, task_kind=kind)
    findings = _findings(builder.run)
    for id_ in ("memory.runtime.start", "fastest.same_image.warm", "switch.kinds"):
        sentence = findings[id_].sentence
        assert ("pinned" in sentence.lower()) == bool(axes), id_
        assert sentence[0].isalpha(), id_


def test_the_fastest_of_some_that_are_pinned_and_some_that_cannot_be_is_not_said_to_be_pinned(builder: Any) -> None:
    builder.invent("runtime.start", dict.fromkeys(["reaped_ns"], "reaped"), family="same_image")
    builder.cell("runtime.start", {"reaped_ns": 9_000})
    builder.cell("launch.fork", FORK)
    assert "pinned" not in _findings(builder.run)["fastest.same_image.warm"].sentence


def test_zero_durations_have_no_ratio_and_break_nothing(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.cell("launch.pthread", dict.fromkeys(FORK, 0))
    assert "process_vs_thread.warm" not in _findings(builder.run)


def test_the_same_run_has_the_same_findings(default_run: Any, findings: dict[str, Finding]) -> None:
    assert _findings(default_run) == findings


@pytest.mark.parametrize("seed", range(12))
def test_any_subset_of_cells_has_its_findings(default_run: Any, seed: int) -> None:
    chance = random.Random(seed)
    kept = set(chance.sample(default_run.cells(), chance.randint(0, 8)))
    run = type(default_run)(default_run.metadata, {cell: default_run.data[cell] for cell in kept})
    for finding in summarize(run).findings:
        assert finding.sentence[0].isupper()
        assert finding.sentence.endswith(".")
        assert set(finding.numbers["cells"]) <= kept


def test_every_finding_names_cells_that_exist_and_no_nan(default_run: Any, findings: dict[str, Finding]) -> None:
    for finding in findings.values():
        assert set(finding.numbers["cells"]) <= set(default_run.cells())
        assert "nan" not in finding.sentence
        assert "None" not in finding.sentence
