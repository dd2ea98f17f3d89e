"""``clonometer ab -- COMMAND_A -- COMMAND_B``: what is printed of two commands of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.app.ab import AbRequest
from clonometer.cli.console import json_text, print_document
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_REGRESSION, UsageError

if TYPE_CHECKING:
    from clonometer.results.ab.command_types import CommandsResult

#: Between the two commands.
DASHES = "--"


def split_commands(request: AbRequest) -> tuple[Sequence[str], Sequence[str]]:
    """Give the words of A and of B, which follow dashes; one command is both sides, where these differ in a setting.

    Raises
    ------
    UsageError
        If there are not two sides.
    """
    from clonometer.plan.sides import NO_DIFFERENCE, TWO_COMMANDS

    first, *words = request.workloads
    if first != DASHES:
        raise UsageError(f"{first} stands before --, where only options may", TWO_COMMANDS)
    if DASHES not in words:
        if words and request.a == request.b:
            raise UsageError(NO_DIFFERENCE, f"--b env:NAME=VALUE, or a second command: {TWO_COMMANDS}")
        words = [*words, DASHES, *words]
    at = words.index(DASHES)
    a, b = words[:at], words[at + 1 :]
    if not a or not b:
        raise UsageError("a command is missing", TWO_COMMANDS)
    if DASHES in b:
        raise UsageError(
            "-- separates the two commands, but occurs more than once",
            "put a command that contains -- into sh -c '...'",
        )
    return a, b


def compare_commands(
    a: Sequence[str],
    b: Sequence[str],
    request: AbRequest,
    *,
    ignore_failure: bool,
    out: Path | None = None,
    force: bool = False,
    pages: Pages | None = None,
    as_json: bool = False,
    wide: bool = False,
) -> int:
    """Compare two commands, print the answer, and give the exit status."""
    from clonometer.app.ab_commands import ab_commands
    from clonometer.cli.progress import make_progress
    from clonometer.files import write_text
    from clonometer.records import to_json
    from clonometer.views.documents.ab_commands import commands_document

    if out is not None:
        _check_out(out, force=force)
    try:
        result = ab_commands(
            a,
            b,
            a_settings=request.a,
            b_settings=request.b,
            most_pairs=request.most_pairs,
            budget_s=request.budget_s,
            minimum_effect=request.minimum_effect,
            max_regression=request.max_regression,
            seed=request.seed,
            ignore_failure=ignore_failure,
            progress=make_progress(),
        )
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before both commands had ended", err=True)
        return EXIT_INTERRUPTED
    if out is not None:
        write_text(out, json_text(to_json(result)))
    print_document(commands_document, result, pages=pages or Pages(), as_json=as_json, wide=wide)
    for line in _closing_lines(result, out):
        click.echo(line, err=as_json)
    return _exit_status(result)


def _check_out(out: Path, *, force: bool) -> None:
    """Whether the answer can be written there: before anything is measured."""
    from clonometer.runfile import check_output

    if out.suffix != ".json":
        raise UsageError(f"--out {out} must end in .json", "two commands have no run file: the answer is JSON")
    check_output(out, force)


def _closing_lines(result: CommandsResult, out: Path | None) -> list[str]:
    lines = [] if result.status_reason is None else [f"This comparison is {result.status}: {result.status_reason}."]
    lines += [] if out is None else [f"Wrote {out}."]
    return ["", *lines] if lines else []


def _exit_status(result: CommandsResult) -> int:
    from clonometer.verdicts import Gate

    if result.status_reason is not None:
        return EXIT_INTERRUPTED
    if result.verdict == Gate.FAIL:
        return EXIT_REGRESSION
    return EXIT_CANNOT_TELL if result.verdict == Gate.UNKNOWN or not result.has_answer else 0
