from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import FORK, choices, few_processes, scaled

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


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
