"""Calibrations for commands that need them: made, found again, and scaled to the machine's state of the moment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.model.calibration import Calibration
    from clonometer.model.types import Scale
    from clonometer.runfile import Run
    from clonometer.runner.run import RunOutcome


def calibrate(*, quick: bool, budget_s: float | None, seed: int) -> tuple[Calibration | None, int]:
    """Measure the plan ``calibrate`` and fit to it.

    Returns
    -------
    calibration
        None where it was interrupted.
    exit_status
        Of the run.

    Raises
    ------
    InputError
        If too little could be measured.
    """
    from clonometer.host.facts import collect
    from clonometer.model.making import make_calibration
    from clonometer.model.store import machine_of

    with _measured("calibrate-quick" if quick else "calibrate", budget_s, seed) as (run, outcome):
        if run is None or outcome.exit_status == EXIT_INTERRUPTED:
            return None, outcome.exit_status
        made = make_calibration(run, made_at=int(time.time()), quick=quick, machine=machine_of(collect()), seed=seed)
    return made, outcome.exit_status


def measure_scale(calibration: Calibration) -> Scale:
    """Measure the reference scan of 3 s, and compare it with the calibration's.

    Raises
    ------
    InputError
        If nothing of it could be measured.
    """
    from clonometer.cli.measuring import draw_seed
    from clonometer.errors import InputError
    from clonometer.model.reference import REFERENCE_PLAN, scale_by

    with _measured(REFERENCE_PLAN, None, draw_seed()) as (run, _):
        if run is None:
            raise InputError("the reference scan was interrupted, or nothing of it could be measured")
        return scale_by(run, calibration)


@contextmanager
def _measured(name: str, budget_s: float | None, seed: int) -> Iterator[tuple[Run | None, RunOutcome]]:
    from dataclasses import replace

    from clonometer.cli.measuring import briefly_measured, find_catalogue
    from clonometer.plan.planfile import load_plan

    drivers, catalogue = find_catalogue()
    plan = load_plan(name, catalogue)
    if budget_s is not None:
        plan = replace(plan, budget_seconds=budget_s)
    command = ["clonometer", "run", "--plan", name]
    with briefly_measured(plan, catalogue, drivers, seed=seed, command=command) as measured:
        yield measured


def usable_calibration(path: Path | None = None) -> Calibration | None:
    """Read this user's calibration, or that of a file; None where there is none.

    Raises
    ------
    InputError
        If it is damaged, or not of this machine as it is now.
    """
    from clonometer.host.facts import collect
    from clonometer.model.store import check_machine, default_path, machine_of, read_calibration

    calibration = read_calibration(default_path() if path is None else path)
    if calibration is not None:
        check_machine(calibration, machine_of(collect()))
    return calibration
