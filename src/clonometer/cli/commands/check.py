"""``clonometer check``: a gate that alarms when something has become slower, and only then."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, NOISE_HELP, examples, json_option, max_regression_option, page_options
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_INTERRUPTED

#: Its place in the list of commands.
ORDER = 60

_EXAMPLES = examples(
    "clonometer check run.parquet --baseline main.parquet",
    "clonometer check run.parquet --baseline main.parquet --rerun",
    "clonometer check run.parquet --baseline main.parquet --noise noise.json",
    "clonometer check run.parquet --baseline main.parquet --undecided pass",
    "clonometer check new?.parquet --baseline a.parquet --baseline b.parquet",
    "clonometer check run.parquet --baseline main.parquet --max-regression 10%",
    "clonometer check run.parquet --baseline main.parquet --json | jq .verdict",
)


@click.command(name="check", epilog=_EXAMPLES)
@click.argument("run_files", metavar="RUN...", nargs=-1, required=True, type=FILE)
@click.option(
    "--baseline",
    "baselines",
    required=True,
    multiple=True,
    metavar="RUN",
    type=FILE,
    help="The earlier run; repeatable.",
)
@max_regression_option
@click.option(
    "--rerun",
    is_flag=True,
    help="Measure suspect rows again, for twice as long, and fail only if they are still slower.",
)
@click.option("--noise", "noise", metavar="FILE|FOLDER|SHARE", help=NOISE_HELP)
@click.option(
    "--undecided",
    type=click.Choice(["pass", "fail"]),
    help="Exit with 0 (pass) or 1 (fail) instead of 3 where the check cannot tell.",
)
@json_option
@page_options
@click.option("--wide", is_flag=True, help="Show every row.")
def command(
    *,
    run_files: tuple[Path, ...],
    baselines: tuple[Path, ...],
    max_regression: float,
    rerun: bool,
    noise: str | None,
    undecided: str | None,
    as_json: bool,
    pages: Pages,
    wide: bool,
) -> int:
    """Check a run for regressions against a baseline.

    The exit status is 0 if nothing regressed, 1 if a regression is confirmed, and 3 if the check cannot tell.

    Two runs of one machine differ even if nothing changed. How much they differ comes from --noise, from several runs
    per side, or from three more runs in the same folder. With any of these, at most 1% of checks raise a false alarm,
    however many cells there are. Without them, a check of two runs ends with 3 and names the command to measure it.

    To compare two settings of this machine, use 'clonometer ab': it starts both in pairs and detects smaller changes.
    """
    from clonometer.app.check import check
    from clonometer.cli.progress import make_progress
    from clonometer.verdicts import Gate
    from clonometer.views.documents.check import check_document

    progress = make_progress()
    try:
        checked = check(
            run_files, baselines, max_regression=max_regression, noise=noise, rerun=rerun, progress=progress
        )
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted before the rows in doubt were measured again", err=True)
        return EXIT_INTERRUPTED
    print_document(check_document, checked, pages=pages, as_json=as_json, wide=wide)
    verdict = Gate(undecided) if undecided and checked.verdict == Gate.UNKNOWN else checked.verdict
    return verdict.exit_status


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.check.types import Checked

    return [
        JsonSchema(
            "check",
            "A run compared with its baseline. Times are in nanoseconds.",
            {"checked": Checked},
            title="clonometer check --json",
        ),
    ]
