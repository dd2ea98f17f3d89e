"""``ab``: two sides, started in turn."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.defaults import LEAST_EFFECT
from clonometer.app.measuring import find_catalogue, say_lacking
from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.errors import UnavailableError, UsageError
from clonometer.runner.interfaces import SILENT, Progress

if TYPE_CHECKING:
    from clonometer.plan.sides import Side
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.results.ab.turns import Counted
    from clonometer.results.ab.types import AbResult
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.run import RunOutcome
    from clonometer.stats.sequential import PairedDesign

__all__ = ["ab"]

#: Whose launches are compared where nothing is named.
DEFAULT_PLAN = "quick"
# Many short processes tell more than few long ones.
_START_NS = 15_000_000
_LIMITS = {"samples": 60, "blocks": 1, "warmup": 10, "block_limit_ns": 30_000_000}


@dataclass(frozen=True)
class AbRequest:
    """What is to be compared: workloads or a plan, in what the sides differ, how closely, and for how long."""

    workloads: tuple[str, ...] = ()
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    plan: str | None = None
    globs: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    most_pairs: int = 200
    budget_s: float = 60.0
    minimum_effect: float = LEAST_EFFECT
    max_regression: float | None = None
    seed: int = field(default_factory=draw_seed)

    def command(self) -> list[str]:
        """The command line that repeats it."""
        words = ["clonometer", "ab", *self.workloads]
        several = (("--a", self.a), ("--b", self.b), ("--set", self.settings), ("--only", self.globs))
        for option, values in (*several, ("--stage", self.stages)):
            words += [word for value in values for word in (option, value)]
        words += [] if self.plan is None else ["--plan", self.plan]
        words += ["--pairs", str(self.most_pairs), "--budget", f"{self.budget_s:g}"]
        words += ["--min-effect", f"{self.minimum_effect:g}"]
        words += [] if self.max_regression is None else ["--max-regression", f"{self.max_regression:g}"]
        return [*words, "--seed", str(self.seed)]

    def check(self) -> None:
        """Refuse what cannot be compared.

        Raises
        ------
        UsageError
            If the two sides do not differ, both workloads and a plan are given, or a workload is a file.
        """
        from clonometer.plan.sides import NO_DIFFERENCE, WHAT_DIFFERS

        file = next((word for word in self.workloads if os.sep in word), None)
        if file is not None:
            both = shlex.join(["clonometer", "ab", *(word for each in self.workloads for word in ("--", each))])
            raise UsageError(f"{file} is no workload", f"commands follow --: {both}")
        if not (self.a or self.b or self.workloads):
            raise UsageError(NO_DIFFERENCE, WHAT_DIFFERS)
        if self.workloads and self.plan is not None:
            raise UsageError("workloads and --plan cannot be combined", "--only selects cells of a plan")

    def design(self) -> PairedDesign:
        """How many pairs there are at most, and what they must show.

        Raises
        ------
        UsageError
            If that many pairs can show nothing, or are too many.
        """
        from clonometer.run_document import MOST_PAIRS
        from clonometer.stats.sequential import FEWEST_PAIRS, PairedDesign

        if self.most_pairs < FEWEST_PAIRS:
            raise UsageError(
                f"--pairs {self.most_pairs}: with fewer than {FEWEST_PAIRS} pairs nothing can be shown",
                "leave --pairs out for up to 200: a change must show in 6 pairs started by A, and in 6 started by B",
            )
        if self.most_pairs > MOST_PAIRS:
            raise UsageError(f"--pairs {self.most_pairs}: the maximum is {MOST_PAIRS}")
        return PairedDesign(self.most_pairs, self.minimum_effect, self.max_regression)


@shown_as("ab", "ab_document")
def ab(
    workloads: Sequence[str] = (),
    *,
    a: Sequence[str] = (),
    b: Sequence[str] = (),
    settings: Sequence[str] = (),
    stages: Sequence[str] = (),
    budget_s: float = 60.0,
    minimum_effect: float = LEAST_EFFECT,
    max_regression: float | None = None,
    seed: int | None = None,
    out: str | os.PathLike[str],
    force: bool = False,
    progress: Progress = SILENT,
) -> AbResult:
    """Compare two sides, or two workloads, by starting their processes in pairs, one of A and one of B.

    Measuring ends when each row is certainly slower, faster or the same, or when the time is over. Call it from the
    main thread, like `clonometer.run`.

    Parameters
    ----------
    workloads
        Such as ``launch.fork``; by default the launches of the plan ``quick``. Two of them, without ``a`` and ``b``,
        are the sides.
    a, b
        In what the sides differ: ``axis=value``, ``env:NAME=value``, ``driver=command``, ``do=command`` with
        ``undo=command``.
    settings
        Conditions of both sides, such as ``parent_bytes=1GiB``.
    stages
        Only these are compared.
    budget_s
        How long to measure, in seconds, at most.
    minimum_effect, max_regression
        The least change that counts, and the largest slow-down that a gate allows; shares.
    seed
        Fixes the order; by default it is drawn.
    out
        The run file.
    force
        Replace an existing one.
    progress
        Watches.

    Raises
    ------
    UsageError
        If something of that name does not exist, or nothing can be compared.
    UnavailableError
        If this machine has none of it.
    KeyboardInterrupt
        The user has had enough before one pair was measured.
    """
    request = AbRequest(
        tuple(workloads), tuple(a), tuple(b), tuple(settings), stages=tuple(stages), budget_s=budget_s,
        minimum_effect=minimum_effect, max_regression=max_regression, seed=draw_seed(seed),
    )  # fmt: skip
    request.check()
    outcome = measure(request, Path(out), force=force, progress=progress)
    if outcome.path is None:
        raise outcome.trouble or KeyboardInterrupt
    return judge(outcome.path)


def longest_s(launches_ns: Sequence[float]) -> float:
    """How long all pairs take at most of sides whose launches take so long, with what starting each process takes."""
    processes_ns = sum(
        _START_NS + min(_LIMITS["samples"] * each, _LIMITS["block_limit_ns"]) + (1 + _LIMITS["warmup"]) * each
        for each in launches_ns
    )
    return min(AbRequest.budget_s, AbRequest.most_pairs * processes_ns * 1e-9)


def measure(
    request: AbRequest, out: Path, *, force: bool = False, keep: bool = False, progress: Progress = SILENT
) -> RunOutcome:
    """Measure pairs until each row is decided, or the time is over: see `clonometer.runner.run.run`.

    Raises
    ------
    UsageError
        If something of that name does not exist, or nothing can be compared.
    UnavailableError
        If this machine has none of it.
    OutputError
        If the file cannot be written.
    """
    from clonometer.records import to_json
    from clonometer.results.ab.judgement import described
    from clonometer.results.ab.schedule import PairsScheduler
    from clonometer.results.ab.turns import Counted
    from clonometer.runfile import check_run_output
    from clonometer.runner import run as runner
    from clonometer.runner.sides import SideHooks

    design = request.design()
    counted = Counted(frozenset(request.stages), only_times=request.max_regression is not None)
    drivers, catalogue, sides, plan = _prepare(request, counted, progress)
    check_run_output(out, force=force, keep=keep)
    scheduler = PairsScheduler(request.seed, request.budget_s, design, catalogue, counted)
    _say_what_is_compared(request, sides, plan, catalogue, progress)
    return runner.run(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=request.seed,
        scheduler=scheduler,
        progress=progress,
        command=request.command(),
        force=force,
        keep=keep,
        hooks=SideHooks(plan, sides, scheduler.pair_of),
        described={"sides": to_json(described([side.settings for side in sides], design, counted))},
        named=True,
    )


def _prepare(
    request: AbRequest, counted: Counted, progress: Progress
) -> tuple[Drivers, Catalogue, tuple[Side, Side], Plan]:
    """What is measured by whom: both sides of every target that this machine has."""
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.planfile import plan_workloads
    from clonometer.plan.sides import plan_of_sides, read_side, sides_of_workloads, with_side_axis
    from clonometer.runner.sides import check_commands, with_drivers

    names = request.workloads or plan_workloads(request.plan or DEFAULT_PLAN)
    drivers, catalogue = find_catalogue(progress, names)
    read = read_side("a", request.a, catalogue), read_side("b", request.b, catalogue)
    check_commands(read)
    drivers, catalogue, sides = with_drivers(drivers, catalogue, read)
    plan = apply_only(_plan(request, catalogue, progress), request.globs)
    if not (request.a or request.b):
        sides = sides_of_workloads(plan)
    catalogue = with_side_axis(catalogue)
    plan = plan_of_sides(plan, sides, catalogue, strict=bool(request.workloads))
    plan = _with_stages(plan, catalogue, counted)
    return drivers, catalogue, sides, _available(plan, catalogue, drivers, progress)


def _plan(request: AbRequest, catalogue: Catalogue, progress: Progress) -> Plan:
    from clonometer.plan.adhoc import apply_only, apply_settings, plan_from_arguments
    from clonometer.plan.planfile import load_plan

    if request.workloads:
        plan = plan_from_arguments(request.workloads, request.settings, catalogue, limits=_LIMITS)
        say_lacking(plan, request.settings, progress)
    else:
        plan = load_plan(request.plan or DEFAULT_PLAN, catalogue)
        if request.plan is None:
            plan = apply_only(plan, ["launch.*"])
        plan = apply_settings(plan, request.settings, catalogue)
    return replace(plan, name="ab", budget_seconds=request.budget_s)


def _with_stages(plan: Plan, catalogue: Catalogue, counted: Counted) -> Plan:
    """Keep the targets of which something is compared; an unknown stage is a mistake."""
    from clonometer.errors import unknown
    from clonometer.records import from_json
    from clonometer.run_document import CatalogueEntry

    described = from_json(CatalogueEntry, catalogue.raw)
    known = {quantity.stage for quantity in catalogue.quantities.values() if quantity.stage is not None}
    for stage in counted.stages:
        if stage not in known:
            raise unknown("stage", stage, known)
    kept = [
        target
        for target in plan.targets
        if any(counted.has(quantity) for quantity in counted.of_workload(described, target.workload))
    ]
    if not kept:
        raise UsageError("none of these workloads can be compared", "only launches have stages, and a gate needs times")
    return replace(plan, targets=tuple(kept))


def _available(plan: Plan, catalogue: Catalogue, drivers: Drivers, progress: Progress) -> Plan:
    """Leave out the pairs of which this machine does not have a side, and say so."""
    from clonometer.runner.ledger import why_unavailable

    kept, reasons = [], []
    for first, second in zip(plan.targets[::2], plan.targets[1::2], strict=True):
        whys = {
            f"{side} cannot be measured here: {target.workload}: {why}"
            for side, target in (("A", first), ("B", second))
            if (why := why_unavailable(target, catalogue, drivers)) is not None
        }
        reasons += sorted(whys)
        if not whys:
            kept += [first, second]
    if not kept:
        raise UnavailableError("; ".join(dict.fromkeys(reasons)))
    for reason in dict.fromkeys(reasons):
        progress.say(f"clonometer: left out: {reason}")
    return replace(plan, targets=tuple(kept))


def _say_what_is_compared(
    request: AbRequest, sides: tuple[Side, Side], plan: Plan, catalogue: Catalogue, progress: Progress
) -> None:
    """Say what nobody has asked for in these words: the workloads, and which commands will switch the machine."""
    from clonometer.families import family
    from clonometer.words import mechanism_name

    tasks = {
        target.workload: family(catalogue.workloads[target.workload].family).task or "" for target in plan.targets[:2]
    }
    if all(tasks.values()) and len(set(tasks.values())) > 1:
        both = " and ".join(f"{mechanism_name(workload)} {task}" for workload, task in tasks.items())
        progress.say(f"{both}: these are not the same task")
    if not request.workloads and request.plan is None:
        named = ", ".join(dict.fromkeys(target.workload for target in plan.targets))
        progress.say(f"no workload is named: the launches of the plan {DEFAULT_PLAN} ({named})")
    for side in sides:
        if side.do:
            name = side.name.upper()
            progress.say(f"before processes of {name}: {side.do}; after them: {side.undo}")
        of_linker = any(variable.startswith("LD_") for variable in side.environment)
        static = [target for target in plan.targets if target.condition.get("linkage") in ("static", "musl")]
        if of_linker and static:
            progress.say(
                "LD_ variables affect only dynamic programs, and the probe is static: --set linkage=dynamic_lazy"
            )


def judge(path: Path) -> AbResult:
    """Judge the pairs of a run file.

    Raises
    ------
    RunFileError
        If it is not a sound run file with pairs.
    """
    from clonometer.results.ab.judgement import judge_run
    from clonometer.runfile import open_run

    with open_run(path) as measured:
        return judge_run(measured, str(path))
