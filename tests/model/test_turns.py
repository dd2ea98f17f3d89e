from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from clonometer.errors import DriverError
from clonometer.model.turns import COLD_STATES, STATES, ForkingProcess, ForkState, Turn, ask, take_turns


class Invented:
    """A process whose turns take as long as its clock says."""

    def __init__(self, clock: list[float], seconds: float) -> None:
        self.asked: list[tuple[bool, int, int]] = []
        self._clock = clock
        self._seconds = seconds

    def fork(self, *, writes: bool, idle_ms: int, forks: int) -> Sequence[tuple[int, int]]:
        self.asked.append((writes, idle_ms, forks))
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
    states = {name: STATES[name] for name in ("fork.first", "fork.later_hot")}
    turns = Counter((turn.process, turn.state) for turn in turns_of(processes, states, clock, seconds=85.0))
    # The dear one has a turn of each state, as each has at least. The others share the rest: the cold state has three
    # times as much time.
    assert {turns["dear", state] for state in states} == {1}
    assert turns["short", "fork.first"] == pytest.approx(10 * turns["long", "fork.first"], rel=0.1)
    assert turns["short", "fork.first"] == pytest.approx(3 * turns["short", "fork.later_hot"], rel=0.1)


def test_neighbours_change() -> None:
    clock = [0.0]
    processes = {name: Invented(clock, 1.0) for name in "abcdefgh"}
    order = [turn.process for turn in turns_of(processes, COLD_STATES, clock, seconds=800.0)]
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
    assert set(process.asked) == {(True, 0, 0), (False, 5, 1), (True, 0, 3), (False, 0, 3)}


def test_caches_are_emptied_after_writing_and_before_a_cold_fork() -> None:
    happened: list[object] = []

    class Noted:
        def fork(self, *, writes: bool, idle_ms: int, forks: int) -> Sequence[tuple[int, int]]:
            happened.append((writes, idle_ms > 0, forks))
            return [(1, 1)] * forks

    for state in STATES:
        ask(Noted(), "it", state, lambda: happened.append("emptied"))
        happened.append(state)
    assert happened == [
        (True, False, 0), "emptied", (False, True, 1), "fork.first",
        "emptied", (False, True, 1), "fork.later",
        (True, False, 3), "fork.first_hot",
        (False, False, 3), "fork.later_hot",
    ]  # fmt: skip


def test_a_process_that_ends_ends_the_turns() -> None:
    class Gone:
        def fork(self, **_: object) -> Sequence[tuple[int, int]]:
            raise DriverError("it ended")

    with pytest.raises(DriverError, match="it ended"):
        turns_of({"it": Gone()}, COLD_STATES, [0.0], seconds=1.0)
