"""The machine's state of the moment: a short scan at each prediction, over the same conditions of the calibration."""

from __future__ import annotations

import math

import numpy as np

from clonometer.errors import InputError
from clonometer.model.calibration import Calibration
from clonometer.model.making import reference_values
from clonometer.model.measured import read_conditions
from clonometer.model.types import Scale
from clonometer.results.rows.source import RunSource

#: The plan of the scan.
REFERENCE_PLAN = "calibrate-reference"


def scale_by(run: RunSource, calibration: Calibration) -> Scale:
    """Compare a run of the plan ``calibrate-reference`` with the calibration.

    Returns
    -------
    Scale
        The middle one of the conditions' ratios, and how far the ratios scatter about it.

    Raises
    ------
    InputError
        If they have no condition in common.
    """
    now = reference_values(read_conditions(run))
    return scale_of(
        {
            cell: value / calibration.reference_ns[cell]
            for cell, value in now.items()
            if cell in calibration.reference_ns
        }
    )


def scale_of(ratios: dict[str, float]) -> Scale:
    """Make a scale of the ratios of now over then, by condition.

    Examples
    --------
    >>> scale_of({"a": 1.5, "b": 1.5}).factor
    1.5
    """
    if not ratios:
        raise InputError("the reference scan measured no condition of the calibration", "run 'clonometer calibrate'")
    logs = np.log(list(ratios.values()))
    spread = float(np.std(logs, ddof=1)) if logs.size > 1 else 0.0
    return Scale(math.exp(float(np.median(logs))), spread)
