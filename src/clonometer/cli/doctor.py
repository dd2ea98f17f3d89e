"""``clonometer doctor``: whether the instrument works here and tells the truth."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.examples import examples

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Target
    from clonometer.results.self_test import Check, KnownSamples, WallCheck
    from clonometer.runner.drivers import Drivers

WORKLOADS = ("launch.fork", "launch.pthread")
PLACEMENTS = ("pinned", "free")
EXIT_WRONG = 1
EXIT_CANNOT_TELL = 3
EXIT_FAILED = 4


@click.command(name="doctor", epilog=examples("clonometer doctor", "clonometer doctor --self-test"))
@click.option(
    "--self-test",
    "self_test",
    is_flag=True,
    help="Inject delays of known length and check that each stage moves as it must.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=2),
    default=4,
    show_default=True,
    help="Processes for each known delay.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, self_test: bool, rounds: int, as_json: bool) -> None:
    """Check the instrument: its drivers, its clock and, with --self-test, its answers.

    The self-test launches processes and threads with delays of 20 and 200 us before the call returns, before
    the child's stamp and before its exit. It ends with status 1 if a stage does not move as the placement
    predicts, and with 3 where that happens while other tasks keep the CPUs busy.
    """
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers

    drivers = find_drivers()
    catalogue = read_catalogue(drivers.descriptions)
    clock = drivers.calibrate()
    if not self_test:
        facts = _describe(drivers, catalogue, clock)
        click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(_facts_lines(facts)))
        return
    from clonometer.results.self_test import check_moves, check_walls, passed

    measured, failures, busy = _measure_known(drivers, catalogue, clock, rounds)
    for failure in failures:
        click.echo(f"clonometer: {failure}", err=True)
    moves, walls = check_moves(measured), check_walls(measured)
    good = passed(moves, walls)
    if as_json:
        click.echo(json.dumps(_as_json(moves, walls, good, busy), indent=2))
    else:
        click.echo("\n".join(_table(moves, walls)))
        click.echo(_verdict(good, busy))
    if failures:
        ctx.exit(EXIT_FAILED)
    ctx.exit(0 if good else EXIT_CANNOT_TELL if busy else EXIT_WRONG)


def _describe(drivers: Drivers, catalogue: Catalogue, clock: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "clock": clock,
        "drivers": [
            *({"name": driver.name, "linkage": driver.linkage, "reason": None} for driver in drivers.usable),
            *({"name": name, "linkage": None, "reason": reason} for name, reason in drivers.broken.items()),
        ],
        "lacks": [dict(lack) for lack in catalogue.lacks],
    }


def _facts_lines(facts: dict[str, Any]) -> Iterator[str]:
    clock = facts["clock"]
    rate = f" at {clock['clock_hz'] / 1e6:,.3f} MHz" if clock.get("clock_hz") else ""
    yield f"Clock    {clock['clock']}{rate}, one reading costs {clock.get('cost_ns', 0.0):.1f} ns"
    yield f"         {clock.get('reason') or ''}"
    for entry in facts["drivers"]:
        yield f"Driver   {entry['name']}: {entry['reason'] or entry['linkage'] or 'usable'}"
    for lack in facts["lacks"]:
        yield f"Lacks    {lack['what']}: {lack['reason']}"
    yield ""
    yield "'clonometer doctor --self-test' checks its answers against known delays."


def _targets(catalogue: Catalogue) -> list[tuple[Target, str | None, int]]:
    """Make every experiment: its target, the delay's key and its length in ns."""
    from dataclasses import replace

    from clonometer.plan.adhoc import plan_from_arguments
    from clonometer.results.self_test import INJECTED_NS, SPINS

    settings = [f"placement={','.join(PLACEMENTS)}", "temperature=warm"]
    limits = {"samples": 100, "blocks": 1, "warmup": 20, "block_limit_ns": 0}
    plan = plan_from_arguments(WORKLOADS, settings, catalogue, budget_seconds=1.0, limits=limits)
    cases: list[tuple[str | None, int]] = [(None, 0)]
    cases += [(spin, injected_ns) for spin in SPINS for injected_ns in INJECTED_NS]
    return [
        (replace(target, options={} if spin is None else {spin: injected_ns}), spin, injected_ns)
        for target in plan.targets
        for spin, injected_ns in cases
    ]


