"""The machine's state of the moment: a short scan at each prediction, over the same conditions of the calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clonometer.errors import InputError
from clonometer.model.calibration import Calibration
from clonometer.model.fitting import is_dense
from clonometer.model.making import CALL
from clonometer.model.measured import read_conditions
from clonometer.model.terms import Floats
from clonometer.model.types import Scale
from clonometer.results.rows.source import RunSource

#: The plan of the scan.
REFERENCE_PLAN = "calibrate-reference"
#: How far two moments of a shared host lie apart: 1.7 times, the most that was seen, is twice that.
MOMENTS = 0.27
#: The variance of a median over that of a mean, of normal values.
_MEDIAN_VARIANCE = math.pi / 2


def scale_by(run: RunSource, calibration: Calibration) -> Scale:
    """Compare a run of the plan ``calibrate-reference`` with the calibration.

    Returns
    -------
    Scale
        Of small pages by the conditions with dense memory, of all else by the others.

    Raises
    ------
    InputError
        If they have no condition in common.
    """
    pages: list[Floats] = []
    others: list[Floats] = []
    for each in read_conditions(run):
        then = calibration.reference_ns.get(each.cell)
        logs = np.log(each.medians(CALL))
        if then is not None and each.features is not None and logs.size:
            (pages if is_dense(each.features) else others).append(logs - math.log(then))
    return scale_of(pages, others)


def scale_of(pages: Sequence[Floats], others: Sequence[Floats]) -> Scale:
    """Make a scale of the logarithms of now over then, of each process, by condition.

    Notes
    -----
    Moments differ by `MOMENTS` (standard deviation of the logarithm). The scan has an error of its own, which the
    scatter of processes gives. The factor is the mean of the posterior: that of the scan, drawn to 1 as far as it is
    uncertain.

    Examples
    --------
    >>> round(scale_of([], [np.log([1.5, 1.5, 1.5])]).factor, 6)
    1.5
    """
    factors = [_moment(group) for group in (others, pages) if group]
    if not factors:
        raise InputError("the reference scan measured no condition of the calibration", "run 'clonometer calibrate'")
    (factor, error), (page_factor, page_error) = factors[0], factors[-1]
    return Scale(math.exp(factor), max(error, page_error), math.exp(page_factor))


def _moment(conditions: Sequence[Floats]) -> tuple[float, float]:
    """The logarithm of the factor, and its standard deviation."""
    middle = float(np.mean([np.median(logs) for logs in conditions]))
    apart = np.concatenate([logs - np.median(logs) for logs in conditions])
    freedom = max(1, apart.size - len(conditions))
    variance = _MEDIAN_VARIANCE * float(np.sum(apart**2)) / freedom / apart.size
    weight = MOMENTS**2 / (MOMENTS**2 + variance)
    return weight * middle, math.sqrt(weight * variance)
