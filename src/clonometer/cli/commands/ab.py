"""``clonometer ab``: two sides started in turn, in random order, until the difference is sure."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.app.ab import AbRequest
from clonometer.cli.ab_commands import DASHES, compare_commands, split_commands
from clonometer.cli.completing import (
    complete_plans,
    complete_settings,
    complete_sides,
    complete_stages,
    complete_workloads,
)
from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import (
    SHARE,
    budget_option,
    drawn_seed_option,
    examples,
    force_option,
    json_option,
    minimum_effect_option,
    only_option,
    out_option,
    page_options,
)
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_REGRESSION, UsageError

if TYPE_CHECKING:
    from clonometer.errors import ClonometerError
    from clonometer.results.ab.types import AbResult
    from clonometer.runner.run import RunOutcome

DEFAULT_OUT = "clonometer-ab.parquet"
#: Its place in the list of commands.
ORDER = 40

_EXAMPLES = examples(
    "clonometer ab --b env:X=1 -- ./mine --fast      without X and with it",
    "clonometer ab --max-regression 5% -- ./old --fast -- ./new --fast",
    "clonometer ab fork pthread --set parent_bytes=64MiB",
    "clonometer ab fork --a linkage=static --b linkage=dynamic_lazy",
    "clonometer ab fork --set linkage=dynamic_lazy --b env:LD_PRELOAD=./mine.so",
    "clonometer ab fork --a driver=old/probe-static --b driver=new/probe-static",
    "clonometer ab fork --b do='sysctl -qw KEY=1' --b undo='sysctl -qw KEY=0'",
)


class _Commands(click.RichCommand):
    """A command in which ``--`` begins a command of the user's own; click would take it for the end of the options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the first ``--`` as a word of its own, as all others are."""
        at = args.index(DASHES) if DASHES in args else len(args)
        return super().parse_args(ctx, [*args[:at], *(args[at:] and [DASHES]), *args[at:]])


@click.command(name="ab", cls=_Commands, epilog=_EXAMPLES)
@click.argument("workloads", metavar="[A B | WORKLOAD... | -- A [-- B]]", nargs=-1, shell_complete=complete_workloads)
@click.option(
    "--a",
    "a",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_sides,
    help="A setting of side A; repeatable.",
)
@click.option(
    "--b",
    "b",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_sides,
    help="The same of B. KEY: env:NAME; do, undo (what sh -c runs before and after processes of B); of workloads an "
    "axis, driver.",
)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=V1,V2",
    multiple=True,
    shell_complete=complete_settings,
    help="For both sides; repeatable.",
)
@click.option("--plan", metavar="NAME|FILE", shell_complete=complete_plans, help="Compare the cells of a plan.")
@only_option
@click.option(
    "--stage",
    "stages",
    metavar="STAGE",
    multiple=True,
    shell_complete=complete_stages,
    help="Compare only these stages; repeatable.",
)
@click.option(
    "--pairs", "most_pairs", metavar="N", type=int, default=200, show_default=True, help="Maximum number of pairs."
)
@budget_option("Maximum time: 30s or 2m.", default="60s")
@minimum_effect_option
@click.option(
    "--max-regression",
    metavar="SHARE",
    type=SHARE,
    help="Exit with 1 if B is certainly slower by more, and with 3 if ab cannot tell.",
)
@click.option("--ignore-failure", is_flag=True, help="Accept any exit status of commands.")
@out_option(f"Default: {DEFAULT_OUT}.")
@drawn_seed_option("Fixes the order. Default: a random one.")
@json_option
@page_options
@force_option
@click.option("--wide", is_flag=True, help="Show every row and reason.")
def command(
    *,
    out: Path | None,
    as_json: bool,
    pages: Pages,
    force: bool,
    wide: bool,
    ignore_failure: bool,
    **asked: object,
) -> int:
    """Compare two sides, A and B, by starting them in pairs.

    The sides are a command of your own without and with a setting, two commands, two workloads, or workloads with
    settings.

    A pair is one process of each side, one right after the other in random order: what drifts slows down both.
    Measuring ends when every row is certainly slower, faster or the same, or when time runs out. If nothing differs,
    the chance that any row is called slower or faster is at most 5%.
    """
    from clonometer.app.ab import judge, measure
    from clonometer.cli.progress import make_progress
    from clonometer.views.documents.ab import ab_document

    request = AbRequest(**asked)  # type: ignore[arg-type] # click has checked them
    if DASHES in request.workloads:
        _check_commands(request)
        return compare_commands(
            *split_commands(request),
            request,
            ignore_failure=ignore_failure,
            out=out,
            force=force,
            pages=pages,
            as_json=as_json,
            wide=wide,
        )
    if ignore_failure:
        raise UsageError("--ignore-failure needs commands", "clonometer ab --ignore-failure -- A -- B")
    request.check()
    keep = out is None and not force
    outcome = measure(
        request, Path(DEFAULT_OUT) if out is None else out, force=force, keep=keep, progress=make_progress()
    )
    if outcome.path is None:
        _say_nothing_was_measured(outcome)
        return outcome.exit_status
    result = judge(outcome.path)
    print_document(ab_document, result, pages=pages, as_json=as_json, wide=wide)
    if outcome.trouble is not None:
        _say_trouble(outcome.trouble)
    for line in _closing_lines(outcome, request):
        click.echo(line, err=as_json)
    return _exit_status(outcome, result)


