"""``ab -- A -- B``: two commands of the user's own, started in turn."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.ab import AbRequest
from clonometer.app.commands import check_command, not_started
from clonometer.app.defaults import LEAST_EFFECT
from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.results.ab.command_types import CommandsResult, CommandStart
    from clonometer.runner.interrupts import Interruption

__all__ = ["ab_commands"]

#: How many pairs are started at most, where nothing else is asked for.
MOST_PAIRS = 200


@shown_as("ab_commands", "commands_document")
def ab_commands(
    a: Sequence[str],
    b: Sequence[str],
    *,
    most_pairs: int = MOST_PAIRS,
    budget_s: float = 60.0,
    minimum_effect: float = LEAST_EFFECT,
    max_regression: float | None = None,
    seed: int | None = None,
    ignore_failure: bool = False,
    progress: Progress = SILENT,
) -> CommandsResult:
    """Compare the wall time, CPU time and peak memory of two commands, started in pairs.

    Each is started once first, so that its files are in memory. Call it from the main thread, like `clonometer.run`.

    Parameters
    ----------
    a, b
        The words of each command.
    most_pairs
        How many pairs are started at most.
    budget_s
        How long to measure, in seconds, at most; also of one start.
    minimum_effect, max_regression
        The least change that counts, and the largest slow-down that a gate allows; shares.
    seed
        Fixes the order; by default it is drawn.
    ignore_failure
        Accept any exit status.
    progress
        Watches.

    Raises
    ------
    UsageError
        If that many pairs can show nothing, or are too many.
    CommandError
        If a command fails or lasts too long.
    NotStartedError
        If one does not exist, or cannot be executed.
    KeyboardInterrupt
        The user has had enough before both commands had ended.
    """
    from clonometer.results.ab.commands import judge_commands, start_pairs
    from clonometer.runner.interrupts import interruption

    design = AbRequest(most_pairs=most_pairs, minimum_effect=minimum_effect, max_regression=max_regression).design()
    seed = draw_seed(seed)
    commands = (a, b)
    for words in commands:
        check_command(words[0])

    def watch(pair: int, side: int, elapsed_s: float, remaining_s: float | None) -> None:
        progress.start_begins(f"pair {pair} of at most {design.most_pairs}: {'AB'[side]}", elapsed_s, remaining_s)

    with interruption() as interrupted:
        starter = _Starter(commands, budget_s, interrupted, ignore_failure=ignore_failure)
        progress.starts_begin()
        try:
            for side in (0, 1):
                progress.start_begins(f"warm-up: {'AB'[side]}", 0.0, None)
                if starter(side) is None:
                    raise KeyboardInterrupt
            pairs = start_pairs(starter, design, seed, budget_s, clock=time.monotonic, watch=watch)
        finally:
            progress.run_ended("", None)
    if not pairs.started:
        raise KeyboardInterrupt
    return judge_commands(pairs, commands, seed, ignore_failure=ignore_failure)


class _Starter:
    """Starts command 0 (A) or 1 (B) and waits for it; gives None where that was interrupted."""

    def __init__(
        self,
        commands: tuple[Sequence[str], Sequence[str]],
        timeout_s: float,
        interrupted: Interruption,
        *,
        ignore_failure: bool,
    ) -> None:
        self._commands = commands
        self._paths = [Path(str(shutil.which(words[0]))) for words in commands]
        self._timeout_s, self._interrupted, self._ignore_failure = timeout_s, interrupted, ignore_failure

    def __call__(self, side: int) -> CommandStart | None:
        from clonometer.results.ab.command_types import CommandStart
        from clonometer.runner.commands import start_command

        try:
            started = start_command(
                self._paths[side],
                self._commands[side],
                timeout_s=self._timeout_s,
                interrupt_fd=self._interrupted.descriptor,
                ignore_failure=self._ignore_failure,
            )
        except OSError as error:
            raise not_started(self._commands[side][0], error.errno or 0) from error
        return None if self._interrupted.wanted or started is None else CommandStart(**started)
