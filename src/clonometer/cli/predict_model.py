"""The model with which ``clonometer predict`` judges: the calibration, a new one if the user wants, or a rough one."""

from __future__ import annotations

import sys
from dataclasses import replace

import rich_click as click

from clonometer.cli.calibrating import calibrate, measure_scale
from clonometer.cli.measuring import draw_seed
from clonometer.cli.predicting import calibrated_machine, rough_machine
from clonometer.errors import ClonometerError
from clonometer.model.store import default_path, save_calibration
from clonometer.model.types import SAME_MOMENT
from clonometer.predict.judge import Machine


def find_machine(*, rough: bool, scan: bool) -> Machine:
    """The machine's calibration, scaled by a scan of now; without one a quick one is offered where somebody can answer.

    ``rough``: use the rough model in any case. ``scan``: measure for 3 s how fast the machine is now.

    Raises
    ------
    InputError
        If the calibration is damaged or of another machine.
    """
    if rough:
        return rough_machine()
    machine = calibrated_machine()
    if machine is None:
        return _made_if_wanted() or rough_machine()
    return _scaled(machine) if scan else machine


def _scaled(machine: Machine) -> Machine:
    try:
        return replace(machine, scale=measure_scale(machine.calibration))
    except ClonometerError as error:
        click.echo(f"clonometer: how fast the machine is now was not measured: {error.message}", err=True)
        return machine


def _made_if_wanted() -> Machine | None:
    """Offer a quick calibration; None where nobody can answer, or the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    question = "This machine was not calibrated. Calibrate it now, in 20 s? (No: a rough answer.)"
    if not click.confirm(question, default=True, err=True):
        return None
    made, _ = calibrate(quick=True, budget_s=None, seed=draw_seed())
    save_calibration(made, default_path())
    return Machine(made, is_rough=False, scale=SAME_MOMENT)
