"""The machine's state of the moment: a short scan at each prediction, over the same conditions of the calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clonometer.errors import InputError
from clonometer.model.calibration import Calibration
from clonometer.model.fitting import is_dense
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
        Of pages by the conditions with dense memory, of the rest by the others: the geometric mean of ratios of now
        over then. The spread is that of one ratio about its mean, over the root of their number.

    Raises
    ------
    InputError
        If they have no condition in common.
    """
    conditions = read_conditions(run)
    now = reference_values(conditions)
    pages: list[float] = []
    others: list[float] = []
    for each in conditions:
        if each.cell in now and each.cell in calibration.reference_ns and each.features is not None:
            (pages if is_dense(each.features) else others).append(now[each.cell] / calibration.reference_ns[each.cell])
    return scale_of(pages, others)


def scale_of(pages: Sequence[float], others: Sequence[float]) -> Scale:
    """Make a scale of ratios of now over then.

    Examples
    --------
    >>> scale_of([1.5, 1.5], [1.2]).factor
    1.2
    """
    groups = [np.log(group) for group in (others, pages) if len(group)]
    if not groups:
        raise InputError("the reference scan measured no condition of the calibration", "run 'clonometer calibrate'")
    apart = np.concatenate([group - group.mean() for group in groups])
    freedom = apart.size - len(groups)
    spread = math.sqrt(float(np.sum(apart**2)) / freedom / min(map(len, groups))) if freedom > 0 else 0.0
    return Scale(math.exp(float(groups[0].mean())), spread, math.exp(float(groups[-1].mean())))
