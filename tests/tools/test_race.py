"""The figures of ``make bench BENCH=race``, of chosen answers."""

from __future__ import annotations

import pytest
from bench.harness import Line
from bench.race import Answer, Trial, own_lines, peer_lines, scatter, table


def answers(*values: float, half: float = 2.0, seconds: float = 1.5) -> list[Answer]:
    return [Answer(seconds, value, value - half, value + half, on_target=True) for value in values]


def trials(answers: list[Answer], *levels: float) -> list[Trial]:
    slices = [[level - 1, level - 0.5, level, level + 0.5, level + 1] * 3 for level in levels]
    return [Trial(answer, part, part) for answer, part in zip(answers, slices, strict=True)]


def lines(made: list[Trial]) -> dict[str, Line]:
    return {line.name.removeprefix("race.clonometer.fork."): line for line in own_lines("fork", made)}


def test_intervals_that_miss_their_neighbours_are_counted_and_judged() -> None:
    good = lines(trials(answers(*[100.0] * 8, 104.0, 96.0), *[100.0] * 10))
    assert (good["missed"].value, good["missed"].verdict) == (0.2, "ok")
    assert lines(trials(answers(*[100.0] * 7, 104.0, 96.0, 90.0), *[100.0] * 10))["missed"].verdict == "miss"
    assert "10 of 10 reached the target" in good["seconds"].note
    assert good["machine"].value == 0.0


def test_a_machine_that_moves_between_answers_is_not_held_against_them_but_said() -> None:
    levels = [100.0, 100.0, 100.0, 130.0]
    drawn = lines(trials(answers(*levels), *levels))
    assert (drawn["missed"].value, drawn["missed_later"].value) == (0.0, 0.25)
    assert drawn["machine"].value == pytest.approx(0.3)


def test_neighbours_that_differ_leave_the_truth_open_between_them() -> None:
    before, after = [100.0] * 10, [110.0] * 10
    held = {value: Trial(answers(value, half=1.0)[0], before, after).holds() for value in (90.0, 100.0, 105.0, 120.0)}
    assert held == {90.0: False, 100.0: True, 105.0: True, 120.0: False}


def test_an_answer_without_an_interval_covers_nothing() -> None:
    assert not Answer(1.0, 100.0).covers(100.0, 100.0)


def test_seconds_and_scatter_of_a_peer() -> None:
    lines = list(peer_lines("stress-ng.fork", answers(90.0, 100.0, 120.0)))
    assert [line.verdict for line in lines] == ["stated", "stated"]
    assert lines[0].value == 1.5
    assert lines[1].value == pytest.approx(0.3)
    assert scatter(answers(100.0)) == 0.0


def test_the_table_has_every_tool_beside_clonometer_and_fits_80_columns() -> None:
    ours = {"fork": trials(answers(100.0, 104.0), 100.0, 100.0), "pthread": trials(answers(20.0), 20.0)}
    others = {"hyperfine.fork": answers(900.0, 990.0, seconds=3.25), "stress-ng.pthread": answers(7.0, 9.0)}
    drawn = table(ours, others, {"perf.fork": "not installed"})
    assert max(map(len, drawn)) <= 80
    names = [line.split()[0] for line in drawn[2:-2]]
    assert names == ["clonometer.fork", "hyperfine.fork", "clonometer.pthread", "stress-ng.pthread", "perf.fork"]
    assert "1 of 2 cover, 2 to 2%" in drawn[2]
    assert "3.25 (3.25 to 3.25)" in drawn[3]
    assert "9.5%" in drawn[3]
    assert drawn[4].split()[5:7] == ["-", "1"]
