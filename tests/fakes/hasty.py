#!/usr/bin/env python3
"""The real command with the real probe, in a hurry: tests of what a page says need not measure for six minutes.

Words, files, checks, drivers and answers are the command's own. Less is measured: of each plan the first targets, by
one process each with a few samples; explanations rest on as few processes as there can be. What is set here and no
longer exists ends this with an error, so that it cannot become the slow command unnoticed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from clonometer.app import doctor, explain, explain_work, self_test, start_method
from clonometer.cli.start import main
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.runner import run as running
from clonometer.studies import explained
from clonometer.tracing import overhead, rounds, steps

#: What explaining real launches may do without, where a test does not ask how well they are explained.
EXPLAINING: tuple[tuple[Any, str, Any], ...] = (
    (explain, "_SAMPLES", {"samples": 10, "blocks": 1, "warmup": 2}),
    (overhead, "_PROCESS_NS", 80_000_000),
    (rounds, "_LAUNCHES_A_PROCESS", 20),
    # No workload: a program's hundred thousands of instructions are not stepped through, for ten seconds.
    (steps, "STEPS", "program.none"),
)
MOST_TARGETS = 2
LIMITS = {"processes": 1, "samples": 5, "blocks": 1, "warmup": 1, "block_limit_ns": 20_000_000}

_run = running.run
_measure = start_method.MethodTrials.measure


def hasty_run(plan: Any, *arguments: Any, **options: Any) -> Any:
    """Measure a plan's first targets, once each."""
    kept = [
        dataclasses.replace(target, limits=dataclasses.replace(target.limits, **LIMITS))
        for target in plan.targets[:MOST_TARGETS]
    ]
    if options.get("hooks") is not None:
        # Sides are started in pairs, which only their own scheduler does.
        set_existing(options["scheduler"], "_budget_s", 4.0)
    else:
        options["scheduler"] = RoundsScheduler(options["seed"], None)
    return _run(dataclasses.replace(plan, targets=tuple(kept)), *arguments, **options)


def one_round(trials: start_method.MethodTrials, rounds: int, budget_s: float, *arguments: Any) -> None:
    """Measure each start method once: the first round ends whatever the budget."""
    _measure(trials, rounds, 0.0, *arguments)


def set_existing(module: Any, name: str, value: Any) -> None:
    """Set what a module has."""
    assert hasattr(module, name), f"{module} has no {name} any more"
    setattr(module, name, value)


def hurry() -> None:
    """Measure less from now on in this process."""
    set_existing(running, "run", hasty_run)
    for changed in EXPLAINING:
        set_existing(*changed)
    set_existing(explain, "_PROCESSES", 1)
    set_existing(explain_work, "_PAIRS", 2)
    set_existing(explained, "_PROCESSES", {True: 1, False: 1})
    set_existing(explained, "_WORK_PAIRS", {True: 2, False: 2})
    set_existing(self_test, "PLACEMENTS", ("pinned",))
    set_existing(self_test, "WORKLOADS", ("launch.fork",))
    set_existing(start_method.MethodTrials, "measure", one_round)
    set_existing(doctor, "NOISE_SECONDS", 0.5)


if __name__ == "__main__":
    hurry()
    main()
