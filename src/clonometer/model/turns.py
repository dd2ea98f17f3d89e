"""Processes that fork in turn, so that a drift of the machine falls on all alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clonometer.model import calibration as names

#: How long a process sleeps before a fork with cold caches, besides the time in which they are emptied.
_IDLE_MS = 5
#: So many forks of a tight loop count in a turn.
_HOT_FORKS = 2
#: The next turn is drawn among the fifth who had least time: a fixed order would let neighbours warm each other.
_DRAWN_PART = 5


@dataclass(frozen=True)
class ForkState:
    """In which state a process forks: how many of its pages it wrote to since the last fork; in a tight loop or not.

    In a tight loop caches are hot. ``executes``: the child executes a program, and its parent waits for that.
    """

    written_percent: int
    is_hot: bool
    executes: bool = False

    @property
    def share(self) -> float:
        """Of the time, against the others."""
        return 1.0 if self.is_hot else 3.0


#: The children of the first end, those of the second execute a program: one turn times the call and either wait.
STATES = {
    names.FORK_FIRST: ForkState(100, is_hot=False),
    names.FORK_UNWRITTEN: ForkState(0, is_hot=False, executes=True),
    names.FORK_FIRST_HOT: ForkState(100, is_hot=True),
    names.FORK_UNWRITTEN_HOT: ForkState(0, is_hot=True),
}
#: By those a prediction is judged: half of the pages was written to as well, and no price was fitted to that.
HELD_OUT_STATES = {
    **STATES,
    "fork.half_written": ForkState(50, is_hot=False),
    "fork.half_written_hot": ForkState(50, is_hot=True),
}


class ForkingProcess(Protocol):
    """A process that forks when it is asked to (`clonometer.runner.made.MadeProcess`)."""

    def fork(
        self, *, written_percent: int, idle_ms: int, forks: int, executes: bool = False
    ) -> Sequence[tuple[int, int]]:
        """Have it fork, or only write where ``forks`` is 0; give for each the call and the wait, in ns."""


@dataclass(frozen=True)
class Turn:
    """What a process's forks took in one turn, in ns."""

    process: str
    state: str
    calls_ns: Sequence[int]
    waits_ns: Sequence[int]


def ask(process: ForkingProcess, name: str, state: str, empty_caches: Callable[[], None]) -> Turn:
    """Have a process fork in a state of `STATES` or of `HELD_OUT_STATES`.

    Caches are emptied before each fork with cold ones, as other programs empty them between the forks of a server.
    """
    asked = HELD_OUT_STATES[state]
    if asked.is_hot:
        # The first of a loop meets caches that are not hot yet.
        times = process.fork(written_percent=asked.written_percent, idle_ms=0, forks=1 + _HOT_FORKS)[1:]
    else:
        if asked.written_percent:
            process.fork(written_percent=asked.written_percent, idle_ms=0, forks=0)
        empty_caches()
        times = process.fork(written_percent=0, idle_ms=_IDLE_MS, forks=1, executes=asked.executes)
    return Turn(name, state, [call for call, _ in times], [wait for _, wait in times])


def take_turns(
    processes: Mapping[str, ForkingProcess],
    states: Mapping[str, ForkState],
    *,
    seconds: float,
    chance: random.Random,
    clock: Callable[[], float],
    empty_caches: Callable[[], None],
) -> Iterator[Turn]:
    """Have processes fork in turn until the time is over.

    Whose turn is next is drawn among the fifth who had least time so far, by state and process: so all have the same
    time, those whose forks are short have more of them, and nobody follows the same neighbour each time. Each has one
    before any has two, however dear it is. The clock gives seconds that rise.

    Raises
    ------
    DriverError
        If a process ends.
    """
    turns = {(name, state): 0 for name in processes for state in states}
    used_s = dict.fromkeys(turns, 0.0)
    begin_s = now_s = clock()
    while turns and (now_s - begin_s < seconds or not all(turns.values())):
        behind = [key for key, count in turns.items() if not count]
        name, state = chance.choice(
            behind or sorted(turns, key=used_s.__getitem__)[: max(1, len(turns) // _DRAWN_PART)]
        )
        yield ask(processes[name], name, state, empty_caches)
        before_s, now_s = now_s, clock()
        turns[name, state] += 1
        used_s[name, state] += (now_s - before_s) / states[state].share
