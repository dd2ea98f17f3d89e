"""``clonometer check``: a gate that alarms when something has become slower, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.compare import open_side
from clonometer.cli.console import print_drawn, print_json
from clonometer.cli.options import SHARE, examples
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.plan.types import Plan
    from clonometer.results.check.types import Checked
    from clonometer.results.rows.evidence import Book

EXIT_REGRESSION = 1
#: A row that is measured again gets this many times the processes that it had.
RERUN_FACTOR = 2

_EXAMPLES = examples(
    "clonometer check run.parquet --baseline main.parquet",
    "clonometer check run.parquet --baseline main.parquet --rerun",
    "clonometer check run.parquet --baseline main.parquet --max-regression 10%",
    "clonometer check run.parquet --baseline main.parquet --json | jq .verdict",
)


@click.command(name="check", epilog=_EXAMPLES)
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--baseline", required=True, metavar="RUN", type=click.Path(path_type=Path), help="The run before.")
@click.option(
    "--max-regression",
    metavar="SHARE",
    type=SHARE,
    default="5%",
    show_default=True,
    help="The largest slow-down allowed.",
)
@click.option(
    "--rerun",
    is_flag=True,
    help="Measure suspicious rows again, for twice as long, and fail only if they are still slower.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--wide", is_flag=True, help="Show every row.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    run_file: Path,
    baseline: Path,
    max_regression: float,
    rerun: bool,
    as_json: bool,
    wide: bool,
) -> None:
    """Check a run for regressions against a baseline.

    Exits with 0 if there is none, 1 if one is confirmed, 3 if it cannot tell. A false alarm is designed to happen in at
    most 1% of checks, however many cells there are.
    """
    from clonometer.results.check.check import check_again, check_runs
    from clonometer.results.check.types import CONFIRMED, NONE

    base, run = open_side(baseline), open_side(run_file)
    checked = check_runs(base, run, max_regression=max_regression)
    if rerun and checked.flagged:
        again = _measure_again(checked, run)
        if again is None:
            click.echo("clonometer: interrupted before the rows in doubt were measured again", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        checked = check_again(checked, base, again)
    _print(checked, as_json=as_json, wide=wide)
    ctx.exit({NONE: 0, CONFIRMED: EXIT_REGRESSION}.get(checked.verdict, EXIT_CANNOT_TELL))


def _measure_again(checked: Checked, run: Book) -> Book | None:
    """Measure the cells of flagged rows, interleaved in random order; None if that was interrupted."""
    from clonometer.cli.measuring import draw_seed, find_catalogue, measure_plan
    from clonometer.errors import unknown
    from clonometer.results.schedule.scheduler import RoundsScheduler
    from clonometer.runner.folder import temporary_folder

    drivers, catalogue = find_catalogue()
    plan = _plan_again(checked, run)
    for target in plan.targets:
        if target.workload not in catalogue.workloads:
            raise unknown("workload", target.workload, catalogue.workloads)
    seed = draw_seed()
    with temporary_folder() as folder:
        out = folder / "again.parquet"
        # Without a budget: every target gets the processes that it needs, and no more.
        scheduler = RoundsScheduler(seed, None)
        outcome = measure_plan(
            plan,
            catalogue,
            drivers,
            out=out,
            seed=seed,
            scheduler=scheduler,
            command=["clonometer", "check", "--rerun"],
        )
        if outcome.path is None or outcome.exit_status == EXIT_INTERRUPTED:
            return None
        return open_side(outcome.path)


def _plan_again(checked: Checked, run: Book) -> Plan:
    """The run's own plan, cut to the cells in doubt, each with twice the processes that it had.

    What says how fast the machine is is measured beside them, with half of its processes, but no fewer than are needed
    to compare it as it was.
    """
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.metadata import from_metadata
    from clonometer.results.check.types import LEAST_PROCESSES

    processes: dict[str, int] = {}
    for row in checked.flagged:
        measured = row.compared.other
        processes[measured.cell] = max(RERUN_FACTOR * measured.n_processes, processes.get(measured.cell, 0))
    if checked.machine_kinds:
        for row in checked.rows:
            measured = row.compared.other
            half = -(-measured.n_processes // RERUN_FACTOR)
            processes.setdefault(measured.cell, max(half, min(measured.n_processes, LEAST_PROCESSES)))
    plan = apply_only(from_metadata(run.metadata["plan"]), list(processes))
    targets = tuple(
        replace(target, limits=replace(target.limits, processes=max(processes[cell.text] for cell in target.cells)))
        for target in plan.targets
    )
    return replace(plan, name="again", title="what looked slower, again", targets=targets)


def _print(checked: Checked, *, as_json: bool, wide: bool) -> None:
    if as_json:
        from clonometer.records import to_json

        print_json(to_json(checked))
        return
    from clonometer.views.terminal.check import render_check

    print_drawn(render_check, checked, characters="µ–→…", wide=wide)
