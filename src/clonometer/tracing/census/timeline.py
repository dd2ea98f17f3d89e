"""When each task was created, ran, began its program and ended: for pages and traces, where they are asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.tracing.census.language import LanguageCall

#: Tasks that are kept; of more the most expensive.
MOST_TASKS = 20_000


@dataclass(frozen=True, slots=True)
class TaskLife:
    """One task. Times are ns since the beginning of the census; None where they were not seen.

    ``start_ns`` is the entry of the creator's call, ``making_ns`` how long this kept the creator, ``runs_at_ns`` when
    the task came to user code, ``exec_at_ns`` when it began its first program, ``end_ns`` its end (None: it ran on).
    ``cost_ns`` is its making and exec calls.
    """

    tid: int
    creator: int
    mechanism: str
    program: str | None
    creator_program: str | None
    executed: bool
    is_thread: bool
    start_ns: int
    making_ns: int | None
    runs_at_ns: int | None
    exec_at_ns: int | None
    end_ns: int | None
    cost_ns: int
    site: int | None
    language: LanguageCall | None


@dataclass
class TaskLives:
    """Filled by `take`; ``dropped`` counts the cheapest tasks, which had no place."""

    dropped: int = 0
    _tasks: list[TaskLife] = field(default_factory=list)

    def take(self, line: Mapping[str, Any], mechanism: str, language: LanguageCall | None, *, is_thread: bool) -> None:
        """Add a task: a line of the census."""
        start_ns = line["start_ns"]
        made_ns = line.get("made_ns", start_ns)
        self._tasks.append(
            TaskLife(
                tid=line["tid"],
                creator=line["creator"],
                mechanism=mechanism,
                program=line["program"],
                creator_program=line["creator_program"],
                executed=line["execs"] > 0,
                is_thread=is_thread,
                start_ns=start_ns,
                making_ns=line["making_ns"],
                runs_at_ns=None if line["runs_ns"] is None else start_ns + line["runs_ns"],
                exec_at_ns=line.get("exec_at_ns"),
                end_ns=None if line["life_ns"] is None else made_ns + line["life_ns"],
                cost_ns=line["cost_ns"] or 0,
                site=line.get("site"),
                language=language,
            )
        )
        if len(self._tasks) >= 2 * MOST_TASKS:
            self._thin()

    def _thin(self) -> None:
        self._tasks.sort(key=lambda task: -task.cost_ns)
        self.dropped += max(len(self._tasks) - MOST_TASKS, 0)
        del self._tasks[MOST_TASKS:]

    def tasks(self) -> list[TaskLife]:
        """The tasks that were kept, in the order of their creation."""
        self._thin()
        return sorted(self._tasks, key=lambda task: task.start_ns)


def parents(tasks: Sequence[TaskLife]) -> list[int | None]:
    """For each of these tasks, which are in the order of creation, the place of its creator; None: it is not there.

    Numbers of tasks are used again: the creator is the last with this number that was created before and lived.
    """
    by_number: dict[int, list[int]] = defaultdict(list)
    places: list[int | None] = []
    for place, task in enumerate(tasks):
        living = (
            maker
            for maker in reversed(by_number.get(task.creator, []))
            if (end_ns := tasks[maker].end_ns) is None or end_ns >= task.start_ns
        )
        places.append(next(living, None))
        by_number[task.tid].append(place)
    return places


def processes(tasks: Sequence[TaskLife], makers: Sequence[int | None]) -> list[int]:
    """The number of each task's process; of a thread whose creator is not among them, that of the creator."""
    numbers: list[int] = []
    for task, maker in zip(tasks, makers, strict=True):
        of_maker = task.creator if maker is None else numbers[maker]
        numbers.append(of_maker if task.is_thread else task.tid)
    return numbers
