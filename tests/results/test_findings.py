from __future__ import annotations

import random
import re
from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


def _scaled(factor: float) -> dict[str, float]:
    return {name: value * factor for name, value in FORK.items()}


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def found(default_run: Any) -> dict[str, Finding]:
    return _findings(default_run)


def _within(numbers: Any, truth: float) -> bool:
    return bool(numbers["ratio_low"] <= truth <= numbers["ratio_high"])


def test_process_against_thread_comes_first(found: dict[str, Finding]) -> None:
    assert next(iter(found)) == "process_vs_thread.warm"


def test_process_against_thread_has_the_known_ratios(found: dict[str, Finding]) -> None:
    numbers = found["process_vs_thread.warm"].numbers
    assert _within(numbers, 3.0)
    assert numbers["stage"] == "reaped"
    assert [stage["stage"] for stage in numbers["stages"]] == ["call_returns", "task_runs", "reaped"]
    assert all(_within(stage, truth) for stage, truth in zip(numbers["stages"], (5, 3, 3), strict=True))


def test_a_sentence_says_a_ratio_above_one_with_its_interval(found: dict[str, Finding]) -> None:
    sentence = found["process_vs_thread.cold"].sentence
    assert sentence.startswith("Cold, pinned: fork takes 4.9 (")
    assert "; pthread takes 1.2" in sentence
    assert "times as long as fork until the task runs and 1.5" in sentence


def test_the_fastest_of_each_family_has_its_runner_up(found: dict[str, Finding]) -> None:
    numbers = found["fastest.same_image.warm"].numbers
    by_stage = {stage["stage"]: stage for stage in numbers["stages"]}
    assert by_stage["call_returns"]["order"] == ["launch.pthread", "launch.fork"]
    assert by_stage["task_runs"]["fastest"] == "launch.vfork"
    assert by_stage["reaped"]["order"] == ["launch.pthread", "launch.vfork", "launch.fork"]
    assert _within(by_stage["reaped"], 1.2)


def test_vforks_call_is_never_ranked_and_families_never_meet(found: dict[str, Finding]) -> None:
    for id_, finding in found.items():
        if not id_.startswith("fastest."):
            continue
        family = {"same_image": {"fork", "vfork", "pthread"}, "new_program": {"posix_spawn", "fork_exec"}}
        allowed = {f"launch.{name}" for name in family[id_.split(".")[1]]}
        for stage in finding.numbers["stages"]:
            assert set(stage["order"]) <= allowed
            if stage["stage"] == "call_returns":
                assert not set(stage["order"]) & {"launch.vfork", "launch.posix_spawn"}
    assert {stage["stage"] for stage in found["fastest.new_program.warm"].numbers["stages"]} == {
        "image_runs",
        "reaped",
    }


def test_what_cannot_be_told_apart_is_said_in_the_ranking_and_at_the_end(found: dict[str, Finding]) -> None:
    assert (
        "posix_spawn and fork+exec cannot be told apart until reaped (1.0" in found["fastest.new_program.warm"].sentence
    )
    assert list(found)[-1] == "indistinct"
    last = found["indistinct"]
    assert "fork+exec and posix_spawn until reaped, warm, pinned (1.0" in last.sentence
    assert all(pair["verdict"] == "same" for pair in last.numbers["pairs"])


def test_memory_has_the_known_slope(found: dict[str, Finding]) -> None:
    numbers = found["memory.fork"].numbers
    low, high = numbers["slope_ns_per_page_interval"]
    assert low <= 50 <= high
    assert numbers["ms_per_gib"] == pytest.approx(numbers["slope_ns_per_page"] * 0.262144)
    assert numbers["parent_bytes"] == [0, 2 << 20, 64 << 20, 1 << 30]
    assert re.search(r"13(\.\d)? \(.*ms until reaped", found["memory.fork"].sentence)
    assert re.search(r"5\d(\.\d)? ns per 4 KiB page", found["memory.fork"].sentence)


def test_memory_does_not_change_a_thread(found: dict[str, Finding]) -> None:
    assert found["memory.pthread"].sentence.startswith("Memory in the parent is not seen to change pthread")
    assert found["memory.pthread"].numbers["verdict"] == "same"


def test_cold_and_warm_agree_and_disagree(found: dict[str, Finding]) -> None:
    finding = found["cold_and_warm"]
    assert finding.numbers["agree"] == ["call_returns"]
    assert finding.numbers["disagree"] == ["task_runs", "reaped"]
    assert "agree that pthread is faster than fork until the call returns" in finding.sentence
    assert "disagree until the task runs and until reaped: pthread is faster warm, fork cold" in finding.sentence


