"""``clonometer doctor --self-test``: known delays must move the stages that they should."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from clonometer.app.measuring import find_catalogue
from clonometer.families.same_image import FORK, PTHREAD
from clonometer.host.facts import collect
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.types import Catalogue, Target
from clonometer.results.self_test import INJECTED_NS, SPINS, KnownSamples, check_moves, check_walls, passed
from clonometer.results.self_test_types import SelfTest
from clonometer.runner.drivers import Drivers
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.interrupts import interruption
from clonometer.runner.measure import measure

WORKLOADS = (FORK, PTHREAD)
PLACEMENTS = ("pinned", "free")


def self_test(rounds: int = 8, progress: Progress = SILENT) -> SelfTest:
    """Measure with known delays ``rounds`` times, each time in a new order.

    Raises
    ------
    KeyboardInterrupt
        The user has had enough.
    """
    drivers, catalogue = find_catalogue()
    measured, failures, busy = _measure_known(drivers, catalogue, drivers.calibrate(), rounds, progress)
    moves, walls = check_moves(measured), check_walls(measured)
    return SelfTest(passed(moves, walls), busy, tuple(moves), tuple(walls), tuple(failures))


def _targets(catalogue: Catalogue) -> list[tuple[Target, str | None, int]]:
    """Make every experiment: its target, the delay's key and its length in ns."""
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
    drivers: Drivers, catalogue: Catalogue, clock: dict[str, Any], rounds: int, progress: Progress
) -> tuple[list[KnownSamples], list[str], int]:
    """Measure all experiments ``rounds`` times, each time in a new order.

    Gives the samples, the failures as sentences, and how many other tasks were seen running at most.
    """
    experiments = _targets(catalogue)
    order = random.Random(1)
    known: list[KnownSamples] = []
    failures: dict[str, None] = {}
    busy = 0
    with interruption() as wish:
        for number in range(rounds):
            busy = max(busy, _other_running_tasks())
            progress.say(f"round {number + 1} of {rounds}")
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


def _other_running_tasks() -> int:
    running = collect().get("load.running")
    # This task counts itself.
    return max(0, running - 1) if isinstance(running, int) else 0
