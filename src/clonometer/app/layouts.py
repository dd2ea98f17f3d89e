"""What layouts of memory that are drawn for each process add to the scatter of a plan's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.results.noise.types import Layouts

#: The reason of an answer where the user has had enough.
INTERRUPTED = "the measurement was interrupted"


def measure_layouts(
    plan_name: str, globs: Sequence[str], *, seconds: float, seed: int, progress: Progress = SILENT
) -> Layouts:
    """Measure a plan for so long, half of its processes two by two with one layout of memory.

    Raises
    ------
    DriverError, UsageError
        As when a plan is measured.
    """
    from clonometer.app.measuring import briefly_measured, find_catalogue
    from clonometer.errors import UnavailableError
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.planfile import load_plan
    from clonometer.results.noise.layout import find_layouts
    from clonometer.results.noise.types import Layouts
    from clonometer.results.schedule.scheduler import RoundsScheduler
    from clonometer.runner.layout import LayoutHooks, kernel_draws_nothing

    try:
        with kernel_draws_nothing():
            pass
    except UnavailableError as error:
        return Layouts(error.message, None)
    drivers, catalogue = find_catalogue()
    plan = apply_only(load_plan(plan_name, catalogue), globs)
    # Who wants fewer processes is left out of rounds otherwise, until the others have theirs.
    targets = tuple(replace(each, limits=replace(each.limits, processes=1)) for each in plan.targets)
    measured = briefly_measured(
        replace(plan, targets=targets, budget_seconds=seconds),
        catalogue,
        drivers,
        seed=seed,
        scheduler=RoundsScheduler(seed, seconds),
        name="layouts",
        progress=progress,
        hooks=LayoutHooks(seed),
    )
    try:
        with measured as (run, _):
            return find_layouts(run)
    except KeyboardInterrupt:
        return Layouts(INTERRUPTED, None)
