"""``clonometer ab``: two sides started in turn, in random order, until the difference is sure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.ab_commands import DASHES, CommandsWish, compare_commands
from clonometer.cli.completing import (
    complete_plans,
    complete_settings,
    complete_sides,
    complete_stages,
    complete_workloads,
)
from clonometer.cli.console import print_record
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
)
from clonometer.errors import EXIT_CANNOT_TELL, EXIT_INTERRUPTED, EXIT_REGRESSION, UnavailableError, UsageError

if TYPE_CHECKING:
    from clonometer.errors import ClonometerError
    from clonometer.plan.sides import Side
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.results.ab.turns import Counted
    from clonometer.results.ab.types import AbResult
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.run import RunOutcome
    from clonometer.stats.sequential import PairedDesign

_COMMANDS = "clonometer ab -- COMMAND_A -- COMMAND_B"
DEFAULT_OUT = "clonometer-ab.parquet"
#: Whose launches are compared where nothing is named.
DEFAULT_PLAN = "quick"
# Many short processes tell more than few long ones.
_LIMITS = {"samples": 60, "blocks": 1, "warmup": 10, "block_limit_ns": 30_000_000}

_EXAMPLES = examples(
    "clonometer ab launch.fork --a linkage=static --b linkage=dynamic_lazy",
    "clonometer ab fork_exec --b program=target_dynamic --max-regression 5%",
    "clonometer ab fork --set linkage=dynamic_lazy --b env:LD_PRELOAD=./mine.so",
    "clonometer ab fork --a driver=old/probe-static --b driver=new/probe-static",
    "clonometer ab fork --b do='sysctl -qw KEY=1' --b undo='sysctl -qw KEY=0'",
    "clonometer ab pthread --b stack_bytes=64KiB --json | jq '.rows[].sentence'",
    "clonometer ab --max-regression 5% -- ./old --fast -- ./new --fast",
)


@dataclass(frozen=True)
class _Wish:
    """What the command line asked for."""

    workloads: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    settings: tuple[str, ...]
    plan: str | None
    globs: tuple[str, ...]
    stages: tuple[str, ...]
    most_pairs: int
    budget_s: float
    minimum_effect: float
    max_regression: float | None
    seed: int

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


@click.command(name="ab", epilog=_EXAMPLES)
@click.argument("workloads", metavar="[WORKLOAD... | -- A -- B]", nargs=-1, shell_complete=complete_workloads)
@click.option(
    "--a",
    "a",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_sides,
    help="Of side A; repeatable. Else the defaults.",
)
@click.option(
    "--b",
    "b",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_sides,
    help="Of side B; repeatable. KEY is an axis, env:NAME, driver (a command), or do with undo, which sh -c runs "
    "before and after processes of B.",
)
@click.option(
    "--set",
    "settings",
    metavar="AXIS=V1,V2",
    multiple=True,
    shell_complete=complete_settings,
    help="Conditions of both sides; repeatable.",
)
@click.option("--plan", metavar="NAME|FILE", shell_complete=complete_plans, help="Compare the cells of a plan.")
@only_option
@click.option(
    "--stage",
    "stages",
    metavar="STAGE",
    multiple=True,
    shell_complete=complete_stages,
    help="Compare these stages only; repeatable.",
)
@click.option("--pairs", "most_pairs", metavar="N", type=int, default=200, show_default=True, help="The most pairs.")
@budget_option("How long to measure, at most: 30s or 2m.", default="60s")
@minimum_effect_option
@click.option(
    "--max-regression",
    metavar="SHARE",
    type=SHARE,
    help="Be a gate: exit with 1 if B is surely slower by more, with 3 if unclear.",
)
@click.option("--ignore-failure", is_flag=True, help="Let commands after -- exit as they like.")
@out_option(f"Default: {DEFAULT_OUT}, an old one is kept; of two commands: a .json file.")
@drawn_seed_option("Fixes the order. Default: drawn and kept.")
@json_option
@force_option
@click.option("--wide", is_flag=True, help="Show every row and reason.")
def command(
    *,
    out: Path | None,
    as_json: bool,
    force: bool,
    wide: bool,
    ignore_failure: bool,
    **asked: object,
) -> int:
    """Compare two sides by starting them in turn.

    Each pair is one process of A and one of B, right after each other; a coin decides which is first. So a machine
    that drifts slows both. Measuring ends when each row is surely slower, faster or the same, or when the time is
    over. If nothing differs, the chance that any row is called slower or faster is at most 5%.

    After -- stand two commands of your own: their wall time, CPU time and peak memory are compared.
    """
    from clonometer.views.terminal.ab import render_ab

    wish = _Wish(**asked)  # type: ignore[arg-type] # click has checked them
    if DASHES in wish.workloads:
        _check_commands(wish)
        as_asked = CommandsWish(
            wish.workloads, _design(wish), wish.budget_s, wish.seed, ignore_failure=ignore_failure, out=out, force=force
        )
        return compare_commands(as_asked, as_json=as_json, wide=wide)
    if ignore_failure:
        raise UsageError("--ignore-failure is of two commands", _COMMANDS)
    _check(wish)
    keep = out is None and not force
    outcome = _measure(wish, Path(DEFAULT_OUT) if out is None else out, force=force, keep=keep)
    if outcome.path is None:
        _say_nothing_was_measured(outcome)
        return outcome.exit_status
    result = _judge(outcome.path)
    print_record(result, render_ab, as_json=as_json, wide=wide)
    if outcome.trouble is not None:
        _say_trouble(outcome.trouble)
    for line in _closing_lines(outcome, wish):
        click.echo(line, err=as_json)
    return _exit_status(outcome, result)


def _check(wish: _Wish) -> None:
    if not wish.a and not wish.b:
        raise UsageError(
            "nothing says in what the sides differ",
            f"--b KEY=VALUE, for example --b linkage=dynamic_lazy; two commands: {_COMMANDS}",
        )
    if wish.workloads and wish.plan is not None:
        raise UsageError("workloads and --plan cannot be combined", "--only picks cells of a plan")
    _check_pairs(wish)


def _check_commands(wish: _Wish) -> None:
    """Two commands of the user's own have no conditions of ours."""
    others = {
        "--a": wish.a,
        "--b": wish.b,
        "--set": wish.settings,
        "--plan": wish.plan,
        "--only": wish.globs,
        "--stage": wish.stages,
    }
    for option, value in others.items():
        if value:
            raise UsageError(f"{option} is not for two commands", _COMMANDS)
    _check_pairs(wish)


