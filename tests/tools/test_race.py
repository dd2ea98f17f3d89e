"""The figures of ``make bench BENCH=race``, of chosen answers."""

from __future__ import annotations

import pytest
from bench.race import Answer, own_lines, peer_lines, scatter


def answers(*values: float, half: float = 2.0, seconds: float = 1.5) -> list[Answer]:
    return [Answer(seconds, value, value - half, value + half, on_target=True) for value in values]


def test_intervals_that_miss_the_long_run_are_counted_and_judged() -> None:
    slices = [[99.0, 100.0, 101.0]] * 10
    good = {line.name: line for line in own_lines("fork", answers(*[100.0] * 8, 103.0, 97.0), slices)}
    missed = good["race.clonometer.fork.missed"]
    assert (missed.value, missed.verdict) == (0.2, "ok")
    bad = {line.name: line for line in own_lines("fork", answers(*[100.0] * 7, 103.0, 97.0, 90.0), slices)}
    assert bad["race.clonometer.fork.missed"].verdict == "miss"
    assert "10 of 10 reached the target" in good["race.clonometer.fork.seconds"].note
    assert good["race.clonometer.fork.machine"].value == 0.0


def test_an_answer_without_an_interval_covers_nothing() -> None:
    assert not Answer(1.0, 100.0).covers(100.0)


def test_seconds_and_scatter_of_a_peer() -> None:
    lines = list(peer_lines("stress-ng.fork", answers(90.0, 100.0, 120.0)))
    assert [line.verdict for line in lines] == ["stated", "stated"]
    assert lines[0].value == 1.5
    assert lines[1].value == pytest.approx(0.3)
    assert scatter(answers(100.0)) == 0.0
