"""Calibrations for commands that need them: made, found again, and scaled to the machine's state of the moment."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from clonometer.model.calibration import Calibration
    from clonometer.model.types import Scale


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
    from clonometer.runfile import open_run
    from clonometer.runner.folder import temporary_folder

    with temporary_folder() as folder:
        out = folder / "calibrate.parquet"
        status = _measure("calibrate-quick" if quick else "calibrate", out, budget_s, seed)
        if status == EXIT_INTERRUPTED or not out.exists():
            return None, status
        with open_run(out) as run:
            made = make_calibration(
                run, made_at=int(time.time()), quick=quick, machine=machine_of(collect()), seed=seed
            )
    return made, status


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
    from clonometer.runfile import open_run
    from clonometer.runner.folder import temporary_folder

    with temporary_folder() as folder:
        out = folder / "reference.parquet"
        _measure(REFERENCE_PLAN, out, None, draw_seed())
        if not out.exists():
            raise InputError("the reference scan was interrupted, or nothing of it could be measured")
        with open_run(out) as run:
            return scale_by(run, calibration)


def _measure(name: str, out: Path, budget_s: float | None, seed: int) -> int:
    from dataclasses import replace

    from clonometer.cli.measuring import find_catalogue, measure_plan
    from clonometer.plan.planfile import load_plan
    from clonometer.results.schedule.scheduler import RoundsScheduler

    drivers, catalogue = find_catalogue()
    plan = load_plan(name, catalogue)
    if budget_s is not None:
        plan = replace(plan, budget_seconds=budget_s)
    scheduler = RoundsScheduler(seed, plan.budget_seconds)
    outcome = measure_plan(
        plan,
        catalogue,
        drivers,
        out=out,
        seed=seed,
        scheduler=scheduler,
        command=["clonometer", "run", "--plan", name],
    )
    return outcome.exit_status


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
