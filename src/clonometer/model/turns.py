"""Processes that fork in turn, so that a drift of the machine falls on all alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clonometer.model import calibration as names

#: Caches are cold in a process that idled so long; placement and caches of the host see to it.
IDLE_MS = 30
#: The next turn is drawn among the fifth who had least time: a fixed order would let neighbours warm each other.
_DRAWN_PART = 5
#: Each has so many turns before any has more, however dear its turns are.
_LEAST_TURNS = 2


@dataclass(frozen=True)
class ForkState:
    """In which state a process forks: whether its pages were written since the last fork, and how cold caches are.

    Attributes
    ----------
    forks
        In a turn; where caches are hot, one more goes before them that is not counted.
    share
        Of the time, against the others.
    """

    writes: bool
    idle_ms: int
    forks: int
    share: float

    @property
    def is_hot(self) -> bool:
        """Whether it forks in a tight loop."""
        return self.idle_ms == 0


STATES = {
    names.FORK_FIRST: ForkState(True, IDLE_MS, 1, 3.0),
    names.FORK_LATER: ForkState(False, IDLE_MS, 1, 3.0),
    names.FORK_FIRST_HOT: ForkState(True, 0, 2, 1.0),
    names.FORK_LATER_HOT: ForkState(False, 0, 2, 1.0),
}
#: What a server does that forks now and then.
COLD_STATES = {name: STATES[name] for name in (names.FORK_FIRST, names.FORK_LATER)}


class ForkingProcess(Protocol):
    """A process that forks when it is asked to (`clonometer.runner.made.MadeProcess`)."""

    def fork(self, *, writes: bool, idle_ms: int, forks: int) -> Sequence[tuple[int, int]]:
        """Have it fork; give for each fork the call and the child's end, in ns."""


@dataclass(frozen=True)
class Turn:
    """What a process's forks took in one turn, in ns."""

    process: str
    state: str
    calls_ns: Sequence[int]
    ends_ns: Sequence[int]


def ask(process: ForkingProcess, name: str, state: str) -> Turn:
    """Have a process fork in a state."""
    asked = STATES[state]
    times = process.fork(writes=asked.writes, idle_ms=asked.idle_ms, forks=asked.forks + asked.is_hot)
    counted = times[1:] if asked.is_hot else times
    return Turn(name, state, [call for call, _ in counted], [end for _, end in counted])


def take_turns(
    processes: Mapping[str, ForkingProcess],
    states: Mapping[str, ForkState],
    *,
    seconds: float,
    chance: random.Random,
    clock: Callable[[], float],
) -> Iterator[Turn]:
    """Have processes fork in turn until the time is over.

    Whose turn is next is drawn among the fifth who had least time so far, by state and process: so all have the same
    time, those whose forks are short have more of them, and nobody follows the same neighbour each time.

    Parameters
    ----------
    states
        Of `STATES`.
    clock
        Seconds, rising.

    Raises
    ------
    DriverError
        If a process ends.
    """
    turns = {(name, state): 0 for name in processes for state in states}
    used_s = dict.fromkeys(turns, 0.0)
    begin_s = now_s = clock()
    while turns and (now_s - begin_s < seconds or min(turns.values()) < _LEAST_TURNS):
        behind = [key for key, count in turns.items() if count < _LEAST_TURNS]
        name, state = chance.choice(
            behind or sorted(turns, key=used_s.__getitem__)[: max(1, len(turns) // _DRAWN_PART)]
        )
        yield ask(processes[name], name, state)
        before_s, now_s = now_s, clock()
        turns[name, state] += 1
        used_s[name, state] += (now_s - before_s) / states[state].share
