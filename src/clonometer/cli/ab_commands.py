"""``clonometer ab -- COMMAND_A -- COMMAND_B``: two commands of the user's own, started in turn."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import json_text, print_document
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_REGRESSION, UsageError

if TYPE_CHECKING:
    from clonometer.results.ab.command_types import CommandsResult
    from clonometer.results.ab.commands import CommandPairs
    from clonometer.runner.interrupts import Interruption
    from clonometer.stats.sequential import PairedDesign

#: Between the two commands.
DASHES = "--"


@dataclass(frozen=True)
class CommandsWish:
    """What the command line asked for: the words of both commands, with dashes between them, and how to compare."""

    words: Sequence[str]
    design: PairedDesign
    budget_s: float
    seed: int
    ignore_failure: bool
    out: Path | None
    force: bool

    def commands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of A and of B.

        Raises
        ------
        UsageError
            If there are not two.
        """
        words = tuple(self.words)
        place = words.index(DASHES)
        a, b = words[:place], words[place + 1 :]
        if not a or not b:
            raise UsageError("one of the two commands is missing", "clonometer ab -- COMMAND_A -- COMMAND_B")
        if DASHES in b:
            raise UsageError(
                "-- separates the two commands, but occurs more than once",
                "put a command that contains -- into sh -c '...'",
            )
        return a, b


def compare_commands(wish: CommandsWish, *, pages: Pages, as_json: bool, wide: bool) -> int:
    """Compare two commands, print the answer, and give the exit status.

    Raises
    ------
    UsageError
        If there are not two commands.
    CommandError
        If one fails or lasts too long.
    NotStartedError
        If one does not exist, or cannot be executed.
    """
    from clonometer.app.commands import check_command
    from clonometer.files import write_text
    from clonometer.records import to_json
    from clonometer.results.ab.commands import judge_commands
    from clonometer.runner.interrupts import interruption
    from clonometer.views.documents.ab_commands import commands_document

    commands = wish.commands()
    for words in commands:
        check_command(words[0])
    if wish.out is not None:
        _check_out(wish.out, force=wish.force)
    named = " against ".join(shlex.join(words) for words in commands)
    click.echo(f"comparing {named}, for {wish.budget_s:g} s at most; each is started once first", err=True)
    with interruption() as interrupted:
        pairs = _measure(wish, commands, interrupted)
    if pairs is None or not pairs.started:
        click.echo("clonometer: interrupted before both commands had ended", err=True)
        return EXIT_INTERRUPTED
    result = judge_commands(pairs, commands, wish.seed, ignore_failure=wish.ignore_failure)
    if wish.out is not None:
        write_text(wish.out, json_text(to_json(result)))
    print_document(commands_document, result, pages=pages, as_json=as_json, wide=wide)
    for line in _closing_lines(result, wish):
        click.echo(line, err=as_json)
    return _exit_status(result)


def _measure(
    wish: CommandsWish, commands: tuple[Sequence[str], Sequence[str]], interrupted: Interruption
) -> CommandPairs | None:
    """Start each once, so that its files are in memory, then both in pairs; None if that was interrupted."""
    from clonometer.app.commands import not_started
    from clonometer.cli.progress import make_progress
    from clonometer.results.ab.command_types import CommandStart
    from clonometer.results.ab.commands import start_pairs
    from clonometer.runner.commands import start_command

    progress = make_progress()
    paths = [Path(str(shutil.which(words[0]))) for words in commands]

    def watch(pair: int, side: int, elapsed_s: float, remaining_s: float | None) -> None:
        progress.show(f"pair {pair} of at most {wish.design.most_pairs}: {'AB'[side]}", elapsed_s, remaining_s)

    def start(side: int) -> CommandStart | None:
        try:
            started = start_command(
                paths[side],
                commands[side],
                timeout_s=wish.budget_s,
                interrupt_fd=interrupted.descriptor,
                ignore_failure=wish.ignore_failure,
            )
        except OSError as error:
            raise not_started(commands[side][0], error.errno or 0) from error
        return None if interrupted.wanted or started is None else CommandStart(**started)

    progress.open()
    try:
        for side in (0, 1):
            progress.show(f"warm-up: {'AB'[side]}", 0.0, None)
            if start(side) is None:
                return None
        return start_pairs(start, wish.design, wish.seed, wish.budget_s, clock=time.monotonic, watch=watch)
    finally:
        progress.run_ended("", None)


def _check_out(out: Path, *, force: bool) -> None:
    """Whether the answer can be written there: before anything is measured."""
    from clonometer.runfile import check_output

    if out.suffix != ".json":
        raise UsageError(f"--out {out} must end in .json", "two commands have no run file: the answer is JSON")
    check_output(out, force)


def _closing_lines(result: CommandsResult, wish: CommandsWish) -> list[str]:
    lines = [] if result.status_reason is None else [f"This comparison is {result.status}: {result.status_reason}."]
    lines += [] if wish.out is None else [f"Wrote {wish.out}."]
    return ["", *lines] if lines else []


def _exit_status(result: CommandsResult) -> int:
    from clonometer.verdicts import Gate

    if result.status_reason is not None:
        return EXIT_INTERRUPTED
    if result.verdict == Gate.FAIL:
        return EXIT_REGRESSION
    return EXIT_CANNOT_TELL if result.verdict == Gate.UNKNOWN or not result.has_answer else 0
