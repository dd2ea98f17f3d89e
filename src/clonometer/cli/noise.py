"""``clonometer noise``: this machine against itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.completing import complete_plans
from clonometer.cli.console import print_record
from clonometer.cli.options import drawn_seed_option, examples, json_option, number_option, only_option, share_option
from clonometer.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.plan.types import Plan
    from clonometer.results.rows.evidence import Book

#: Both halves of a round get what one ordinary run gets.
HALVES = 2

_EXAMPLES = examples(
    "clonometer noise                       about a minute and a half",
    "clonometer noise --rounds 20           closer on the rate of false alarms",
    "clonometer noise --plan default --rounds 1",
    "clonometer noise --rounds 5 --json > noise.json",
    "clonometer noise --json | jq '.rows[] | [.cell, .stage, .detectable_change]'",
)


@click.command(name="noise", epilog=_EXAMPLES)
@click.option(
    "--plan",
    metavar="NAME|FILE",
    default="quick",
    show_default=True,
    shell_complete=complete_plans,
    help="What to measure.",
)
@only_option
@number_option("--rounds", "rounds", "Number of rounds; each takes twice the plan's time.", 3)
@share_option("--max-regression", "max_regression", "5%", "The largest slow-down allowed, as in 'clonometer check'.")
@drawn_seed_option("Fixes the order of measuring.")
@json_option
@click.option("--wide", is_flag=True, help="Show every stage.")
def command(
    *,
    plan: str,
    globs: tuple[str, ...],
    rounds: int,
    max_regression: float,
    seed: int,
    as_json: bool,
    wide: bool,
) -> int:
    """Measure the noise of this machine: a plan against itself.

    It prints the smallest slow-down that 'clonometer check' would find in each cell. It also prints how often the
    check alarmed although nothing had changed. It writes no file.
    """
    from clonometer.results.noise.noise import measure_noise
    from clonometer.views.terminal.noise import render_noise

    sides, name, status = _measure(plan, globs, rounds, seed)
    if not sides:
        click.echo("clonometer: interrupted before one round was measured", err=True)
        return EXIT_INTERRUPTED
    click.echo("measured; working out what a check would find", err=True)
    noise = measure_noise(sides, name, max_regression=max_regression)
    print_record(noise, render_noise, as_json=as_json, wide=wide)
    return status


def _measure(plan_name: str, globs: tuple[str, ...], rounds: int, seed: int) -> tuple[list[Book], str, int]:
    """Measure the rounds; give what each brings, the plan's name and the exit status."""
    from clonometer.app.measuring import briefly_measured, find_catalogue
    from clonometer.cli.progress import make_progress
    from clonometer.plan.adhoc import apply_only
    from clonometer.plan.planfile import load_plan
    from clonometer.results.compare.sides import read_side
    from clonometer.results.schedule.stopping import TargetScheduler, timed_quantities

    progress = make_progress()
    drivers, catalogue = find_catalogue(progress)
    plan = apply_only(load_plan(plan_name, catalogue), globs)
    doubled = _doubled(plan)
    sides: list[Book] = []
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
            return sides, plan.name, EXIT_INTERRUPTED
    return sides, plan.name, status


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
