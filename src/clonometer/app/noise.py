"""``noise``: this machine against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from clonometer.app.defaults import MOST_REGRESSION
from clonometer.app.layouts import INTERRUPTED, measure_layouts
from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.errors import EXIT_INTERRUPTED
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.plan.types import Plan
    from clonometer.results.noise.types import Noise
    from clonometer.results.rows.run_estimates import RunEstimates

__all__ = ["noise"]

#: Both halves of a round get what one ordinary run gets.
HALVES = 2


class MeasuredRounds(NamedTuple):
    """What each round brings to comparisons, the name of the plan, and the exit status of its runs."""

    sides: list[RunEstimates]
    plan: str
    exit_status: int


class NoiseOutcome(NamedTuple):
    """The noise of a machine, and the exit status of what was measured for it."""

    noise: Noise
    exit_status: int


@shown_as("noise", "noise_document")
def noise(
    plan: str = "quick",
    *,
    only: Sequence[str] = (),
    rounds: int = 3,
    max_regression: float = MOST_REGRESSION,
    layout_s: float | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> Noise:
    """Measure the noise of this machine, a plan against itself, and what a check would find.

    Parameters
    ----------
    plan
        By name, or a TOML file.
    only
        Globs of cells: the others are left out.
    rounds
        How often; each takes twice the plan's time.
    max_regression
        The largest slow-down that the check would allow, as a share.
    layout_s
        For how long to measure what the layout of memory adds to the scatter; by default not at all.
    seed
        Fixes the order of measuring; by default it is drawn.
    progress
        Watches.

    Raises
    ------
    UsageError
        If there is no such plan.
    DriverError
        If no driver can be used.
    KeyboardInterrupt
        The user has had enough before one round was measured.
    """
    return measure(
        plan,
        only,
        rounds=rounds,
        max_regression=max_regression,
        layout_s=layout_s,
        seed=draw_seed(seed),
        progress=progress,
    ).noise


def measure(
    plan: str,
    globs: Sequence[str],
    *,
    rounds: int,
    max_regression: float,
    layout_s: float | None,
    seed: int,
    progress: Progress = SILENT,
) -> NoiseOutcome:
    """Measure the noise as `noise` does; where the user has had enough, from what was measured until then."""
    from clonometer.results.noise.noise import measure_noise

    measured = measure_rounds(plan, globs, rounds, seed, progress)
    if not measured.sides:
        raise KeyboardInterrupt
    layouts, status = None, measured.exit_status
    if layout_s is not None and status != EXIT_INTERRUPTED:
        layouts = measure_layouts(plan, globs, seconds=layout_s, seed=seed + rounds, progress=progress)
        status = EXIT_INTERRUPTED if layouts.reason == INTERRUPTED else status
    progress.say("measured; computing what a check would detect")
    noise = measure_noise(measured.sides, measured.plan, max_regression=max_regression)
    return NoiseOutcome(replace(noise, layouts=layouts), status)


def measure_rounds(
    plan_name: str, globs: Sequence[str], rounds: int, seed: int, progress: Progress = SILENT
) -> MeasuredRounds:
    """Measure a plan so often; where the user has had enough, what was measured until then.

    Raises
    ------
    UsageError
        If there is no such plan.
    DriverError
        If no driver can be used.
    """
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.planfile import load_plan
    from clonometer.results.compare.sides import read_side
    from clonometer.results.schedule.stopping import TargetScheduler, timed_quantities

    drivers, catalogue = find_catalogue(progress)
    plan = apply_only(load_plan(plan_name, catalogue), globs)
    doubled = _doubled(plan)
    sides: list[RunEstimates] = []
    status = 0
    for number in range(rounds):
        order = seed + number
        scheduler = TargetScheduler(
            order, doubled.budget_seconds, timed_quantities(catalogue), target_width=doubled.target_width
        )
        measured = briefly_measured(
            doubled, catalogue, drivers, seed=order, scheduler=scheduler, name=f"round-{number}", progress=progress
        )
        try:
            with measured as (run, outcome):
                status = max(status, outcome.exit_status)
                sides.append(read_side(run, str(outcome.path)))
        except KeyboardInterrupt:
            return MeasuredRounds(sides, plan.name, EXIT_INTERRUPTED)
    return MeasuredRounds(sides, plan.name, status)


def _doubled(plan: Plan) -> Plan:
    targets = tuple(
        replace(target, limits=replace(target.limits, processes=HALVES * target.limits.processes))
        for target in plan.targets
    )
    # Of both halves together an interval is narrower by the root of two, where each is as narrow as was wanted.
    return replace(
        plan,
        budget_seconds=HALVES * plan.budget_seconds,
        target_width=plan.target_width / HALVES**0.5,
        targets=targets,
    )
