"""The model with which ``clonometer predict`` judges: the calibration, a new one if the user wants, or a rough one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.cli.predicting import calibrated_machine, rough_machine

if TYPE_CHECKING:
    from clonometer.predict.judge import Machine


def find_machine(*, rough: bool) -> Machine:
    """The machine's calibration, scaled by a scan of now; without one a quick one is offered where somebody can answer.

    Raises
    ------
    InputError
        If the calibration is damaged or of another machine.
    """
    if rough:
        return rough_machine()
    return calibrated_machine() or rough_machine()
