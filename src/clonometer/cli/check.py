"""``clonometer check``: a gate that alarms when something has become slower, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.compare import open_side
from clonometer.cli.console import print_record
from clonometer.cli.moments import NOISE_HELP, read_moments
from clonometer.cli.options import FILE, examples, json_option, max_regression_option
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_REGRESSION

if TYPE_CHECKING:
    from clonometer.plan.types import Plan
    from clonometer.results.check.types import Checked
    from clonometer.results.rows.evidence import Book

#: A row that is measured again gets this many times the processes that it had.
RERUN_FACTOR = 2

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
    help="The run before; repeatable.",
)
@max_regression_option
@click.option(
    "--rerun",
    is_flag=True,
    help="Measure suspicious rows again, for twice as long, and fail only if they are still slower.",
)
@click.option("--noise", "noise", metavar="FILE|FOLDER|SHARE", help=NOISE_HELP)
@click.option(
    "--undecided",
    type=click.Choice(["pass", "fail"]),
    help="End with 0 (pass) or 1 (fail) where the check cannot tell, instead of 3.",
)
@json_option
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
    wide: bool,
) -> int:
    """Check a run for regressions against a baseline.

    The status is 0 without a regression, 1 with a confirmed one, and 3 if it cannot tell.

    Two runs of one machine differ though nothing changed. --noise says by how much, and so do several runs a side,
    or three more runs in the same folder. With any of these at most 1% of checks raise a false
    alarm, however many cells there are. Without them a check of two runs ends with 3, and names the command that
    measures the noise.

    To compare two settings of this machine use 'clonometer ab': it starts both in turn and finds smaller changes.
    """
    from clonometer.results.check.check import check_again, check_runs
    from clonometer.results.check.types import CONFIRMED, NONE
    from clonometer.views.terminal.check import render_check

    given = None if noise is None else read_moments(noise)
    bases, runs = ([open_side(path) for path in paths] for paths in (baselines, run_files))
    moments = given or read_moments(None, [*bases, *runs] if len(bases) == len(runs) == 1 else ())
    checked = check_runs(bases, runs, max_regression=max_regression, moments=moments)
    if rerun and checked.flagged:
        try:
            again = _measure_again(checked, runs[0])
        except KeyboardInterrupt:
            click.echo("clonometer: interrupted before the rows in doubt were measured again", err=True)
            return EXIT_INTERRUPTED
        checked = check_again(checked, bases, again, moments)
    print_record(checked, render_check, as_json=as_json, wide=wide)
    cannot_tell = {"pass": 0, "fail": EXIT_REGRESSION}.get(undecided or "", EXIT_CANNOT_TELL)
    return {NONE: 0, CONFIRMED: EXIT_REGRESSION}.get(checked.verdict, cannot_tell)


def _measure_again(checked: Checked, run: Book) -> Book:
    """Measure the cells of flagged rows, interleaved in random order; KeyboardInterrupt if the user has had enough."""
    from clonometer.app.measuring import briefly_measured, find_catalogue
    from clonometer.app.seeds import draw_seed
    from clonometer.cli.progress import make_progress
    from clonometer.errors import unknown
    from clonometer.results.compare.sides import read_side
    from clonometer.results.schedule.scheduler import RoundsScheduler

    progress = make_progress()
    drivers, catalogue = find_catalogue(progress)
    plan = _plan_again(checked, run)
    for target in plan.targets:
        if target.workload not in catalogue.workloads:
            raise unknown("workload", target.workload, catalogue.workloads)
    seed = draw_seed()
    # Without a budget: every target gets the processes that it needs, and no more.
    scheduler = RoundsScheduler(seed, None)
    measured = briefly_measured(
        plan, catalogue, drivers, seed=seed, scheduler=scheduler, name="again", progress=progress
    )
    with measured as (again, outcome):
        return read_side(again, str(outcome.path))


def _plan_again(checked: Checked, run: Book) -> Plan:
    """The run's own plan, cut to the cells in doubt, each with twice the processes that it had.

    The others, which say what the machine does meanwhile, are measured beside them with half of their processes.
    """
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.metadata import from_metadata

    processes: dict[str, int] = {}
    for row in checked.flagged:
        measured = row.compared.other
        processes[measured.cell] = max(RERUN_FACTOR * measured.n_processes, processes.get(measured.cell, 0))
    for row in checked.rows:
        measured = row.compared.other
        processes.setdefault(measured.cell, -(-measured.n_processes // RERUN_FACTOR))
    plan = apply_only(from_metadata(run.metadata["plan"]), list(processes))
    targets = tuple(
        replace(target, limits=replace(target.limits, processes=max(processes[cell.text] for cell in target.cells)))
        for target in plan.targets
    )
    return replace(plan, name="again", title="what looked slower, again", targets=targets)
