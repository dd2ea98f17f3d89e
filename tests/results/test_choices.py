from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
SPAWN = {"call_returns_ns": 50_000, "image_runs_ns": 60_000, "reaped_ns": 90_000}


def _scaled(values: dict[str, float], factor: float) -> dict[str, float]:
    return {name: value * factor for name, value in values.items()}


def _choices(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings if finding.id.startswith("choice.")}


def test_each_value_is_held_against_the_default(builder: Any) -> None:
    builder.cell("launch.fork", _scaled(FORK, 1.5), sched_class="batch")
    builder.cell("launch.fork", FORK)
    builder.cell("launch.fork", {**FORK, "reaped_ns": 180_000}, sched_class="fifo")
    choices = _choices(builder.run)
    assert list(choices) == ["choice.sched_class.launch.fork.batch", "choice.sched_class.launch.fork.fifo"]
    batch, fifo = choices.values()
    assert batch.numbers["ratio"] == pytest.approx(1.5, rel=0.05)
    assert batch.numbers["verdict"] == "longer"
    assert batch.sentence.startswith("Fork, warm, pinned: SCHED_BATCH takes 1.")
    assert "times as long as SCHED_OTHER until the call returns, 1." in batch.sentence
    assert batch.headline.count("until") == 1
    assert fifo.sentence.startswith(
        ("Fork, warm, pinned: SCHED_FIFO takes 2.", "Fork, warm, pinned: SCHED_FIFO takes 1.9")
    )
    assert "SCHED_FIFO and SCHED_OTHER cannot be told apart until the call returns (" in fifo.sentence
    assert fifo.numbers["verdict"] == "longer"
    assert [ratio["stage"] for ratio in fifo.numbers["ratios"]] == ["call_returns", "task_runs", "reaped"]


def test_a_text_such_as_a_program_is_a_choice_too(builder: Any) -> None:
    builder.cell("launch.fork_exec", SPAWN)
    builder.cell("launch.fork_exec", _scaled(SPAWN, 3), program="/bin/sh")
    ((name, finding),) = _choices(builder.run).items()
    assert name == "choice.program.launch.fork_exec./bin/sh"
    assert "sh takes 3.0" in finding.sentence or "sh takes 2.9" in finding.sentence


def test_a_call_that_contains_the_childs_life_is_left_out(builder: Any) -> None:
    builder.cell("launch.vfork", FORK)
    builder.cell("launch.vfork", _scaled(FORK, 2), sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    assert [ratio["stage"] for ratio in finding.numbers["ratios"]] == ["task_runs", "reaped"]


def test_without_the_default_the_first_value_takes_its_place(builder: Any) -> None:
    builder.cell("launch.fork", FORK, sched_class="batch")
    builder.cell("launch.fork", _scaled(FORK, 2), sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    assert (finding.numbers["value"], finding.numbers["of"]) == ("fifo", "batch")


def test_a_choice_at_several_sizes_is_told_at_the_largest(builder: Any) -> None:
    for size, factor in ((1 << 30, 3), (0, 1), (1 << 20, 2)):
        builder.cell("launch.fork", FORK, parent_bytes=size)
        builder.cell("launch.fork", _scaled(FORK, factor), parent_bytes=size, sched_class="fifo")
    (finding,) = [choice for choice in _choices(builder.run).values() if "parent_bytes" in choice.numbers["cells"][0]]
    assert "1 GiB in the parent" in finding.sentence
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


def test_two_processes_tell_nothing_apart(builder: Any) -> None:
    builder.cell("launch.fork", FORK, processes=2)
    builder.cell("launch.fork", _scaled(FORK, 2), processes=2, sched_class="fifo")
    (finding,) = _choices(builder.run).values()
    assert "cannot be told apart" in finding.sentence
    assert "from only 2 processes" in finding.sentence
