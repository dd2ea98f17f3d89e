"""The machine's state of the moment: a few processes fork in turn at each prediction, and are predicted themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from clonometer.errors import InputError
from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration
from clonometer.model.fitting import middle
from clonometer.model.making import ForkedProcess
from clonometer.model.predictor import cost_of
from clonometer.model.types import NINE_IN_TEN, Scale, Scales
from clonometer.stats.multiplicity import student_quantile
from clonometer.stats.quantiles import Floats

#: How far off the mean is taken to lie where one process was timed alone: half of what a shared host changed at most.
ALONE = 0.27
#: Nine in ten lie between these quantiles' ends.
_UPPER_TAIL = 0.95
_COLD = (names.FORK_FIRST, names.FORK_UNWRITTEN)


def scales_by(forked: Sequence[ForkedProcess], calibration: Calibration) -> Scales:
    """Compare forks of now with what the calibration predicts for such processes: calls, cold and hot, and waits.

    How far the fit missed a condition is part of how far processes lie apart. To put it right by the few forks of the
    calibration would add their noise: held out, errors grew.

    Raises
    ------
    InputError
        If there is none for one of the scales.
    """
    return Scales(*(_scale(forked, calibration, models) for models in (_COLD, names.HOT, names.WAITS)))


def _scale(forked: Iterable[ForkedProcess], calibration: Calibration, models: Sequence[str]) -> Scale:
    apart = [_apart(each, calibration, models) for each in forked]
    return scale_of([each for each in apart if each is not None])


def _apart(process: ForkedProcess, calibration: Calibration, models: Sequence[str]) -> float | None:
    """How far a process lies from its prediction, on the logarithm: the mean of its states, each by its middle."""
    timed = [(calibration.models[name], np.array(process.times_ns(name), dtype=np.float64)) for name in models]
    middles = [
        middle(np.log(times / cost_of(process.features, model).median_ns)) for model, times in timed if times.size
    ]
    return float(np.mean(middles)) if middles else None


def scale_of(processes: Sequence[float] | Floats) -> Scale:
    """Make a scale of the logarithms of measured over predicted times, one of each process.

    Raises
    ------
    InputError
        If there is none.

    Notes
    -----
    Processes are what is independent: each has other memory, and its calls share that. So the error of their mean is
    that of so many processes, however many calls each made. Of a few processes the spread is uncertain itself, for
    which Student's t stands. One process tells nothing of that: then it is `ALONE`. The mean is not drawn to 1 where it
    is uncertain: a busy host is slower for sure, if not by how much.

    Examples
    --------
    >>> scale = scale_of(np.log([1.5, 1.5, 1.5]))
    >>> round(scale.factor, 6), scale.spread
    (1.5, 0.0)
    """
    logs = np.asarray(processes, dtype=np.float64)
    if not logs.size:
        raise InputError("no fork was timed that shows the machine's present speed")
    factor = math.exp(float(np.mean(logs)))
    if logs.size == 1:
        return Scale(factor, ALONE)
    few = student_quantile(_UPPER_TAIL, logs.size - 1) / NINE_IN_TEN
    return Scale(factor, few * float(np.std(logs, ddof=1)) / math.sqrt(logs.size))
