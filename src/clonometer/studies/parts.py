"""Which plans reproduce which study, how they are made smaller, and what of them is still to be measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf

from clonometer.plan.expand import with_condition
from clonometer.plan.planfile import load_plan
from clonometer.plan.shipped import plan_names
from clonometer.plan.types import Catalogue, Limits, Plan, Target
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.results.types import FEWEST_PROCESSES
from clonometer.units import approximate_bytes

#: Which plans decide between studies: each with those that contradict each other in it.
RECONCILE = "reconcile"
RECONCILE_WORK = "reconcile-work"
#: Ordinary plans, by study; those that several studies need are measured once.
STUDY_PLANS: Mapping[str, tuple[str, ...]] = {
    "sysel-2020": ("sysel-2020", "flags", "sharing", "contend"),
    "bendersky-2018": ("bendersky-2018", "flags", "sharing"),
    "burian-2015": ("work-ops", "work-workers", "work-ablation", RECONCILE_WORK),
    "loop-10000": ("loop-10000", "flags"),
}
#: Seconds that each plan gets with --quick, and those that it gets at most in the full form, so that all of them
#: together stay within 20 minutes; without a limit it is the plan's own budget.
SECONDS: Mapping[str, tuple[float, float]] = {
    "sysel-2020": (18, 200),
    "bendersky-2018": (14, inf),
    "loop-10000": (9, inf),
    "flags": (4, inf),
    RECONCILE: (29, 160),
    "sharing": (14, 40),
    "contend": (14, 60),
    "work-ops": (8, 140),
    "work-workers": (12, 150),
    "work-ablation": (10, 75),
    RECONCILE_WORK: (16, 45),
}
# Intervals, ranks and wandering are those of processes: many short ones tell more than few long ones, and below 6
# there is no ratio.
_QUICK_PROCESSES = 8
# One cold sample a process, left to the scheduler: those on the parent's CPU and those on another are told apart.
_QUICK_COLD_FREE = 12
_QUICK_SAMPLES = 500
_QUICK_BLOCK_NS = 15_000_000
# A plan has so few of what takes long, such as workers: one of each process is enough.
_LONG_SAMPLES = 4
_QUICK_PARENT_BYTES = 512 << 20
# A parent of so much takes longest to build: with fewer processes of it all others get theirs within the time.
_DEAR_BYTES = 256 << 20
_DEAR_PROCESSES = 6
# More than any time that somebody waits has room for.
_ANY_NUMBER = 100_000
# A fork copies page tables only; what is built, read and rewritten needs room beside it all the same.
_MEMORY_SHARE = 0.6


@dataclass(frozen=True)
class Shrunk:
    """A condition that was made smaller: what was planned, what is measured, why."""

    planned_bytes: int
    bytes: int
    reason: str


def plans_for(studies: Iterable[str]) -> tuple[str, ...]:
    """Names of the plans that studies need, each once, what decides between them last."""
    return (*dict.fromkeys(name for study in studies for name in STUDY_PLANS[study]), RECONCILE)


def say_shrunk(shrunk: Iterable[Shrunk]) -> list[str]:
    """Say what was made smaller, in sentences."""
    return [
        f"{approximate_bytes(change.planned_bytes)} in the parent was made {approximate_bytes(change.bytes)} "
        f"({change.reason}); no figures are given for the larger size."
        for change in shrunk
    ]


def load_part(
    name: str, catalogue: Catalogue, *, quick: bool, available_bytes: int | None
) -> tuple[Plan, tuple[Shrunk, ...]]:
    """Load a plan and fit it to this machine.

    ``quick``: fewer processes and samples, and no parent that has written more than 512 MiB. ``available_bytes`` of
    memory may be used; None where it is not known.

    Gives the plan, and what was made smaller.
    """
    small = f"{name}-quick"
    plan = load_plan(small if quick and small in plan_names() else name, catalogue)
    most = inf if available_bytes is None else _MEMORY_SHARE * available_bytes
    why = "this machine has no more memory available"
    if quick and most > _QUICK_PARENT_BYTES:
        most, why = float(_QUICK_PARENT_BYTES), "--quick"
    shrunk: list[Shrunk] = []
    targets: dict[str, Target] = {}
    for target in plan.targets:
        fitted, change = _fit_memory(target, most, why, catalogue)
        if change is not None:
            shrunk.append(change)
        if quick:
            fitted = replace(fitted, limits=_quick_limits(fitted))
        targets.setdefault(fitted.cells[0].text, fitted)
    quick_s, most_s = SECONDS[name]
    budget = quick_s if quick else min(plan.budget_seconds, most_s)
    named = small if quick else plan.name
    made = replace(plan, name=named, targets=tuple(targets.values()), budget_seconds=float(budget))
    return made, tuple(dict.fromkeys(shrunk))


def _fit_memory(target: Target, most: float, why: str, catalogue: Catalogue) -> tuple[Target, Shrunk | None]:
    planned = _written_bytes(target)
    if planned <= most:
        return target, None
    size = 1 << 20
    while size * 2 <= most:
        size *= 2
    condition = {**target.condition, "parent_bytes": size}
    temperatures = {cell.temperature for cell in target.cells}
    fitted = with_condition(target, condition, temperatures, catalogue, limits=target.limits)
    return fitted, Shrunk(planned, size, why)


def _written_bytes(target: Target) -> int:
    """What the parent has written: memory that is never touched takes addresses alone."""
    memory = target.condition.get("parent_bytes")
    return memory if isinstance(memory, int) and target.condition.get("page_kind") != "untouched" else 0


def _quick_processes(target: Target) -> int:
    cold = any(cell.temperature == "cold" for cell in target.cells)
    return _QUICK_COLD_FREE if cold and target.condition.get("placement") == "free" else _QUICK_PROCESSES


def _quick_limits(target: Target) -> Limits:
    limits, dear = target.limits, _written_bytes(target) >= _DEAR_BYTES
    return replace(
        limits,
        processes=min(limits.processes, _DEAR_PROCESSES if dear else _quick_processes(target)),
        samples=1 if limits.samples <= _LONG_SAMPLES else min(limits.samples, _QUICK_SAMPLES),
        warmup=min(limits.warmup, 5),
        block_limit_ns=min(limits.block_limit_ns, _QUICK_BLOCK_NS) if limits.block_limit_ns else 0,
    )


def remaining(plan: Plan, done: Mapping[str, int]) -> Plan:
    """What of a plan is still to be measured.

    ``done`` says how many processes have measured each cell.

    Examples
    --------
    >>> remaining(Plan("empty", "", 1.0, ()), {}).targets
    ()
    """
    left = []
    for target in plan.targets:
        have = min(done.get(cell.text, 0) for cell in target.cells)
        if have < target.limits.processes:
            left.append(replace(target, limits=replace(target.limits, processes=target.limits.processes - have)))
    return replace(plan, targets=tuple(left))


def prolonged(plan: Plan, seconds: float) -> Plan:
    """The same cells, with as many processes as fit into a time."""
    targets = tuple(replace(target, limits=replace(target.limits, processes=_ANY_NUMBER)) for target in plan.targets)
    return replace(plan, targets=targets, budget_seconds=seconds)


#: For so many times the budget targets are waited for that have too few processes for a ratio.
_PATIENCE = 3


class CappedRounds(RoundsScheduler):
    """Rounds until every target has the processes that its limits name, and no longer than a budget.

    Below 6 processes there is no ratio: on a busy machine they get up to 3 times the budget. Each target gets one,
    whatever the budget.
    """

    def __init__(self, seed: int, most_s: float) -> None:
        super().__init__(seed, None)
        self._most_s = most_s

    def next_target(self, elapsed_s: float) -> int | None:
        """Name the target to start now, or None where measuring ends."""
        if elapsed_s > self._end_s() and all(self._seconds[target] for target in self._live()):
            return None
        return super().next_target(elapsed_s)

    def _end_s(self) -> float:
        owed = any(len(self._seconds[target]) < min(FEWEST_PROCESSES, self._wanted[target]) for target in self._live())
        return self._most_s * (_PATIENCE if owed else 1)

    def remaining_s(self, elapsed_s: float) -> float | None:
        """Estimate the seconds of measuring that are left; None before anything is known."""
        left = super().remaining_s(elapsed_s)
        return None if left is None else min(left, max(0.0, self._end_s() - elapsed_s))
