"""``clonometer census``: which tasks a program makes, and what they cost it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import json_text, print_document
from clonometer.cli.options import PROCESS_ID, SIZE, examples, force_option, out_option, page_options, time_option
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED, ClonometerError, UsageError

if TYPE_CHECKING:
    from clonometer.tracing.census.savings import Saving
    from clonometer.tracing.census.tally import Census

#: As env(1): our own failure, a command that cannot be executed, one that is not there.
EXIT_FAILED = 125
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_TIMED_OUT = 124

_EXAMPLES = examples(
    "clonometer census -- make -j1",
    "clonometer census -- sh -c 'for i in 1 2 3; do date; done'",
    "clonometer census --for 10s --pid 4711    a running server",
    "clonometer census --until-all-end -- nginx    daemons too; Ctrl-C ends it",
    "clonometer census --json -- git status | jq .tasks_created",
)


@click.command(name="census", epilog=_EXAMPLES, context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--pid", metavar="PID", type=PROCESS_ID, help="Attach to a running process and its descendants.")
@time_option("--for", "seconds", "Watch for this long at most; a command is ended then.")
@click.option("--until-all-end", is_flag=True, help="Go on until its daemons have ended too; Ctrl-C stops.")
@click.option(
    "--how",
    metavar="WAY",
    type=click.Choice(["auto", "tracepoints", "ptrace"]),
    default="auto",
    show_default=True,
    help="auto, tracepoints (root or CAP_PERFMON) or ptrace, which shows no times of calls.",
)
@click.option("--buffer", "ring_bytes", metavar="SIZE", type=SIZE, help="Room for events on each CPU.  [default: 4MiB]")
@click.option("--wide", is_flag=True, help="Show every creator.")
@click.option(
    "--advice/--no-advice",
    default=True,
    show_default=True,
    help="Say what other ways to make its tasks would save. Once after each boot that takes 2 s of measuring.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; the command's output goes to stderr.")
@out_option("Write the JSON object to a file.")
@page_options
@force_option
def command(
    *,
    words: tuple[str, ...],
    pid: int | None,
    wide: bool,
    advice: bool,
    as_json: bool,
    out: Path | None,
    pages: Pages,
    force: bool,
    **watching: Any,
) -> int:
    """Count the tasks that a program makes: how many, how, by whom, how long they live, what they cost.

    The command runs as usual, with its own input and output. Nothing needs to be installed in it or restarted: the
    kernel reports each new task.

    The exit status is that of the command. It is 124 if --for ended it, and 125 if no census could be taken. It is 126
    if the command cannot be executed, and 127 if it does not exist.
    """
    _check(words, pid, out, force=force)
    if words and (status := cannot_run(words[0])):
        return status
    from clonometer.app.predicting import Foreseen
    from clonometer.runner.census import take_census
    from clonometer.tracing.census.tally import Census

    census, foreseen = Census(), Foreseen()

    def receive(line: dict[str, Any]) -> None:
        census.take(line)
        if line["line"] == "task":
            foreseen.glance(line["creator"])
        if line["line"] == "outlived":
            click.echo(_outlived(line["alive"], "The command" if words else f"Process {pid}"), err=True)

    try:
        # The other options say how it watches, each by the name that it has there.
        take_census(receive, command=words, pid=pid, output_to_stderr=as_json, **watching)
    except ClonometerError as error:
        error.exit_status = EXIT_FAILED
        raise
    if census.ended["not_started"]:
        return not_started(words[0], int(census.ended["not_started"]))
    worth = _savings(census) if advice else []
    predictions = foreseen.documents(pid)
    _answer(census, words, pid, out, worth, predictions=predictions, pages=pages, as_json=as_json, wide=wide)
    return _status(census, watched_command=bool(words))


def _check(words: tuple[str, ...], pid: int | None, out: Path | None, *, force: bool) -> None:
    if bool(words) == (pid is not None):
        raise UsageError(
            "a census takes a command or a --pid" + (", not both" if words else ""),
            "clonometer census -- COMMAND..., or clonometer census --pid PID --for 10s",
        )
    if pid is not None and not Path(f"/proc/{pid}").is_dir():
        raise UsageError(
            f"there is no process {pid} here",
            "processes of another PID namespace have other numbers in it: use the number that ps shows here",
        )
    if out is not None:
        from clonometer.runfile import check_output

        check_output(out, force)


def cannot_run(word: str) -> int:
    """Say why a command cannot be started; 0 where it can."""
    if shutil.which(word) is not None:
        return 0
    existing = shutil.which(word, mode=os.F_OK)
    if existing is not None or (os.sep in word and Path(word).exists()):
        place = Path(existing or word)
        click.echo(
            f"clonometer: cannot execute {place}: {'a folder' if place.is_dir() else 'not executable'}", err=True
        )
        return EXIT_NOT_EXECUTABLE
    click.echo(f"clonometer: cannot find {word}" + ("" if os.sep in word else " along PATH"), err=True)
    return EXIT_NOT_FOUND


def not_started(word: str, number: int) -> int:
    """Say why the kernel has refused to execute a command that seemed to be one."""
    missing = number == errno.ENOENT
    hint = ": the interpreter that its first line names, or its loader, is not there" if missing else ""
    click.echo(f"clonometer: cannot execute {word}: {os.strerror(number)}{hint}", err=True)
    return EXIT_NOT_FOUND if missing else EXIT_NOT_EXECUTABLE


def _outlived(alive: int, name: str) -> str:
    """Say whom the census waits for."""
    tasks = "1 task that it made runs" if alive == 1 else f"{alive:,} tasks that it made run"
    return f"{name} has ended; {tasks} on, and the census with them. Ctrl-C ends the census."


def _savings(census: Census) -> list[Saving]:
    """What other ways would save; nothing is measured for a census without times, or that was interrupted."""
    from clonometer.app.census_costs import making_costs_ns
    from clonometer.cli.progress import make_progress
    from clonometer.tracing.census.savings import savings

    timed = any(group.times["making_ns"] for group in census.groups.values())
    if not timed or census.ended["interrupted"]:
        return []
    return savings(census, making_costs_ns(make_progress()))


def _answer(
    census: Census,
    words: tuple[str, ...],
    pid: int | None,
    out: Path | None,
    worth: list[Saving],
    *,
    predictions: Sequence[dict[str, Any]],
    pages: Pages,
    as_json: bool,
    wide: bool,
) -> None:
    from clonometer.tracing.census.to_json import census_to_json

    written = census_to_json(census, words, pid, worth)
    if predictions:
        keys = ("schema", "pid", "process", "rss_bytes", "fork", "waits")
        written["predictions"] = [{key: each[key] for key in keys} for each in predictions]
    if out is not None:
        from clonometer.cli.outputs import write_text

        write_text(out, json_text(written))
    from clonometer.views.documents.census import census_document
    from clonometer.views.documents.predict import beside

    name = Path(words[0]).name if words else f"Process {pid}"
    answer = (census, name, worth, [beside(document) for document in predictions])
    print_document(census_document, *answer, json=written, pages=pages, as_json=as_json, wide=wide)
    if out is not None and not as_json:
        click.echo(f"\nWrote {out}.")


def _status(census: Census, *, watched_command: bool) -> int:
    if census.ended["timed_out"] and census.ended["ended_it"]:
        return EXIT_TIMED_OUT
    # A command that had ended by itself has its own status, though what it left behind was waited for no longer.
    if census.ended["interrupted"] and (census.ended["ended_it"] or not watched_command):
        return EXIT_INTERRUPTED
    if not watched_command:
        return 0
    status = int(census.ended["exit_status"])
    return status if status >= 0 else EXIT_FAILED
