"""``run``: measure workloads or a plan into a run file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clonometer.app.measuring import find_catalogue, say_lacking
from clonometer.app.seeds import draw_seed
from clonometer.errors import UsageError
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    import os

    from clonometer.plan.types import Catalogue, Plan
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.run import RunOutcome

__all__ = ["run"]

DEFAULT_PLAN = "default"
# A budget that the user named is kept; a plan's own one may be exceeded so far for enough processes.
PLAN_STRETCH = 1.5
# So long is a question pursued where no budget is named.
SURE_S = 300.0
# So long may cells that had no turn yet be measured once beyond a named budget.
OVERTIME_S = 5.0
# Twice the budget and 5 s after its start a command has ended; the last second is for the answer.
_MOST_OVERTIME_S = 4.0


@dataclass(frozen=True)
class RunRequest:
    """What is to be measured: workloads with settings, or a plan by name or file; by default the plan ``default``."""

    workloads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    plan: str | None = None
    globs: tuple[str, ...] = ()
    budget_s: float | None = None
    target_width: float | None = None
    sure: bool = False
    seed: int = field(default_factory=draw_seed)
    began_s: float = field(default_factory=time.monotonic)

    def command(self) -> list[str]:
        """The command line that repeats the run: the same cells in the same order."""
        words = ["clonometer", "run", *self.workloads]
        for option, values in (("--set", self.settings), ("--only", self.globs)):
            words += [word for value in values for word in (option, value)]
        if self.plan is not None:
            words += ["--plan", self.plan]
        if self.budget_s is not None:
            words += ["--budget", f"{self.budget_s:g}"]
        if self.target_width is not None:
            words += ["--target-width", f"{self.target_width:g}"]
        if self.sure:
            words.append("--sure")
        return [*words, "--seed", str(self.seed)]

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises
        ------
        UsageError
            If both workloads and a plan are given, or two ways to end.
        """
        if self.workloads and self.plan is not None:
            raise UsageError("workloads and --plan cannot be combined", "--only selects cells of a plan")
        if self.sure and self.target_width is not None:
            raise UsageError("--sure and --target-width cannot be combined", "--sure ends when the question is decided")


class Prepared(NamedTuple):
    """Who measures, what there is to measure, and what of it will be."""

    drivers: Drivers
    catalogue: Catalogue
    plan: Plan


def run(
    workloads: Sequence[str] = (),
    *,
    settings: Sequence[str] = (),
    plan: str | os.PathLike[str] | None = None,
    only: Sequence[str] = (),
    budget_s: float | None = None,
    target_width: float | None = None,
    sure: bool = False,
    seed: int | None = None,
    out: str | os.PathLike[str],
    force: bool = False,
    progress: Progress = SILENT,
) -> RunOutcome:
    """Measure workloads, or a plan, and write the run file.

    Every cell is measured by fresh processes in random order. Call it from the main thread: SIGINT, SIGTERM, SIGHUP
    and SIGQUIT end the measuring, and what was measured is then kept as a partial run.

    Parameters
    ----------
    workloads
        Such as ``launch.fork`` or ``fork``; none measures a plan.
    settings
        Values of axes, such as ``parent_bytes=0,1GiB``.
    plan
        A plan by name, or a TOML file; by default ``default``.
    only
        Globs of cells: the others are left out.
    budget_s
        How long to measure, in seconds; by default as long as the plan says.
    target_width
        Stop when half of each interval's width over its median is this small; by default that of the plan.
    sure
        Measure until the first question is decided, for five minutes at most or ``budget_s``.
    seed
        Fixes the random order; by default it is drawn.
    out
        The run file.
    force
        Replace an existing one.
    progress
        Watches.

    Raises
    ------
    UsageError
        If something of that name does not exist, or both workloads and a plan are given.
    OutputError
        If the file exists, or cannot be written.
    DriverError
        If no driver can be used.
    """
    request = RunRequest(
        tuple(workloads),
        tuple(settings),
        None if plan is None else str(plan),
        tuple(only),
        budget_s,
        target_width,
        sure,
        draw_seed(seed),
    )
    request.check()
    return measure(request, prepare(request, progress), out=Path(out), force=force, progress=progress)


def prepare(request: RunRequest, progress: Progress = SILENT) -> Prepared:
    """Find the drivers, and make the plan that is asked for.

    Raises
    ------
    UsageError
        If something of that name does not exist.
    DriverError
        If no driver can be used.
    """
    from clonometer.plan.planfile import plan_workloads

    names = request.workloads or plan_workloads(request.plan or DEFAULT_PLAN)
    drivers, catalogue = find_catalogue(progress, names)
    plan = _make_plan(request, catalogue)
    if request.workloads:
        say_lacking(plan, request.settings, progress)
    return Prepared(drivers, catalogue, plan)


def measure(
    request: RunRequest,
    prepared: Prepared,
    *,
    out: Path,
    force: bool = False,
    keep: bool = False,
    driver_timeout_s: float | None = None,
    progress: Progress = SILENT,
) -> RunOutcome:
    """Measure until intervals are narrow enough, or the question is decided, or the budget is spent.

    See `clonometer.runner.run.run`.
    """
    from clonometer.app.run_watch import RunWatch
    from clonometer.results.schedule.stopping import TargetScheduler, timed_quantities
    from clonometer.runner import run as runner

    drivers, catalogue, plan = prepared
    budget_s = request.budget_s
    # Starting counts too: on a busy machine it takes seconds. Building drivers first may take longer than the budget:
    # whoever waited for that still gets what was asked for.
    spent_s = time.monotonic() - request.began_s
    most_s = None if budget_s is None else max(budget_s, 2 * budget_s + _MOST_OVERTIME_S - spent_s)
    scheduler = TargetScheduler(
        request.seed,
        plan.budget_seconds,
        timed_quantities(catalogue),
        target_width=plan.target_width,
        stretch=PLAN_STRETCH if budget_s is None else 1.0,
        overtime_s=None if budget_s is None else OVERTIME_S,
        until_decided=plan.question or () if request.sure else (),
    )
    watch = None if progress is SILENT and not request.sure else RunWatch(progress, scheduler, out.name)
    outcome = runner.run(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=request.seed,
        scheduler=scheduler,
        watch=watch,
        progress=progress,
        command=request.command(),
        force=force,
        keep=keep,
        driver_timeout_s=driver_timeout_s,
        most_seconds=most_s,
        named=bool(request.workloads),
    )
    return outcome if watch is None else replace(outcome, decided_after_s=watch.decided_after_s)


def _make_plan(request: RunRequest, catalogue: Catalogue) -> Plan:
    from clonometer.plan.adhoc import apply_only, apply_settings, plan_from_arguments
    from clonometer.plan.planfile import load_plan

    if request.workloads:
        plan = plan_from_arguments(request.workloads, request.settings, catalogue, budget_seconds=request.budget_s)
    else:
        plan = apply_settings(load_plan(request.plan or DEFAULT_PLAN, catalogue), request.settings, catalogue)
    if request.budget_s is not None:
        plan = replace(plan, budget_seconds=request.budget_s)
    elif request.sure:
        plan = replace(plan, budget_seconds=max(plan.budget_seconds, SURE_S))
    if request.target_width is not None:
        plan = replace(plan, target_width=request.target_width)
    plan = apply_only(plan, request.globs)
    if request.sure and plan.question is None:
        raise UsageError(
            "--sure needs one question: two workloads, or two values of an axis", "clonometer run fork pthread --sure"
        )
    return plan
