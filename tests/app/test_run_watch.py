"""Looking at a run while it goes on: the answer so far, ever more seldom, and stricter than at the end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.results.runs import PTHREAD

from clonometer.app.run_watch import RunWatch
from clonometer.results.schedule.looks import LOOK_RATE, MOST_LOOKS, Looks
from clonometer.results.summary import summarize
from clonometer.results.types import Results
from clonometer.runner.interfaces import Progress
from clonometer.verdicts import Word


class Watching(Progress):
    def __init__(self) -> None:
        self.answers: list[tuple[Results, float]] = []

    def answered(self, answer: Any, elapsed_s: float) -> None:
        self.answers.append((answer, elapsed_s))


class Deciding:
    """What a watch needs of a scheduler."""

    decided = 0

    def decide(self) -> None:
        self.decided += 1


def pair(times: float, *, spread: float = 0.03, processes: int = 12) -> MemoryRun:
    builder = RunBuilder()
    builder.cell(
        "launch.fork", {name: times * value for name, value in PTHREAD.items()}, spread=spread, processes=processes
    )
    builder.cell("launch.pthread", PTHREAD, spread=spread, processes=processes)
    return builder.run


def looked(run: MemoryRun, *at_s: float) -> tuple[Watching, Deciding, RunWatch]:
    progress, scheduler = Watching(), Deciding()
    watch = RunWatch(progress, scheduler, "run.parquet")  # type: ignore[arg-type] # all that it needs
    for elapsed_s in at_s:
        watch(elapsed_s, lambda: run)  # type: ignore[arg-type, return-value] # any source will do
    return progress, scheduler, watch


def test_what_is_sure_is_seen_at_the_first_look_and_the_scheduler_is_told_once() -> None:
    progress, scheduler, watch = looked(pair(3.0), 0.1, 1.0, 60.0)
    assert [elapsed_s for _, elapsed_s in progress.answers] == [1.0, 60.0]
    assert watch.decided_after_s == 1.0
    assert scheduler.decided == 1
    assert progress.answers[0][0].first.answer[0].numbers["sureness"] == Word.SURE


def test_a_look_is_stricter_than_the_answer_at_the_end() -> None:
    run = next(run for step in range(60) if _word(run := pair(1.12 + 0.005 * step, spread=0.08)) is Word.SURE)
    progress, scheduler, _ = looked(run, 1.0)
    [(results, _)] = progress.answers
    assert results.first.asked.word is not Word.SURE
    assert scheduler.decided == 0


def _word(run: MemoryRun) -> Word:
    return summarize(run).first.asked.word


def test_a_question_that_no_number_of_processes_would_answer_is_given_up() -> None:
    _, scheduler, watch = looked(pair(1.0, spread=0.005, processes=60), 1.0)
    assert scheduler.decided == 1
    assert watch.decided_after_s is None
    _, scheduler, _ = looked(pair(1.0, spread=0.2, processes=12), 1.0)
    assert scheduler.decided == 0


def test_looks_are_few_and_cost_little() -> None:
    looks, at_s, taken = Looks(), 0.0, []
    while at_s < 100_000:
        at_s += 0.1
        if looks.is_due(at_s):
            taken.append(at_s)
            looks.looked(at_s, 0.3)
    assert len(taken) == MOST_LOOKS
    assert taken[0] < 1.0
    assert min(after - before for before, after in pairwise(taken)) >= 15 * 0.3
    assert pytest.approx(0.025) == MOST_LOOKS * LOOK_RATE


@pytest.mark.parametrize("n_samples", [None, 1])
def test_what_takes_too_long_to_be_answered_on_the_way_is_only_measured(
    monkeypatch: pytest.MonkeyPatch, n_samples: int | None
) -> None:
    if n_samples is not None:
        monkeypatch.setattr("clonometer.app.run_watch._MOST_SAMPLES", n_samples)
    progress, _, _ = looked(pair(3.0), 1.0)
    assert len(progress.answers) == (n_samples is None)
