"""``clonometer run``: measure, keep, answer."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.app.results import read_results
from clonometer.app.run import RunRequest
from clonometer.app.since import VARIABLE, since_last_time
from clonometer.cli.answers import SCREEN_LINES, print_answer
from clonometer.cli.completing import complete_plans, complete_settings, complete_workloads
from clonometer.cli.console import plain_width
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    FILE,
    SHARE,
    budget_option,
    drawn_seed_option,
    examples,
    only_option,
    out_option,
    time_option,
)
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED, ClonometerError, UnfinishedError, UsageError
from clonometer.files import why_not_written

if TYPE_CHECKING:
    from clonometer.runner.run import RunOutcome

DEFAULT_OUT = "clonometer-run.parquet"

#: Its place in the list of commands.
ORDER = 10

_EXAMPLES = examples(
    "clonometer run",
    "clonometer run launch.fork --set parent_bytes=0,1GiB",
    "clonometer run 'launch.*' --set placement=pinned,free --budget 30s",
    "clonometer run --plan my-plan.toml --out mine.parquet --keep-previous",
    "clonometer run --json | jq '.findings[].sentence'",
)


@click.command(name="run", epilog=_EXAMPLES)
@click.argument("workloads", metavar="[WORKLOAD]...", nargs=-1, shell_complete=complete_workloads)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=V1,V2",
    multiple=True,
    shell_complete=complete_settings,
    help="Measure with these values of an axis; repeatable. See 'clonometer list AXIS'.",
)
@click.option(
    "--plan",
    metavar="NAME|FILE",
    shell_complete=complete_plans,
    help="A plan by name, or a TOML file. Without workloads and plan: default.",
)
@only_option
@budget_option(
    "Measure for at most this long: 30s or 2m. Cells not measured by then get 5 s more. Whatever is still running "
    "after twice TIME plus 4 s is stopped."
)
@click.option(
    "--target-width",
    metavar="SHARE",
    type=SHARE,
    help="Stop when half of every interval is below this share of its median. Default: 2%.",
)
@click.option(
    "--sure",
    is_flag=True,
    help="Stop when the first question is decided; after 5 minutes at most.",
)
@out_option(f"The run file. Default: {DEFAULT_OUT}; an existing one becomes NAME.previous.parquet.")
@click.option("--html", "--report", "html", metavar="FILE", type=FILE, help="Also write the report as an HTML page.")
@click.option("--markdown", metavar="FILE", type=FILE, help="Also write the report as Markdown.")
@drawn_seed_option("Fixes the random order. Default: drawn at random, and recorded in the file.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option(
    "--keep-previous",
    is_flag=True,
    help="Keep an existing FILE of --out as NAME.previous.parquet; replace reports.",
)
@click.option("--wide", is_flag=True, help="Show every row and column, however wide.")
@click.option(
    "--no-since",
    is_flag=True,
    envvar=VARIABLE,
    help=f"Do not compare with the last run of this plan, and do not remember this one. Also: {VARIABLE}=1.",
)
@time_option(
    "--driver-timeout",
    "timeout_s",
    "Kill a driver that takes longer than this. Default: many times the expected duration.",
)
def command(
    *,
    out: Path | None,
    html: Path | None,
    markdown: Path | None,
    as_json: bool,
    force: bool,
    keep_previous: bool,
    wide: bool,
    no_since: bool,
    timeout_s: float | None,
    **asked: object,
) -> int:
    """Measure workloads, or a plan, and print the answer.

    Fresh processes measure the cells in random order. Everything goes to one Parquet file, which other tools can read.
    """
    request = RunRequest(**asked)  # type: ignore[arg-type] # click has checked them
    request.check()
    # Without --out nobody has named a file that could be refused: the former one is kept.
    keep = (out is None or keep_previous) and not force
    pages = Pages(html, markdown)
    outputs = _Outputs(Path(DEFAULT_OUT) if out is None else out, pages, force, keep, keep_previous)
    outcome = _measure(request, outputs, timeout_s)
    if outcome.path is None:
        return outcome.exit_status
    since = None if no_since else since_last_time(outcome.path)
    closing = _closing_lines(outcome, outputs, request, since)
    _answer(outcome.path, pages, as_json=as_json, wide=wide, lines=SCREEN_LINES - len(closing))
    # With --json standard output holds one JSON object and nothing else. The screen says why a run is not complete.
    if as_json and outcome.status != "complete":
        click.echo(f"This run is {outcome.status}: {outcome.reason}.", err=True)
    for line in closing:
        click.echo(line, err=as_json)
    return outcome.exit_status


def _say_nothing_was_measured(outcome: RunOutcome, reported: Collection[str]) -> None:
    """Say why there is no file; ``reported`` are the lines that progress has said already."""
    if outcome.exit_status == EXIT_INTERRUPTED:
        click.echo("clonometer: interrupted before anything was measured; no file was written", err=True)
        return
    click.echo("clonometer: none of what was requested can be measured here; no file was written", err=True)
    for reason in dict.fromkeys(str(end.reason) for end in outcome.cells):
        if not any(line.endswith(reason) for line in reported):
            click.echo(f"  {reason}", err=True)


def _answer(path: Path, pages: Pages, *, as_json: bool, wide: bool, lines: int) -> None:
    """Print the answer and write the reports; the run file is there, whatever becomes of them."""
    try:
        results = read_results(path)
        print_answer(results, as_json=as_json, wide=wide, lines=lines)
        if pages:
            from clonometer.views.documents.run import run_document

            pages.write(run_document(results), say=False)
    except BrokenPipeError:
        # Whoever read the answer has seen enough of it.
        raise
    except (ClonometerError, OSError) as error:
        why = f"cannot print the answer: {why_not_written(error)}" if isinstance(error, OSError) else error.message
        raise UnfinishedError(why, f"{path} is written", f"clonometer show {shlex.quote(str(path))}") from error


@dataclass(frozen=True)
class _Outputs:
    """The files of a run; ``replace_pages`` says that existing reports may be replaced."""

    out: Path
    pages: Pages
    force: bool
    keep: bool
    replace_pages: bool

    def check(self) -> None:
        """Refuse now what could not be written later."""
        from clonometer.cli.commands.report import check_is_page
        from clonometer.runfile import check_run_output

        check_run_output(self.out, force=self.force, keep=self.keep)
        self.pages.check(force=self.force or self.replace_pages)
        if self.pages.html is not None:
            check_is_page(self.pages.html, "--html")
        if self.out.absolute() in {path.absolute() for path in self.pages.paths}:
            raise UsageError("--out and a report name the same file")


def _measure(request: RunRequest, outputs: _Outputs, timeout_s: float | None) -> RunOutcome:
    from clonometer.app.run import measure, prepare
    from clonometer.cli.progress import make_progress

    progress = make_progress()
    prepared = prepare(request, progress)
    # After what was asked for: a mistake in a name is told first.
    outputs.check()
    outcome = measure(
        request,
        prepared,
        out=outputs.out,
        force=outputs.force,
        keep=outputs.keep,
        driver_timeout_s=timeout_s,
        progress=progress,
    )
    if outcome.path is None:
        _say_nothing_was_measured(outcome, progress.reported)
    return outcome


def _closing_lines(outcome: RunOutcome, outputs: _Outputs, request: RunRequest, since: str | None) -> list[str]:
    """What follows the answer: which cells failed, where the files are, and what changed since the last run."""
    from clonometer.views.terminal.text import wrap

    lines: list[str] = []
    troubled = [end for end in outcome.cells if end.status == "failed"]
    lines += [f"  failed: {end.cell}: {end.reason}" for end in troubled[:5]]
    if len(troubled) > 5:
        lines.append(f"  and {len(troubled) - 5} more: clonometer show {shlex.quote(str(outcome.path))} --json")
    *files, last = map(str, [outcome.path, *outputs.pages.paths])
    written = f"{', '.join(files)} and {last}" if files else last
    kept = f"; the old run is {outcome.previous}" if outcome.previous is not None else ""
    decided = ""
    if outcome.decided_after_s is not None:
        whole = f" of {outcome.measured_s:.0f} s" if outcome.measured_s >= outcome.decided_after_s + 1 else ""
        decided = f" Decided after {outcome.decided_after_s:.1f} s{whole}."
    lines += wrap(f"Wrote {written}{kept}.{decided}", plain_width())
    if outcome.status == "partial":
        other = outputs.out.with_name(f"{outputs.out.stem}-2{outputs.out.suffix}")
        lines.append(f"To measure all of it: {shlex.join(request.command())} --out {shlex.quote(str(other))}")
    if since is not None:
        lines += wrap(since, plain_width())
    elif outcome.previous is not None:
        lines.append(f"  clonometer compare {shlex.quote(str(outcome.previous))} {shlex.quote(str(outputs.out))}")
    if outcome.previous_raw is not None:
        lines.append(f"An unfinished run is kept: clonometer recover {shlex.quote(str(outcome.previous_raw))}")
    return lines


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.run_document import RunDocument

    return [
        JsonSchema(
            "run",
            "Everything about a run except its samples: the JSON object under the key clonometer in the metadata of "
            "a run "
            "file (docs/runfile.md). Times are in nanoseconds.",
            {"run": RunDocument},
            title="the run document",
            has_nulls=False,
        ),
    ]
