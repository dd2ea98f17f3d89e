"""``ab -- A -- B``: two commands of the user's own, started in turn."""

from __future__ import annotations

import os
import shlex
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
    from clonometer.plan.sides import Side
    from clonometer.results.ab.command_types import CommandsResult, CommandStart
    from clonometer.results.ab.commands import StartedCommand
    from clonometer.runner.interrupts import Interruption
    from clonometer.runner.sides import SideSwitches

__all__ = ["ab_commands"]

#: How many pairs are started at most, where nothing else is asked for.
MOST_PAIRS = 200
#: What starts another program, and so is measured with it; and what does the same without being one.
_WRAPPERS = frozenset(
    ["env", "nice", "ionice", "taskset", "chrt", "timeout", "nohup", "setsid", "stdbuf", "numactl", "sudo", "time",
     "sh", "bash", "dash", "ash", "zsh", "ksh"]
)  # fmt: skip
_INSTEAD = {"env": "set the variable by --{side} env:NAME=VALUE"}


@shown_as("ab_commands", "commands_document")
def ab_commands(
    a: Sequence[str],
    b: Sequence[str],
    *,
    a_settings: Sequence[str] = (),
    b_settings: Sequence[str] = (),
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
    a_settings, b_settings
        What each is started in besides: ``env:NAME=value``, ``do=command`` with ``undo=command``.
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
    from clonometer.plan.sides import read_side
    from clonometer.results.ab.commands import StartedCommand, judge_commands, start_pairs
    from clonometer.run_document import SwitchedSetting
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.putting_back import put_back_first
    from clonometer.runner.settings import as_metadata
    from clonometer.runner.sides import SideSwitches, check_commands

    design = AbRequest(most_pairs=most_pairs, minimum_effect=minimum_effect, max_regression=max_regression).design()
    seed = draw_seed(seed)
    sides = read_side("a", a_settings, None), read_side("b", b_settings, None)
    check_commands(sides)
    commands = StartedCommand(a, a_settings), StartedCommand(b, b_settings)
    for command in commands:
        check_command(command.words[0])
    named = " against ".join(map(_named, commands))
    progress.say(f"comparing {named}, for {budget_s:g} s at most; each is started once first")
    _warn_of_wrappers(commands, progress)
    _warn_of_the_unheeded(commands, sides, progress)

    def watch(pair: int, side: int, elapsed_s: float, remaining_s: float | None) -> None:
        progress.start_begins(f"pair {pair} of at most {design.most_pairs}: {'AB'[side]}", elapsed_s, remaining_s)

    switches = SideSwitches(sides)
    with interruption() as interrupted:
        put_back_first(progress)
        starter = _Starter(commands, sides, switches, budget_s, interrupted, ignore_failure=ignore_failure)
        progress.starts_begin()
        try:
            for side in (0, 1):
                progress.start_begins(f"warm-up: {'AB'[side]}", 0.0, None)
                if starter(side) is None:
                    raise KeyboardInterrupt
            pairs = start_pairs(starter, design, seed, budget_s, clock=time.monotonic, watch=watch)
        finally:
            # Putting back may fail, and says so: below the progress, not in it.
            progress.run_ended("", None)
            switches.end()
    if not pairs.started:
        raise KeyboardInterrupt
    switched = [SwitchedSetting(**as_metadata(record)) for record in switches.records]
    return judge_commands(pairs, commands, seed, switched=switched, ignore_failure=ignore_failure)


def _named(command: StartedCommand) -> str:
    """A side in a sentence: its words, and what is set for it alone."""
    words = shlex.join(command.words)
    return f"{words} (with {', '.join(command.settings)})" if command.settings else words


def _warn_of_wrappers(commands: Sequence[StartedCommand], progress: Progress) -> None:
    """Say that what starts one command alone, such as env, is measured with it."""
    names = [Path(command.words[0]).name for command in commands]
    for index, name in enumerate(names):
        if name in _WRAPPERS and name != names[1 - index]:
            side = "ab"[index]
            instead = _INSTEAD.get(name, "start both commands by it").format(side=side)
            progress.say(
                f"{side.upper()} begins with {name}, a program of its own: what that takes is part of {side.upper()} "
                f"alone. To compare without it, {instead}."
            )


def _warn_of_the_unheeded(commands: Sequence[StartedCommand], sides: Sequence[Side], progress: Progress) -> None:
    """Say which variables of a side do nothing to its program, since no loader reads them."""
    from clonometer.host.program_loading import unheeded_variables

    for command, side in zip(commands, sides, strict=True):
        unheeded = unheeded_variables(Path(str(shutil.which(command.words[0]))), side.environment)
        if unheeded is not None:
            names, why = unheeded
            progress.say(f"{side.name.upper()}: {' and '.join(names)} does nothing to {command.words[0]}: {why}")


def _environments(sides: Sequence[Side]) -> list[dict[str, str]]:
    """What each side is started in: of one size, since what a variable does must not be told from how long it is."""
    from clonometer.runner.environment import padded, room_for

    whole = [{**os.environ, **side.environment} for side in sides]
    if not any(side.environment for side in sides):
        return whole
    room = max(room_for(each) for each in whole)
    return [padded(each, room) for each in whole]


class _Starter:
    """Starts command 0 (A) or 1 (B) and waits for it; gives None where that was interrupted."""

    def __init__(
        self,
        commands: Sequence[StartedCommand],
        sides: Sequence[Side],
        switches: SideSwitches,
        timeout_s: float,
        interrupted: Interruption,
        *,
        ignore_failure: bool,
    ) -> None:
        self._commands, self._sides, self._switches = commands, sides, switches
        self._environments = _environments(sides)
        self._paths = [Path(str(shutil.which(command.words[0]))) for command in commands]
        self._timeout_s, self._interrupted, self._ignore_failure = timeout_s, interrupted, ignore_failure

    def __call__(self, side: int) -> CommandStart | None:
        from clonometer.results.ab.command_types import CommandStart
        from clonometer.runner.commands import start_command

        words = self._commands[side].words
        self._switches.turn_to(self._sides[side], self._interrupted.descriptor)
        try:
            started = start_command(
                self._paths[side],
                words,
                timeout_s=self._timeout_s,
                environment=self._environments[side],
                interrupt_fd=self._interrupted.descriptor,
                ignore_failure=self._ignore_failure,
            )
        except OSError as error:
            raise not_started(words[0], error.errno or 0) from error
        return None if self._interrupted.wanted or started is None else CommandStart(**started)
