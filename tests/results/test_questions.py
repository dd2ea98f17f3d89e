"""What is open, what closes it, and how long that takes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.fakes.sensed import sense
from tests.results.runs import PTHREAD

from clonometer.results.first.questions import _span
from clonometer.results.summary import summarize
from clonometer.results.types import NextCommand
from clonometer.verdicts import Word


def pair(times: float, *, spread: float, seed: int = 7) -> MemoryRun:
    builder = RunBuilder(seed)
    for name, factor in (("fork_exec", times), ("posix_spawn", 1.0)):
        values = {stage: factor * value for stage, value in PTHREAD.items()}
        builder.cell(f"launch.{name}", values, spread=spread)
    for process in builder.run.metadata["processes"]:
        process["ended_ns"] = process["started_ns"] + 50_000_000
    return builder.run


def questions(run: MemoryRun) -> tuple[NextCommand, ...]:
    return tuple(summarize(run).first.open)


def test_what_is_sure_is_no_question() -> None:
    assert questions(pair(2.0, spread=0.05)) == ()


def test_a_question_has_the_command_that_decides_it_and_its_time() -> None:
    [question] = questions(pair(1.5, spread=0.4))
    assert question.words[0] == "run"
    assert {"fork_exec", "posix_spawn"} <= set(question.words)
    assert question.words[-1] == "--sure"
    assert "needs about" in question.about


def test_what_takes_ten_times_as_long_to_measure_needs_ten_times_the_time() -> None:
    runs = (pair(1.25, spread=0.25, seed=seed) for seed in range(30))
    run = next(run for run in runs if [each.words[0] for each in questions(run)] == ["run"])
    for process in run.metadata["processes"]:
        process["ended_ns"] = process["started_ns"] + 2_000_000_000
    [near] = questions(run)
    for process in run.metadata["processes"]:
        process["ended_ns"] = process["started_ns"] + 20_000_000_000
    [far] = questions(run)
    assert seconds(far) == pytest.approx(10 * seconds(near), rel=0.25)


def seconds(question: NextCommand) -> int:
    number, unit = question.about.partition("needs about ")[2].split()
    return int(number) * (60 if unit == "min" else 1)


def test_what_layout_may_do_is_left_to_pairs() -> None:
    [question] = questions(pair(1.03, spread=0.01))
    assert question.words[0] == "ab"


def test_two_values_of_an_axis_are_a_question_where_nothing_else_was_measured() -> None:
    builder = RunBuilder()
    builder.cell("launch.fork", PTHREAD, spread=0.02)
    builder.cell("launch.fork", {name: 5 * value for name, value in PTHREAD.items()}, spread=0.02, parent_bytes=1 << 26)
    asked = summarize(builder.run).first.asked
    assert asked is not None
    assert asked.word is Word.SURE
    assert asked.value == pytest.approx(5, rel=0.05)


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "10 s"), (61.0, "70 s"), (119.0, "2 min"), (121.0, "3 min")])
def test_a_time_is_never_said_too_short(seconds: float, text: str) -> None:
    assert _span(seconds) == text


def test_launches_alone_are_not_compared_with_all_launches() -> None:
    """Seven of ten launches meet a neighbour and take twice as long; too few of the second row's are alone."""
    builder = RunBuilder()
    cells = [
        builder.cell("launch.fork", PTHREAD, spread=0.001, processes=12),
        builder.cell("launch.pthread", PTHREAD, spread=0.001, processes=12),
    ]
    random = np.random.default_rng(5)
    size = builder.run.data[cells[0]]["process"].size
    shared = {cells[0]: random.random(size) < 0.7, cells[1]: random.random(size) < 0.999}
    results = summarize(sense(builder.run, shared, slower=2.0))
    rows = {row.workload: row for row in results.cells if row.stage == "reaped"}
    assert rows["launch.fork"].alone.counted
    assert not rows["launch.pthread"].alone.counted
    assert rows["launch.pthread"].median_ns == pytest.approx(2 * rows["launch.fork"].median_ns, rel=0.02)
    # By all launches of both there is next to no difference.
    change = results.first.asked
    assert change.value == pytest.approx(1.0, abs=0.03)
    assert change.other.median_ns == rows["launch.fork"].median_ns
