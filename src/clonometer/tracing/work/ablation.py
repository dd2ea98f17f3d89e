"""The ablation beside an explanation: shared things taken away one after the other, and the gap that is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import median

from clonometer.errors import UnavailableError
from clonometer.plan.adhoc import apply_settings
from clonometer.plan.cell import AxisValue
from clonometer.plan.planfile import load_plan
from clonometer.plan.types import Catalogue, Target
from clonometer.results.series.ablation import written_ablation
from clonometer.results.series_types import SIDES, TASK_KIND, AblationSeries
from clonometer.stats.ladder import Ladder, ladder_of_differences
from clonometer.stats.processes import Processes
from clonometer.tracing.source import Tracer
from clonometer.tracing.work.budget import SEED
from clonometer.tracing.work.measure import WORKLOAD, limited
from clonometer.tracing.work.read import executions

PLAN = "work-ablation"
# What the plan takes from the condition that is explained; all else is what it takes away.
_KEPT = ("workers", "numbers", "cutoff", "cpus", "linkage", "output_folder")


def ablate(
    tracer: Tracer, target: Target, catalogue: Catalogue, rounds: int, watch: Callable[[int, int], None]
) -> AblationSeries:
    """Measure the plan ``work-ablation`` with as many workers and numbers as ``target``, untraced.

    Raises
    ------
    UnavailableError
        If a rung has no execution.
    """
    rungs = _rungs(target, catalogue)
    whole_ns: dict[str, list[float]] = {}
    starts: dict[str, list[float]] = {}
    for round_ in range(rounds):
        for _, sides in rungs:
            # Both sides next to each other, each first in half of the rounds.
            for side in sides if round_ % 2 == 0 else sides[::-1]:
                text = side.cells[0].text
                starts.setdefault(text, []).append(time.monotonic())
                wholes_ns = [each.whole_ns for each in executions(tracer.trace(side, "none"))]
                if not wholes_ns:
                    raise UnavailableError(f"no execution of {text} succeeded", "clonometer run says why")
                whole_ns.setdefault(text, []).append(float(median(wholes_ns)))
        watch(round_ + 1, rounds)
    processes = {text: Processes.of(values, starts[text]) for text, values in whole_ns.items()}
    measured = [(condition, tuple(processes[side.cells[0].text] for side in sides)) for condition, sides in rungs]
    ladder = ladder_of_differences([(sides[0], sides[1]) for _, sides in measured], seed=SEED)
    return _series([condition for condition, _ in measured], [sides for _, sides in measured], ladder, target)


def _rungs(target: Target, catalogue: Catalogue) -> list[tuple[Mapping[str, AxisValue], tuple[Target, Target]]]:
    """Conditions of the plan with both sides of each, in its order."""
    defaults = {axis: catalogue.axes[axis].default for axis in target.condition}
    kept = [
        f"{axis}={value}"
        for axis, value in target.condition.items()
        if axis in _KEPT and (axis in ("workers", "numbers") or value != defaults[axis])
    ]
    plan = apply_settings(load_plan(PLAN, catalogue), kept, catalogue)
    by_condition: dict[tuple[tuple[str, AxisValue], ...], dict[str, Target]] = {}
    for planned in plan.targets:
        others = tuple((axis, value) for axis, value in planned.condition.items() if axis != TASK_KIND)
        by_condition.setdefault(others, {})[str(planned.condition[TASK_KIND])] = limited(planned)
    return [(dict(others), (kinds[SIDES[0]], kinds[SIDES[1]])) for others, kinds in by_condition.items()]


def _series(
    conditions: list[Mapping[str, AxisValue]], sides: list[tuple[Processes, ...]], ladder: Ladder, target: Target
) -> AblationSeries:
    taken: list[tuple[str, AxisValue] | None] = [None]
    for before, after in pairwise(conditions):
        taken.append(next(((axis, after[axis]) for axis in after if before.get(axis) != after[axis]), None))
    medians_ns = [(float(median(thread.values)), float(median(process.values))) for thread, process in sides]
    condition = {axis: target.condition[axis] for axis in ("workers", "numbers")}
    return written_ablation(ladder, taken, medians_ns, workload=WORKLOAD, quantity="whole_ns", condition=condition)