def _measure_known(
    drivers: Drivers, catalogue: Catalogue, clock: dict[str, Any], rounds: int
) -> tuple[list[KnownSamples], list[str], int]:
    """Measure all experiments ``rounds`` times, each time in a new order.

    Gives the samples, the failures as sentences, and how many other tasks were seen running at most.
    """
    from clonometer.results.self_test import KnownSamples
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.measure import measure

    experiments = _targets(catalogue)
    order = random.Random(1)
    known: list[KnownSamples] = []
    failures: dict[str, None] = {}
    busy = 0
    with interruption() as wish:
        for number in range(rounds):
            busy = max(busy, _other_running_tasks())
            if sys.stderr.isatty():
                click.echo(f"round {number + 1} of {rounds}", err=True)
            for target, spin, injected_ns in order.sample(experiments, len(experiments)):
                driver = drivers.choose(target.workload, target.condition)
                measured = measure(driver, target, clock, interrupt_fd=wish.descriptor)
                if wish.wanted:
                    raise KeyboardInterrupt
                if measured.status != "ok":
                    failures[f"{target.cells[0].text} {measured.status}: {measured.reason}"] = None
                    continue
                placement = str(target.condition["placement"])
                known += [
                    KnownSamples(target.workload, placement, spin, injected_ns, block.columns, block.facts["wall_ns"])
                    for block in measured.blocks
                ]
    return known, list(failures), max(busy, _other_running_tasks())


def _as_json(moves: Sequence[Check], walls: Sequence[WallCheck], good: bool, busy: int) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "schema": 1,
        "passed": good,
        "other_running_tasks": busy,
        "moves": [asdict(check) for check in moves],
        "walls": [asdict(check) for check in walls],
    }


def _table(moves: Sequence[Check], walls: Sequence[WallCheck]) -> Iterator[str]:
    yield "Known delays: how far each stage moved, in us, and what was expected."
    yield ""
    yield f"{'workload':<15} {'placed':<7} {'delay':<11} {'stage':<13} {'moved':>8} {'expected':>16}"
    for check in moves:
        where = {"call_spin_ns": "call", "stamp_spin_ns": "stamp", "child_spin_ns": "exit"}[check.spin]
        delay = f"{where} {check.injected_ns / 1000:g}"
        moved = "-" if check.moved_ns is None else f"{check.moved_ns / 1000:.1f}"
        expected = f"{check.expected_low_ns / 1000:.1f} to {check.expected_high_ns / 1000:.1f}"
        verdict = {True: "ok", False: "WRONG", None: "?"}[check.passed]
        yield (
            f"{check.workload:<15} {check.placement:<7} {delay:<11} {check.stage:<13} "
            f"{moved:>8} {expected:>16} {verdict}"
        )
    for reason in dict.fromkeys(check.reason for check in moves if check.reason):
        yield f"?: {reason}"
    yield ""
    for wall in walls:
        verdict = "ok" if wall.passed else "WRONG"
        yield (
            f"{wall.workload}, {wall.placement}: stages and gaps add up to the wall time within "
            f"{wall.worst_share:.2%} {verdict}"
        )
    yield ""


def _verdict(good: bool, busy: int) -> str:
    if good:
        return "The instrument tells the truth here."
    if busy:
        return (
            f"Cannot tell: up to {busy} other tasks were running, and delays grow when CPUs are shared.\n"
            "Try again when the machine is quiet."
        )
    return "The instrument does NOT tell the truth here."


def _other_running_tasks() -> int:
    from clonometer.host.facts import collect

    running = collect().get("load.running")
    # This task counts itself.
    return max(0, running - 1) if isinstance(running, int) else 0
