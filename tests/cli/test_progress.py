"""How far a command has come that counts what it does: shown now and then, by a clock of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clonometer.cli import progress
from clonometer.cli.progress import BarProgress, PlainProgress
from clonometer.runner.interfaces import counting


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_says_every_ten_seconds_how_many_are_done(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    tell = counting(PlainProgress(), "launch.fork", 8)
    for done in range(1, 9):
        clock.now_s += 4.0
        tell(done, 8)
    assert capsys.readouterr().err.splitlines() == [
        "launch.fork: 3 of 8, about 20 s left",
        "launch.fork: 6 of 8, about 8 s left",
        "launch.fork: 8 of 8",
    ]


def test_a_terminal_has_one_line_which_is_written_again(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    tell = counting(BarProgress(), "ablation", 3)
    for done in range(1, 4):
        clock.now_s += 2.0
        tell(done, 3)
    # What clears the rest of the line before is left out where there is no terminal.
    expected = "\rablation: 1 of 3, about 4 s left\rablation: 2 of 3, about 2 s left\rablation: 3 of 3\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("make", [PlainProgress, BarProgress])
def test_what_is_quickly_done_is_not_counted(
    make: type[PlainProgress | BarProgress], clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    tell = counting(make(), "reading new run files", 1000)
    for done in range(1, 1001):
        clock.now_s += 0.001
        tell(done, 1000)
    assert capsys.readouterr().err == ""


def test_what_is_left_is_estimated_from_where_the_counting_began(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    watching = PlainProgress()
    clock.now_s += 600.0
    tell = counting(watching, "launch.fork", 2)
    clock.now_s += 12.0
    tell(1, 2)
    assert capsys.readouterr().err == "launch.fork: 1 of 2, about 12 s left\n"