def test_cold_and_warm_cannot_be_compared_where_one_is_open(builder: Any) -> None:
    for temperature, factor in (("cold", 1.0), ("warm", 3.0)):
        builder.cell("launch.fork", _scaled(factor), temperature, spread=0.05)
        builder.cell("launch.pthread", FORK, temperature, spread=0.05)
    finding = _findings(builder.run)["cold_and_warm"]
    assert finding.numbers["cannot_tell"] == ["call_returns", "task_runs", "reaped"]
    assert "cannot be compared" in finding.sentence


def test_linkage_and_pages_have_their_known_ratios(found: dict[str, Finding]) -> None:
    assert _within(found["linkage.fork.dynamic_lazy"].numbers, 1.5)
    assert "From a lazily bound parent fork takes 1.5" in found["linkage.fork.dynamic_lazy"].sentence
    assert _within(found["pages.fork.clean"].numbers, 0.6)
    assert _within(found["pages.fork.first"].numbers, 1.3)
    assert found["pages.fork.first"].sentence.startswith("At 64 MiB, with pages never forked before, fork takes 1.2")


def test_linkages_do_not_compete(found: dict[str, Finding]) -> None:
    for id_, finding in found.items():
        if id_.startswith(("fastest", "process_vs_thread", "memory", "cold_and")):
            assert "dynamic_lazy" not in str(finding.numbers)


def test_free_placements_are_told_apart(found: dict[str, Finding]) -> None:
    numbers = found["placement.fork"].numbers
    assert numbers["other_cpu_share"] == pytest.approx(0.7, abs=0.05)
    assert _within(numbers, 1.5)


def test_the_floor_is_said(found: dict[str, Finding]) -> None:
    finding = found["floor"]
    assert finding.numbers["clock_used_ns"] == pytest.approx(9.8, rel=0.1)
    assert "the child's stamp 1.0" in finding.sentence
    assert "a clock reading 9." in finding.sentence


def test_an_effect_below_two_percent_is_no_effect(builder: Any) -> None:
    builder.cell("launch.fork", _scaled(1.01), spread=1e-4)
    builder.cell("launch.pthread", FORK, spread=1e-4)
    finding = _findings(builder.run)["process_vs_thread.warm"]
    assert finding.numbers["ratio_low"] > 1
    assert finding.numbers["verdict"] == "same"
    assert "cannot be told apart" in finding.sentence


@pytest.mark.parametrize(("processes", "verdict"), [(1, "same"), (3, "same"), (4, "longer")])
def test_three_processes_a_side_tell_nothing_apart(builder: Any, processes: int, verdict: str) -> None:
    builder.cell("launch.fork", _scaled(10), processes=processes)
    builder.cell("launch.pthread", FORK, processes=processes)
    finding = _findings(builder.run)["process_vs_thread.warm"]
    assert finding.numbers["verdict"] == verdict
    assert ("from only" in finding.sentence) == (verdict == "same")


def test_a_slope_from_few_processes_is_still_a_slope(builder: Any) -> None:
    for size in (0, 1 << 30):
        builder.cell("launch.fork", _scaled(1 + size / 1e7), processes=2, parent_bytes=size)
    finding = _findings(builder.run)["memory.fork"]
    assert finding.numbers["verdict"] == "same"
    assert finding.sentence.startswith("Each GiB written in the parent adds to fork")


def test_another_condition_than_the_default_is_named(builder: Any) -> None:
    builder.cell("launch.fork", _scaled(3), parent_bytes=1 << 30)
    builder.cell("launch.pthread", FORK, parent_bytes=1 << 30)
    sentence = _findings(builder.run)["process_vs_thread.warm"].sentence
    assert sentence.startswith("Warm, pinned, 1 GiB in the parent: fork takes")


def test_zero_durations_have_no_ratio_and_break_nothing(builder: Any) -> None:
    builder.cell("launch.fork", FORK)
    builder.cell("launch.pthread", dict.fromkeys(FORK, 0))
    assert "process_vs_thread.warm" not in _findings(builder.run)


def test_the_same_run_has_the_same_findings(default_run: Any, found: dict[str, Finding]) -> None:
    assert _findings(default_run) == found


@pytest.mark.parametrize("seed", range(12))
def test_any_subset_of_cells_has_its_findings(default_run: Any, seed: int) -> None:
    chance = random.Random(seed)
    kept = set(chance.sample(default_run.cells(), chance.randint(0, 8)))
    run = type(default_run)(default_run.metadata, {cell: default_run.data[cell] for cell in kept})
    for finding in summarize(run).findings:
        assert finding.sentence[0].isupper()
        assert finding.sentence.endswith(".")
        assert set(finding.numbers["cells"]) <= kept


def test_every_finding_names_cells_that_exist_and_no_nan(default_run: Any, found: dict[str, Finding]) -> None:
    for finding in found.values():
        assert set(finding.numbers["cells"]) <= set(default_run.cells())
        assert "nan" not in finding.sentence
        assert "None" not in finding.sentence