def _check_pairs(wish: _Wish) -> None:
    from clonometer.runfile import MOST_PAIRS
    from clonometer.stats.sequential import FEWEST_PAIRS

    if wish.most_pairs < FEWEST_PAIRS:
        raise UsageError(
            f"--pairs {wish.most_pairs}: fewer than {FEWEST_PAIRS} pairs can show nothing",
            "leave --pairs out for up to 200: a change must be seen in 6 pairs that A began, and in 6 that B began",
        )
    if wish.most_pairs > MOST_PAIRS:
        raise UsageError(f"--pairs {wish.most_pairs}: the most is {MOST_PAIRS}")


def _design(wish: _Wish) -> PairedDesign:
    from clonometer.stats.sequential import PairedDesign

    return PairedDesign(wish.most_pairs, wish.minimum_effect, wish.max_regression)


def _measure(wish: _Wish, out: Path, *, force: bool, keep: bool) -> RunOutcome:
    from clonometer.cli.progress import make_progress
    from clonometer.results.ab.judgement import described
    from clonometer.results.ab.schedule import PairsScheduler
    from clonometer.results.ab.turns import Counted
    from clonometer.runfile import check_run_output
    from clonometer.runner.run import run
    from clonometer.runner.sides import SideStarts

    design = _design(wish)
    counted = Counted(frozenset(wish.stages), only_times=wish.max_regression is not None)
    drivers, catalogue, sides, plan = _prepare(wish, counted)
    check_run_output(out, force=force, keep=keep)
    scheduler = PairsScheduler(wish.seed, wish.budget_s, design, catalogue, counted)
    _say_what_is_compared(wish, sides, plan)
    return run(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=wish.seed,
        scheduler=scheduler,
        progress=make_progress(),
        command=wish.command(),
        force=force,
        keep=keep,
        starts=SideStarts(plan, sides, scheduler.pair_of),
        described={"sides": described((wish.a, wish.b), design, counted)},
        named=True,
    )


def _prepare(wish: _Wish, counted: Counted) -> tuple[Drivers, Catalogue, tuple[Side, Side], Plan]:
    """What is measured by whom: both sides of every target that this machine has."""
    from clonometer.app.measuring import find_catalogue
    from clonometer.cli.progress import make_progress
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.sides import plan_of_sides, read_side, with_side_axis
    from clonometer.runner.sides import check_commands, with_drivers

    drivers, catalogue = find_catalogue(make_progress())
    read = read_side("a", wish.a, catalogue), read_side("b", wish.b, catalogue)
    check_commands(read)
    drivers, catalogue, sides = with_drivers(drivers, catalogue, read)
    plan = apply_only(_plan(wish, catalogue), wish.globs)
    catalogue = with_side_axis(catalogue)
    plan = plan_of_sides(plan, sides, catalogue, strict=bool(wish.workloads))
    plan = _with_stages(plan, catalogue, counted)
    return drivers, catalogue, sides, _available(plan, catalogue, drivers)


