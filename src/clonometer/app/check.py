"""``check``: whether runs have regressed against a baseline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.deciding import in_pairs
from clonometer.app.defaults import MOST_REGRESSION
from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.app.sides import open_side
from clonometer.app.variance import read_variance, stored_variance
from clonometer.errors import unknown
from clonometer.results.check.check import check_again, check_runs
from clonometer.results.check.types import Checked
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.verdicts import Gate

if TYPE_CHECKING:
    from clonometer.plan.types import Plan
    from clonometer.results.rows.run_estimates import RunEstimates

__all__ = ["check"]

#: A row that is measured again gets this many times the processes that it had.
RERUN_FACTOR = 2


@shown_as("check", "check_document")
def check(
    runs: Sequence[str | os.PathLike[str]],
    baselines: Sequence[str | os.PathLike[str]],
    *,
    max_regression: float = MOST_REGRESSION,
    noise: str | None = None,
    rerun: bool = False,
    progress: Progress = SILENT,
) -> Checked:
    """Check runs for regressions against a baseline.

    Parameters
    ----------
    runs, baselines
        Run files: at least one of each.
    max_regression
        The largest slowdown allowed, as a share.
    noise
        As in `clonometer.compare`.
    rerun
        Measure what looked slower again, now.
    progress
        Watches.

    Raises
    ------
    RunFileError
        If one is not a sound run file.
    UsageError, InputError
        If ``noise`` is not what it may be.
    KeyboardInterrupt
        The user has had enough of measuring again.
    """
    given = read_variance(noise)
    bases, others = ([open_side(Path(path)) for path in paths] for paths in (baselines, runs))
    variance = given or stored_variance([bases, others])
    checked = check_runs(bases, others, max_regression=max_regression, variance=variance, noise=noise)
    if rerun and checked.flagged:
        checked = check_again(checked, bases, _measure_again(checked, others[0], progress), variance)
    if checked.verdict != Gate.UNKNOWN or checked.same_run:
        return checked
    return replace(checked, in_pairs=in_pairs(bases[0], [row.compared for row in checked.rows]))


def _measure_again(checked: Checked, run: RunEstimates, progress: Progress) -> RunEstimates:
    """Measure the cells of flagged rows, interleaved in random order; KeyboardInterrupt if the user has had enough."""
    from clonometer.results.compare.sides import read_side
    from clonometer.results.schedule.scheduler import RoundsScheduler

    plan = _plan_again(checked, run)
    drivers, catalogue = find_catalogue(progress, [target.workload for target in plan.targets])
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


def _plan_again(checked: Checked, run: RunEstimates) -> Plan:
    """The run's own plan, cut to the cells in doubt, each with twice the processes that it had.

    The others, which say what the machine does meanwhile, are measured beside them with half of their processes.
    """
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.document import plan_of

    processes: dict[str, int] = {}
    for row in checked.flagged:
        measured = row.compared.other
        processes[measured.cell] = max(RERUN_FACTOR * measured.n_processes, processes.get(measured.cell, 0))
    for row in checked.rows:
        measured = row.compared.other
        processes.setdefault(measured.cell, -(-measured.n_processes // RERUN_FACTOR))
    plan = apply_only(plan_of(run.document.plan), list(processes))
    targets = tuple(
        replace(target, limits=replace(target.limits, processes=max(processes[cell.text] for cell in target.cells)))
        for target in plan.targets
    )
    return replace(plan, name="again", title="again what looked slower", targets=targets)
