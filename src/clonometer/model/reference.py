"""The machine's state of the moment: a few processes fork in turn at each prediction, and are predicted themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from clonometer.errors import InputError
from clonometer.model.calibration import Calibration, CostModel
from clonometer.model.fitting import middle
from clonometer.model.making import ForkedProcess
from clonometer.model.predictor import cost_of
from clonometer.model.types import Scale
from clonometer.stats.quantiles import Floats

#: How far two moments of a shared host lie apart: 1.7 times, the most that was seen, is twice that.
MOMENTS = 0.27


def scale_by(forked: Iterable[ForkedProcess], calibration: Calibration) -> Scale:
    """Compare forks of now with what the calibration measured for such processes.

    Their memory lies elsewhere now. So each is predicted, and the prediction is put right by how far the fit missed its
    condition when it was calibrated.

    Raises
    ------
    InputError
        If there is none.
    """
    return scale_of(
        [
            np.log(np.array(calls, dtype=np.float64) / _expected_ns(each, calibration.models[state]))
            for each in forked
            for state, calls in each.calls_ns.items()
            if calls
        ]
    )


def _expected_ns(process: ForkedProcess, model: CostModel) -> float:
    missed = next((each.share for each in model.residuals if each.condition == process.condition), 0.0)
    return cost_of(process.features, model).median_ns / (1 + missed)


def scale_of(groups: Sequence[Floats]) -> Scale:
    """Make a scale of the logarithms of measured over predicted times, of each process and state.

    Notes
    -----
    Moments differ by `MOMENTS` (standard deviation of the logarithm). The scan has an error of its own, which the
    spread within the groups gives. The factor is the mean of the posterior: that of the scan, drawn to 1 as far as it
    is uncertain.

    Examples
    --------
    >>> round(scale_of([np.log([1.5, 1.5, 1.5, 1.5])]).factor, 6)
    1.5
    """
    if not groups:
        raise InputError("no fork was timed that tells how fast the machine is now")
    moment = float(np.mean([middle(logs) for logs in groups]))
    apart = np.concatenate([logs - middle(logs) for logs in groups])
    # The middle half of the values, as far apart as they are, tells the mean as well as all of them would.
    variance = float(np.sum(apart**2)) / max(1, apart.size - len(groups)) / apart.size
    weight = MOMENTS**2 / (MOMENTS**2 + variance)
    return Scale(math.exp(weight * moment), math.sqrt(weight * variance))