def _plan(wish: _Wish, catalogue: Catalogue) -> Plan:
    from clonometer.app.measuring import say_lacking
    from clonometer.cli.progress import make_progress
    from clonometer.plan.adhoc import apply_only, apply_settings, plan_from_arguments
    from clonometer.plan.planfile import load_plan

    if wish.workloads:
        plan = plan_from_arguments(wish.workloads, wish.settings, catalogue, limits=_LIMITS)
        say_lacking(plan, wish.settings, make_progress())
    else:
        plan = load_plan(wish.plan or DEFAULT_PLAN, catalogue)
        if wish.plan is None:
            plan = apply_only(plan, ["launch.*"])
        plan = apply_settings(plan, wish.settings, catalogue)
    return replace(plan, name="ab", budget_seconds=wish.budget_s)


def _with_stages(plan: Plan, catalogue: Catalogue, counted: Counted) -> Plan:
    """Keep the targets of which something is compared; an unknown stage is a mistake."""
    from clonometer.errors import unknown

    known = {quantity.stage for quantity in catalogue.quantities.values() if quantity.stage is not None}
    for stage in counted.stages:
        if stage not in known:
            raise unknown("stage", stage, known)
    kept = [
        target
        for target in plan.targets
        if any(counted.has(quantity) for quantity in counted.of_workload(catalogue.raw, target.workload))
    ]
    if not kept:
        raise UsageError("nothing of these workloads can be compared", "a stage is only of launches, a gate of times")
    return replace(plan, targets=tuple(kept))


def _available(plan: Plan, catalogue: Catalogue, drivers: Drivers) -> Plan:
    """Leave out the pairs of which this machine does not have a side, and say so."""
    from clonometer.runner.ledger import why_unavailable

    kept, reasons = [], []
    for first, second in zip(plan.targets[::2], plan.targets[1::2], strict=True):
        whys = {
            f"{side} cannot be measured here: {first.workload}: {why}"
            for side, target in (("A", first), ("B", second))
            if (why := why_unavailable(target, catalogue, drivers)) is not None
        }
        reasons += sorted(whys)
        if not whys:
            kept += [first, second]
    if not kept:
        raise UnavailableError("; ".join(dict.fromkeys(reasons)))
    for reason in dict.fromkeys(reasons):
        click.echo(f"clonometer: left out: {reason}", err=True)
    return replace(plan, targets=tuple(kept))


def _say_what_is_compared(wish: _Wish, sides: tuple[Side, Side], plan: Plan) -> None:
    """Say what nobody has asked for in these words: the workloads, and which commands will switch the machine."""
    if not wish.workloads and wish.plan is None:
        named = ", ".join(dict.fromkeys(target.workload for target in plan.targets))
        click.echo(f"no workload is named: the launches of the plan {DEFAULT_PLAN} ({named})", err=True)
    for side in sides:
        if side.do:
            name = side.name.upper()
            click.echo(f"before processes of {name}: {side.do}; after them: {side.undo}", err=True)
        preloads = any(variable in side.environment for variable in ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"))
        static = [target for target in plan.targets if target.condition.get("linkage") in ("static", "musl")]
        if preloads and static:
            click.echo(
                "LD_ variables act on dynamic programs only, and the probe is static: --set linkage=dynamic_lazy",
                err=True,
            )


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


def _judge(path: Path) -> AbResult:
    from clonometer.results.ab.judgement import judge_run
    from clonometer.runfile import open_run

    with open_run(path) as measured:
        return judge_run(measured, str(path))


def _closing_lines(outcome: RunOutcome, wish: _Wish) -> list[str]:
    lines = [""]
    if outcome.status != "complete":
        lines.append(f"This run is {outcome.status}: {outcome.reason}.")
    lines += [f"  {end.status}: {end.cell}: {end.reason}" for end in outcome.cells if end.status == "failed"][:5]
    lines.append(f"Wrote {outcome.path}.")
    if outcome.status == "partial":
        lines.append(f"To compare again: {shlex.join(wish.command())}")
    return lines


def _exit_status(outcome: RunOutcome, result: AbResult) -> int:
    """An interruption first, then a regression that is sure, then what failed, then what cannot be told."""
    from clonometer.results.ab.types import CANNOT_TELL, CONFIRMED

    if outcome.exit_status == EXIT_INTERRUPTED:
        return EXIT_INTERRUPTED
    if result.verdict == CONFIRMED:
        return EXIT_REGRESSION
    if outcome.exit_status:
        return outcome.exit_status
    return EXIT_CANNOT_TELL if result.verdict == CANNOT_TELL or not result.is_told else 0
