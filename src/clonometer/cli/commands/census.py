"""``clonometer census``: which tasks a program makes, and what they cost it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import json_text, print_document
from clonometer.cli.options import (
    FILE,
    PROCESS_ID,
    SIZE,
    examples,
    force_option,
    how_option,
    out_option,
    page_options,
    time_option,
)
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import (
    EXIT_INTERRUPTED,
    EXIT_TIMED_OUT,
    EXIT_WRAPPER_FAILED,
    DriverError,
    UnavailableError,
    UsageError,
)
from clonometer.files import write_text

if TYPE_CHECKING:
    from clonometer.app.census import CensusAnswer
    from clonometer.tracing.census.tally import Census

#: Its place in the list of commands.
ORDER = 170

_EXAMPLES = examples(
    "clonometer census -- make -j1",
    "clonometer census -- sh -c 'for i in 1 2 3; do date; done'",
    "clonometer census --for 10s --pid 4711    a running server",
    "clonometer census --service nginx         until Ctrl-C",
    "clonometer census --all --for 10m         which services create tasks?",
    "clonometer census --until-all-end -- nginx    daemons too; Ctrl-C ends it",
    "clonometer census --json -- git status | jq .tasks_created",
)


@click.command(name="census", epilog=_EXAMPLES, context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--pid", metavar="PID", type=PROCESS_ID, help="A running process and all it creates.")
@click.option("--service", metavar="UNIT", help="A systemd unit, or the path of a cgroup.")
@click.option("--all", "whole_machine", is_flag=True, help="The whole machine, service by service.")
@time_option("--for", "seconds", "Watch this long; end a command then.")
@click.option("--until-all-end", is_flag=True, help="Continue until its daemons have ended.")
@how_option("auto, tracepoints or ptrace (no call times).")
@click.option("--buffer", "ring_bytes", metavar="SIZE", type=SIZE, help="Room for events per CPU.  [default: 4MiB]")
@click.option(
    "--stacks/--no-stacks",
    default=True,
    help="Name the lines that create tasks.",
)
@click.option("--hooks/--no-hooks", default=True, help="Let interpreters name their lines.")
@click.option("--debuginfod", is_flag=True, help="Get debug data from DEBUGINFOD_URLS.")
@click.option("--wide", is_flag=True, help="Show every creator and call site.")
@click.option(
    "--advice/--no-advice",
    default=True,
    help="Say what other ways would save (2 s).",
)
@click.option(
    "--prove",
    metavar="SETTING",
    is_flag=False,
    flag_value="",
    help="Try NAME=VALUE in pairs.  [as advised]",
)
@click.option(
    "--openmetrics",
    metavar="FILE",
    type=FILE,
    help="Histograms by service for a collector.",
)
@click.option("--perfetto", metavar="FILE", type=FILE, help="Write trace events, which Perfetto opens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its output goes to stderr.")
@out_option("Write the JSON object to a file.")
@page_options
@force_option
def command(
    *,
    words: tuple[str, ...],
    pid: int | None,
    wide: bool,
    prove: str | None,
    openmetrics: Path | None,
    perfetto: Path | None,
    as_json: bool,
    out: Path | None,
    pages: Pages,
    force: bool,
    **watching: Any,
) -> int:
    """Count the tasks that a program or service creates: how many, how, by whom, how long they live, what they cost.

    The command runs as usual, with its own input and output. Nothing needs to be installed in it or restarted: the
    kernel reports each new task.

    The exit status is that of the command. It is 124 if --for ended it, and 125 if no census could be taken. It is 126
    if the command cannot be executed, and 127 if it does not exist. It is 4 if the answer cannot be written.
    """
    from clonometer.app.census import census
    from clonometer.cli.progress import make_progress
    from clonometer.cli.streams import outlive_the_reader
    from clonometer.runfile import check_output

    outlive_the_reader()
    for path in (out, perfetto):
        if path is not None:
            check_output(path, force)
    _check_proof(prove, words, as_json=as_json)
    report = None if openmetrics is None else _metrics_report(openmetrics, watching, force=force)
    try:
        # The other options say how it watches, each by the name that it has there.
        answer = census(
            words,
            pid=pid,
            output_to_stderr=as_json,
            timeline=pages.html is not None or perfetto is not None,
            report=report,
            progress=make_progress(),
            **watching,
        )
    except (UnavailableError, DriverError) as error:
        error.exit_status = EXIT_WRAPPER_FAILED
        raise
    if perfetto is not None:
        _write_trace(answer, perfetto)
    _print(answer, out, pages=pages, as_json=as_json, wide=wide)
    if prove is not None and not answer.tally.ended["interrupted"]:
        _prove(answer, prove)
    return _status(answer.tally, watched_command=bool(words))


def _metrics_report(path: Path, watching: Mapping[str, Any], *, force: bool) -> Callable[[Census], None]:
    """Check the file of metrics; what writes it, each time whole."""
    from clonometer.cli.metrics_file import check_metrics_file
    from clonometer.views.exports.launched import HEADING, LaunchMetrics

    if watching["service"] is None and not watching["whole_machine"]:
        raise UsageError("--openmetrics counts by service, and none is watched", "give --service UNIT or --all")
    check_metrics_file(path, HEADING, force=force)
    metrics = LaunchMetrics()

    def report(census: Census) -> None:
        write_text(path, "".join(metrics.encode(census.services)))

    return report


def _check_proof(prove: str | None, words: tuple[str, ...], *, as_json: bool) -> None:
    """Refuse a proof that cannot be made, before the command runs."""
    if prove is None:
        return
    if not words:
        raise UsageError(
            "--prove runs a command several times, and there is none", "clonometer census --prove -- COMMAND"
        )
    if as_json:
        raise UsageError(
            "--prove has an answer of its own, which --json would mix with that of the census",
            "clonometer ab --json --b env:NAME=VALUE -- COMMAND",
        )
    if prove and not prove.partition("=")[1]:
        raise UsageError(f"--prove {prove} is not NAME=VALUE", "--prove alone takes what the advice names")


def _prove(answer: CensusAnswer, setting: str) -> None:
    """Compare the command with itself under a setting: the one that was asked for, or each that the advice names."""
    from clonometer.app.ab import AbRequest
    from clonometer.cli.ab_commands import compare_commands
    from clonometer.tracing.census.launches import settings

    proposed = [setting] if setting else settings(answer.launches)
    if not proposed:
        click.echo(
            "\nNothing to prove: no line of this program can be fixed by an environment variable. "
            "--prove NAME=VALUE tries any.",
        )
    for each in proposed:
        click.echo(f"\nWithout and with {each}:")
        # A program that sets it, such as env, would be measured too.
        compare_commands(answer.command, answer.command, AbRequest(b=(f"env:{each}",)), ignore_failure=True)


def _write_trace(answer: CensusAnswer, path: Path) -> None:
    """Write when each task lived."""
    from clonometer.views.census_events import census_events

    tally = answer.tally
    if tally.timeline is not None:
        events = census_events(tally.timeline, tally.sites, int(tally.ended["wall_ns"]), answer.name)
        write_and_say(path, json.dumps(events, allow_nan=False))


def _print(answer: CensusAnswer, out: Path | None, *, pages: Pages, as_json: bool, wide: bool) -> None:
    from clonometer.views.documents.census import census_document
    from clonometer.views.documents.predict import beside

    written = answer.to_json()
    if out is not None:
        write_text(out, json_text(written))
    predicted = [beside(document) for document in answer.predictions]
    shown = (answer.tally, answer.name, answer.savings, predicted, answer.launches)
    print_document(census_document, *shown, json=written, pages=pages, as_json=as_json, wide=wide)
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
    return status if status >= 0 else EXIT_WRAPPER_FAILED
