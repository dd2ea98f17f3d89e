"""``clonometer budget``: a gate for CI that fails if a command creates more tasks than it may."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    FILE,
    examples,
    force_option,
    how_option,
    json_option,
    number_option,
    page_options,
    time_option,
)
from clonometer.cli.outputs import Pages, write_and_say
from clonometer.errors import (
    EXIT_INTERRUPTED,
    EXIT_REGRESSION,
    EXIT_TIMED_OUT,
    EXIT_WRAPPER_FAILED,
    DriverError,
    UnavailableError,
    UsageError,
)
from clonometer.files import why_not_written, write_text
from clonometer.verdicts import Gate

if TYPE_CHECKING:
    from clonometer.tracing.launch_limits import LaunchBudget, LaunchLimits

#: Its place in the list of commands.
ORDER = 172

#: Where limits stand if no option says so.
LIMITS_FILE = Path("launches.toml")
_SUMMARY = "GITHUB_STEP_SUMMARY"
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_EXAMPLES = examples(
    "clonometer budget --record -- make test      write launches.toml",
    "clonometer budget -- make test               compare with it",
    "clonometer budget --limit fork=0 -- ./run    no file needed",
    "clonometer budget --limit programs.git=3 --limit max=40 -- ./build.sh",
    "clonometer budget --github --junit launches.xml -- make test",
)


@click.command(name="budget", epilog=_EXAMPLES, context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--limits", "limits_file", metavar="FILE", type=FILE, help=f"The limits.  [default: {LIMITS_FILE}]")
@click.option("--limit", "texts", metavar="NAME=N", multiple=True, help="A limit; without --limits no file is read.")
@click.option("--record", is_flag=True, help="Run it, and write what it creates as the limits.")
@number_option("--runs", "runs", "How often --record runs it.", 3, most=100)
@time_option("--for", "seconds", "End the command then.")
@click.option("--until-all-end", is_flag=True, help="Count until its daemons have ended.")
@how_option("auto, tracepoints or ptrace.")
@click.option("--hooks/--no-hooks", default=True, help="Let interpreters name their lines.")
@click.option("--github", is_flag=True, help="Print annotations, and add a job summary.")
@click.option("--junit", metavar="FILE", type=FILE, help="Write the verdicts as JUnit XML.")
@json_option
@page_options
@force_option
def command(
    *,
    words: tuple[str, ...],
    limits_file: Path | None,
    texts: tuple[str, ...],
    record: bool,
    runs: int,
    github: bool,
    junit: Path | None,
    as_json: bool,
    pages: Pages,
    force: bool,
    **watching: Any,
) -> int:
    """Check that a command creates no more tasks than it may: all, by mechanism, or by executed program.

    The command runs as usual. Counts are exact, so the check gives no false alarm; times vary, and are not limited.
    Limits stand in launches.toml, which --record writes: what several runs count alike. With --limit alone no file is
    read.

    The exit status is 1 if a limit is exceeded, and 125 if that is not known: events were lost, or no census can be
    taken. It is 4 if the verdict cannot be written. Otherwise it is that of the command, or 124 if --for ended it.
    """
    from clonometer.app.budget import budget
    from clonometer.cli.progress import make_progress
    from clonometer.cli.streams import outlive_the_reader
    from clonometer.runfile import check_output
    from clonometer.views.documents.budget import budget_document

    outlive_the_reader()

    if record:
        _record(words, limits_file or LIMITS_FILE, runs, watching, texts=texts, force=force)
        return 0
    if junit is not None:
        check_output(junit, force)
    limits = _limits(limits_file, texts)
    try:
        answer = budget(words, limits, output_to_stderr=as_json, progress=make_progress(), **watching)
    except (UnavailableError, DriverError) as error:
        error.exit_status = EXIT_WRAPPER_FAILED
        raise
    print_document(budget_document, answer, pages=pages, as_json=as_json)
    if junit is not None:
        from clonometer.views.exports.junit import junit_xml

        write_and_say(junit, junit_xml(answer))
    if github:
        _to_github(answer, to_stderr=as_json)
    return _status(answer)


def _limits(path: Path | None, texts: tuple[str, ...]) -> LaunchLimits:
    from clonometer.tracing.launch_limits import LaunchLimits, read_launch_limits

    if path is not None:
        return read_launch_limits(path).with_limits(texts)
    if texts:
        return LaunchLimits().with_limits(texts)
    if not LIMITS_FILE.exists():
        raise UsageError(
            f"there are no limits: no --limit, and no file {LIMITS_FILE} here",
            "clonometer budget --record -- COMMAND writes it",
        )
    return read_launch_limits(LIMITS_FILE)


def _record(
    words: tuple[str, ...], path: Path, runs: int, watching: dict[str, Any], *, texts: tuple[str, ...], force: bool
) -> None:
    from clonometer.app.budget import record_budget
    from clonometer.cli.progress import make_progress
    from clonometer.runfile import check_output

    if texts:
        raise UsageError("--record writes what it counts, and takes no --limit", f"change {path} afterwards")
    check_output(path, force)
    recorded = record_budget(
        words, runs=runs, until_all_end=watching["until_all_end"], how=watching["how"], progress=make_progress()
    )
    write_text(path, recorded.text)
    click.echo(f"Wrote {path}: limits that {recorded.runs} runs kept.")
    for text in recorded.varying:
        click.echo(f"  not limited, since it varies: {text}")
    if recorded.only_first_differs:
        click.echo(
            "  only the first run differs: it may have built what the others found. Let each begin as in CI, such as:\n"
            "    clonometer budget --record --force -- bash -c 'make clean && make test'"
        )


def _to_github(answer: LaunchBudget, *, to_stderr: bool) -> None:
    """Print annotations, and add the answer to the job's summary, where there is one."""
    from clonometer.cli.ending import complain
    from clonometer.views.documents.budget import budget_document
    from clonometer.views.exports.github import github_annotations
    from clonometer.views.markdown import render_markdown

    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    for line in github_annotations(answer, checkout, lambda path: (checkout / path).is_file()):
        click.echo(line, err=to_stderr)
    summary = os.environ.get(_SUMMARY)
    if summary:
        text = render_markdown(budget_document(answer)) + "\n"
        try:
            # Nobody need read from a pipe that has the name by mistake.
            with os.fdopen(os.open(summary, _APPEND, 0o666), "a", encoding="utf-8") as file:
                file.write(text)
        except (OSError, ValueError) as error:
            # The verdict is what was asked for, and has been given.
            why = why_not_written(error) if isinstance(error, OSError) else "its name has a NUL in it"
            complain(f"the job's summary was not written to {summary}: {why}")


def _status(answer: LaunchBudget) -> int:
    if answer.verdict is Gate.FAIL:
        return EXIT_REGRESSION
    if answer.timed_out:
        return EXIT_TIMED_OUT
    if answer.interrupted:
        return EXIT_INTERRUPTED
    if answer.verdict is Gate.UNKNOWN or answer.exit_status < 0:
        return EXIT_WRAPPER_FAILED
    return answer.exit_status


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.tracing.launch_limits import LaunchBudget

    return [
        JsonSchema(
            "budget",
            "A command's launches against limits. Times are in nanoseconds.",
            {"budget": LaunchBudget},
            title="clonometer budget --json",
        ),
    ]
