"""``make bench BENCH=known_answer`` reads what ``clonometer doctor --self-test --json`` prints."""

from __future__ import annotations

from dataclasses import asdict

from bench.known_answer import lines

from clonometer.results.self_test_types import MoveCheck, SelfTest, WallCheck


def move(passed: bool | None) -> MoveCheck:
    return MoveCheck("launch.fork", "pinned", "child_spin_ns", 20_000, "reaped", 1.0, 2.0, 1.5, passed)


def test_what_is_wrong_and_what_cannot_be_told_is_counted() -> None:
    moves = [move(True), move(False), move(None), move(True)]
    walls = (WallCheck("launch.fork", "pinned", 3, 0.002, True),)
    answer = asdict(SelfTest(False, 2, tuple(moves), walls))
    wrong, untold = lines(answer)
    assert (wrong.value, wrong.verdict) == (1, "miss")
    assert (untold.value, untold.verdict) == (0.2, "ok")
    assert lines(asdict(SelfTest(False, 0, (move(None),), ()))).__next__().verdict == "ok"
    assert list(lines(asdict(SelfTest(False, 0, (move(None),), ()))))[1].verdict == "miss"
