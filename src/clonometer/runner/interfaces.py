"""What the runner is handed: who chooses the next target, and who watches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from clonometer.plan.types import Plan, Target
from clonometer.runfile import RunSoFar


class Scheduler(Protocol):
    """Chooses the order and the end of measuring. Targets are named by their index in the plan."""

    def begin(self, plan: Plan) -> None:
        """Take the plan; called once, before anything else."""

    def next_target(self, elapsed_s: float) -> int | None:
        """Name the target to start now, or None where measuring ends."""

    def process_ended(self, target: int, seconds: float, samples: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Learn that a process of ``target`` has ended, how long it took, and what it measured.

        ``samples`` has the cell and the columns of each sound block, null as in docs/protocol.md.
        """

    def drop(self, target: int) -> None:
        """Learn that ``target`` must not be tried again."""

    def stopped_by(self, target: int) -> str | None:
        """Say why ``target`` got no more processes."""

    def remaining_s(self, elapsed_s: float) -> float | None:
        """Estimate what is left; None where nothing is known yet."""


class Progress:
    """Watches a run. All calls come while no driver is measuring, and must return at once; this one shows nothing.

    Only `answered` may take a moment: what it gets was computed for it.
    """

    def run_started(self, plan: Plan) -> None:
        """Learn that outputs are open and measuring begins."""

    def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
        """Learn which target the next process measures; called just before it starts."""

    def process_ended(self, target: Target, process: int, status: str, reason: str | None) -> None:
        """Learn how that process ended: ``ok``, ``skipped`` or ``failed``."""

    def answered(self, answer: Any, elapsed_s: float) -> None:
        """Learn what can be said of all that was measured so far: `clonometer.results.types.Results`."""

    def left_behind(self, paths: Sequence[str]) -> None:
        """Learn which directories a driver made and nobody could remove."""

    def run_ended(self, status: str, reason: str | None) -> None:
        """Learn that nothing more will be measured."""

    def starts_begin(self) -> None:
        """Learn that something is started again and again that is in no plan; `run_ended` ends it."""

    def start_begins(self, what: str, elapsed_s: float, remaining_s: float | None) -> None:
        """Learn what is started next, just before; what is left is None where nothing is known yet."""

    def counted(self, what: str, done: int, of: int) -> None:
        """Learn how many of something are done: 0 where it begins, then each time."""

    def say(self, line: str, *, to_copy: bool = False) -> None:
        """Show a sentence; one that people copy must not be wrapped."""


#: Shows nothing.
SILENT = Progress()


def counting(progress: Progress, what: str, of: int) -> Callable[[int, int], None]:
    """Begin to count, and return what is told of each that is done: how many, and of how many."""
    progress.counted(what, 0, of)
    return partial(progress.counted, what)


#: Does something of its own between two processes, which other tools measured in turn with ours need. Gets the time
#: since the start in ns, on the clock of the processes' ``started_ns`` in the run file, and what interrupts it.
Between = Callable[[int, int | None], None]

#: Looks, after each process, at what was measured so far: gets the seconds since measuring began, and what reads it.
#: Its time counts against the scheduler's budget.
RunLook = Callable[[float, Callable[[], RunSoFar]], None]


@dataclass(frozen=True)
class Start:
    """How a process is started beyond what its target says.

    ``environment`` has the variables that it gets besides; ``pair`` is the number of the pair that it belongs to, None
    where there are none. ``room`` is the least size of the environment that all of a pair can be padded to; 0: its own.
    Where ``kernel_draws`` is False, it lies in memory where the kernel always puts it.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    pair: int | None = None
    room: int = 0
    kernel_draws: bool = True


class LaunchHooks:
    """Prepares what processes are started in, and here nothing; a `SettingError` ends the measuring."""

    def before(self, target: int, interrupt_fd: int | None, /) -> Start:
        """Prepare for a process of ``target``, by its index in the plan; called just before it starts."""
        return Start()

    def end(self) -> None:
        """Put everything back: called once, whatever happened."""

    def described(self) -> Mapping[str, Any]:
        """What the run's metadata say of it, by key: asked for once, after the end."""
        return {}
