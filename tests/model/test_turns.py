from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from clonometer.errors import DriverError
from clonometer.model.turns import HELD_OUT_STATES, STATES, ForkingProcess, ForkState, Turn, ask, take_turns


class Invented:
    """A process whose turns take as long as its clock says."""

    def __init__(self, clock: list[float], seconds: float) -> None:
        self.asked: list[tuple[int, int, int, bool]] = []
        self._clock = clock
        self._seconds = seconds

    def fork(
        self, *, written_percent: int, idle_ms: int, forks: int, executes: bool = False
    ) -> Sequence[tuple[int, int]]:
        self.asked.append((written_percent, idle_ms, forks, executes))
        self._clock[0] += self._seconds if forks else 0.0
        return [(1000 + number, 10) for number in range(forks)]


def turns_of(
    processes: Mapping[str, ForkingProcess],
    states: Mapping[str, ForkState],
    clock: list[float],
    *,
    seconds: float,
) -> list[Turn]:
    chance = random.Random(1)
    return list(
        take_turns(processes, states, seconds=seconds, chance=chance, clock=lambda: clock[0], empty_caches=lambda: None)
    )


def test_all_have_the_same_time_and_nobody_is_left_out() -> None:
    clock = [0.0]
    processes = {name: Invented(clock, seconds) for name, seconds in (("short", 0.01), ("long", 0.1), ("dear", 30.0))}
    states = {name: STATES[name] for name in ("fork.first", "fork.unwritten_hot")}
    turns = Counter((turn.process, turn.state) for turn in turns_of(processes, states, clock, seconds=85.0))
    # The dear one has a turn of each state, as each has at least. The others share the rest: the cold state has three
    # times as much time.
    assert {turns["dear", state] for state in states} == {1}
    assert turns["short", "fork.first"] == pytest.approx(10 * turns["long", "fork.first"], rel=0.1)
    assert turns["short", "fork.first"] == pytest.approx(3 * turns["short", "fork.unwritten_hot"], rel=0.1)


def test_neighbours_change() -> None:
    clock = [0.0]
    processes = {name: Invented(clock, 1.0) for name in "abcdefgh"}
    order = [turn.process for turn in turns_of(processes, STATES, clock, seconds=800.0)]
    followed = Counter(pairwise(order))
    assert len(followed) > 40
    assert max(followed.values()) < 60


def test_the_first_fork_of_a_tight_loop_is_not_counted() -> None:
    clock = [0.0]
    process = Invented(clock, 1.0)
    turns = turns_of({"it": process}, STATES, clock, seconds=0.0)
    assert Counter(turn.state for turn in turns) == dict.fromkeys(STATES, 1)
    by_state = {turn.state: list(turn.calls_ns) for turn in turns}
    assert by_state["fork.first_hot"] == [1001, 1002]
    assert by_state["fork.first"] == [1000]
    assert set(process.asked) == {
        (100, 0, 0, False), (0, 5, 1, False), (0, 5, 1, True), (100, 0, 3, False), (0, 0, 3, False),
    }  # fmt: skip


def test_caches_are_emptied_after_writing_and_before_a_cold_fork() -> None:
    happened: list[object] = []

    class Noted:
        def fork(
            self, *, written_percent: int, idle_ms: int, forks: int, executes: bool = False
        ) -> Sequence[tuple[int, int]]:
            happened.append((written_percent, idle_ms > 0, forks))
            return [(1, 1)] * forks

    for state in HELD_OUT_STATES:
        ask(Noted(), "it", state, lambda: happened.append("emptied"))
        happened.append(state)
    assert happened == [
        (100, False, 0), "emptied", (0, True, 1), "fork.first",
        "emptied", (0, True, 1), "fork.unwritten",
        (100, False, 3), "fork.first_hot",
        (0, False, 3), "fork.unwritten_hot",
        (50, False, 0), "emptied", (0, True, 1), "fork.half_written",
        (50, False, 3), "fork.half_written_hot",
    ]  # fmt: skip


def test_a_process_that_ends_ends_the_turns() -> None:
    class Gone:
        def fork(self, **_: object) -> Sequence[tuple[int, int]]:
            raise DriverError("it ended")

    with pytest.raises(DriverError, match="it ended"):
        turns_of({"it": Gone()}, STATES, [0.0], seconds=1.0)