def _check_commands(request: AbRequest) -> None:
    """Commands of the user's own have no conditions of ours."""
    others = {
        "--set": request.settings,
        "--plan": request.plan,
        "--only": request.globs,
        "--stage": request.stages,
    }
    for option, value in others.items():
        if value:
            raise UsageError(f"{option} does not apply to commands of your own")


def _say_nothing_was_measured(outcome: RunOutcome) -> None:
    if outcome.exit_status == EXIT_INTERRUPTED:
        click.echo("clonometer: interrupted before anything was measured; no file was written", err=True)
        return
    if outcome.trouble is not None:
        _say_trouble(outcome.trouble)
    else:
        reasons = [outcome.reason] if outcome.reason else [str(end.reason) for end in outcome.cells]
        for reason in dict.fromkeys(reasons):
            click.echo(f"clonometer: {reason}", err=True)
    click.echo("clonometer: nothing was measured; no file was written", err=True)


def _say_trouble(trouble: ClonometerError) -> None:
    click.echo(f"clonometer: error: {trouble.message}", err=True)
    if trouble.hint:
        click.echo(f"  {trouble.hint}", err=True)


def _closing_lines(outcome: RunOutcome, request: AbRequest) -> list[str]:
    lines = [""]
    if outcome.status != "complete":
        lines.append(f"This run is {outcome.status}: {outcome.reason}.")
    lines += [f"  {end.status}: {end.cell}: {end.reason}" for end in outcome.cells if end.status == "failed"][:5]
    lines.append(f"Wrote {outcome.path}.")
    if outcome.status == "partial":
        lines.append(f"To compare again: {shlex.join(request.command())}")
    return lines


def _exit_status(outcome: RunOutcome, result: AbResult) -> int:
    """An interruption first, then a regression that is sure, then what failed, then what cannot be told."""
    from clonometer.verdicts import Gate

    if outcome.exit_status == EXIT_INTERRUPTED:
        return EXIT_INTERRUPTED
    if result.verdict == Gate.FAIL:
        return EXIT_REGRESSION
    if outcome.exit_status:
        return outcome.exit_status
    return EXIT_CANNOT_TELL if result.verdict == Gate.UNKNOWN or not result.has_answer else 0


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.results.ab.command_types import CommandsResult
    from clonometer.results.ab.types import AbResult

    return [
        JsonSchema(
            "ab",
            "Two sides that were started in pairs: B compared with A. Times are in nanoseconds, ratios B over A.",
            {"ab": AbResult},
            title="clonometer ab --json",
        ),
        JsonSchema(
            "ab-commands",
            "Two commands that were started in pairs: B compared with A. Ratios are B over A.",
            {"commands": CommandsResult},
            title="clonometer ab --json -- COMMAND_A -- COMMAND_B",
        ),
    ]
