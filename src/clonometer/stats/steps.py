"""Steps of level in a series whose noise scatters and wanders.

A step is evident where it makes the values far likelier than no step does, each with the noise that suits it best:
a part that is independent from value to value, and a part that follows an AR(1) and so wanders. Tests that take values
as independent call every wandering a step; this one calls what could be wandering none.

References
----------
.. [1] A. J. Fox, "Outliers in time series", Journal of the Royal Statistical Society B 34 (1972) 350-363: likelihood
       ratios of disturbances in autoregressions; R. S. Tsay, Journal of Forecasting 7 (1988) 1-20: level shifts.
.. [2] F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974) 383-393: values that are
       far from the median of their neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from clonometer.stats.quantiles import MAD_TO_SIGMA, Floats, Integers, row_medians

#: So many values stand before a step that is looked for, and so many from it on: a burst of three bad days is no step.
LEAST_BEFORE, LEAST_AFTER = 5, 7
#: With so many a step is suspected.
LEAST_SUSPECTED = 3
#: A series is looked at from so many values on.
LEAST_VALUES = 12
#: No step is looked for farther back: what wanders for longer is taken for wandering.
WINDOW = 96
#: Of one series of 20 values without a step, a year of them looked at daily, the chance that the evidence exceeds e at
#: any look is at most the root of the number of looks times exp((_ZERO - e) / _SCALE) (docs/methods.md).
_ZERO, _SCALE = 1.4, 1.44
#: What has a larger chance than this is no step: it is not even looked at.
LEAST_LIKELY = 0.25
#: The noise that is tried: the correlation from value to value of what wanders, and the share of what does not.
_NOISE = ((0.0, 0.0), *product((0.5, 0.8, 0.9, 0.95), (0.0, 0.5)))
#: Places where the likelihood is lower by this are still possible: 95% of a normal one.
_POSSIBLE = 1.92
#: Such a share of the values from a step on must lie beyond halfway: all of 7, 7 of 8. Where a day in seven is bad, 6
#: bad ones among 7 come twice in a hundred years of daily runs; 7 of 8 once in three hundred.
_KEEPS = 0.875
#: And at most so many of the values before it.
_STRAY = 0.25
_NEIGHBOURS = 5
_CLIPPED_BEYOND = 4.0
#: What counts as no scatter at all: rounding, as a share of the largest value.
_ROUNDING = 1e-9


class BestStep(NamedTuple):
    """The likeliest step of each of many series; arrays of shape (series,).

    Attributes
    ----------
    evidence
        How much more likely it makes the values, as a logarithm.
    place
        How many values stand before it.
    first, last
        Between which places it may be.
    size, error
        How far the level moves, in the unit of the values, and the standard error of that.
    """

    evidence: Floats
    place: Integers
    first: Integers
    last: Integers
    size: Floats
    error: Floats


@dataclass(frozen=True)
class Step:
    """A step of one series, as of `BestStep`.

    ``seen`` says with how many values of the series it was first seen; the evidence is of then.
    """

    place: int
    first: int
    last: int
    size: float
    error: float
    evidence: float
    seen: int


def chance_of(evidence: float, size: int) -> float:
    """The p-value of a step's evidence in a series of ``size`` values, at each of which somebody looked.

    Examples
    --------
    >>> round(chance_of(12.0, 20), 4), round(chance_of(12.0, 377), 3)
    (0.0019, 0.012)
    """
    return min(1.0, math.sqrt(_looks(size)) * math.exp((_ZERO - evidence) / _SCALE))


def evidence_for(chance: float, size: int) -> float:
    """The evidence that has such a p-value (`chance_of`)."""
    return _ZERO + _SCALE * math.log(math.sqrt(_looks(size)) / chance)


def _looks(size: int) -> int:
    return max(1, size - LEAST_VALUES + 1)


class _Whitening(NamedTuple):
    """What a kind of noise makes of series of one length.

    ``values`` takes the noise's correlation and the mean from them; ``steps`` are all steps after that, of length 1;
    ``lengths`` are what they had.
    """

    values: Floats
    steps: Floats
    lengths: Floats
    log_determinant: float


@lru_cache(maxsize=2 * (WINDOW + 1))
def _whitenings(size: int, least_after: int = LEAST_AFTER) -> tuple[_Whitening, ...]:
    lag = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    places = np.arange(LEAST_BEFORE, size - least_after + 1)
    steps = (np.arange(size)[:, None] >= places[None, :]).astype(np.float64)
    made = []
    for correlation, independent in _NOISE:
        covariance = (1 - independent) * np.power(correlation, lag, where=lag > 0, out=np.ones(lag.shape))
        covariance[np.diag_indices(size)] = 1.0
        lower = np.linalg.cholesky(covariance)
        white = np.linalg.inv(lower)
        mean = white.sum(axis=1)
        mean /= np.linalg.norm(mean)
        white_steps = white @ steps
        values = white - np.outer(mean, mean @ white)
        white_steps -= np.outer(mean, mean @ white_steps)
        lengths = np.linalg.norm(white_steps, axis=0)
        made.append(_Whitening(values, white_steps / lengths, lengths, 2 * float(np.log(np.diag(lower)).sum())))
    return tuple(made)


def best_steps(values: Floats, least_after: int = LEAST_AFTER) -> BestStep:
    """Find the likeliest step of each of many series.

    Parameters
    ----------
    values
        Shape (n, series), finite, in order of time; n from 12 to a few hundred.
    least_after
        How many values there are from the step on, at least.

    Notes
    -----
    The evidence is the greatest log-likelihood with a step less the greatest without one, each over all kinds of noise
    that are tried, with the mean and the variance that suit best [1]_.
    """
    size, series = values.shape
    every = np.arange(series)
    least = _least_squares(values)
    without = np.full(series, -np.inf)
    best = np.full(series, -np.inf)
    likeliest = {name: np.zeros(series) for name in ("place", "first", "last", "size", "error")}
    for white in _whitenings(size, least_after):
        residuals = white.values @ values
        rest = (residuals**2).sum(axis=0) + least
        along = white.steps.T @ residuals
        left = np.maximum(rest - along**2, least)
        likelihood = -(size - 1) / 2 * np.log(left) - white.log_determinant / 2
        without = np.maximum(without, -(size - 1) / 2 * np.log(rest) - white.log_determinant / 2)
        place = likelihood.argmax(axis=0)
        highest = likelihood[place, every]
        better = highest > best
        possible = likelihood >= highest - _POSSIBLE
        now = {
            "place": place,
            "first": possible.argmax(axis=0),
            "last": possible.shape[0] - 1 - possible[::-1].argmax(axis=0),
            "size": along[place, every] / white.lengths[place],
            "error": np.sqrt(left[place, every] / max(size - 2, 1)) / white.lengths[place],
        }
        for name, kept in likeliest.items():
            kept[better] = now[name][better]
        best = np.maximum(best, highest)
    whole = {name: likeliest[name].astype(np.int64) + LEAST_BEFORE for name in ("place", "first", "last")}
    return BestStep(best - without, **whole, size=likeliest["size"], error=likeliest["error"])


def _least_squares(values: Floats) -> Floats:
    """The sum of squares that rounding may leave in a constant series."""
    return np.asarray(values.shape[0] * (_ROUNDING * (np.abs(values).max(axis=0) + 1)) ** 2)


def clipped(values: Floats) -> Floats:
    """Bring single values that are far from their neighbours nearer, so that one bad day is no step [2]_.

    Parameters
    ----------
    values
        Shape (n, series), finite, n of 5 or more.

    Returns
    -------
    numpy.ndarray
        Shape (n, series). A value farther from the median of the five around it than 4 times the usual distance
        (the scaled median over the series) is brought to there. At both ends the five nearest count.

    Examples
    --------
    >>> bool(clipped(np.array([[1.0], [2.0], [1.0], [2.0], [90.0], [1.0], [2.0], [1.0]]))[4, 0] < 10)
    True
    """
    size = values.shape[0]
    starts = np.clip(np.arange(size) - _NEIGHBOURS // 2, 0, size - _NEIGHBOURS)
    around = row_medians(values[starts[:, None] + np.arange(_NEIGHBOURS)].swapaxes(1, 2))
    away = values - around
    # The median of five contains the value itself in a fifth of cases, and is nearer for it.
    usual = _CLIPPED_BEYOND * MAD_TO_SIGMA * row_medians(np.abs(away).T)
    return np.asarray(around + np.clip(away, -usual, usual))


def find_steps(values: Floats, limit: float, *, stride: int = 1) -> list[list[Step]]:
    """Find the steps of many series, as whoever looks at them with each new value does.

    Parameters
    ----------
    values
        Shape (n, series), finite, in order of time.
    limit
        The evidence that a step needs, see `evidence_for`.
    stride
        Look with every so manyth value only, and with the last.

    Returns
    -------
    list of list of Step
        For each series its steps in order of time. After a step only what follows it is looked at.
    """
    size, series = values.shape
    steps: list[list[Step]] = [[] for _ in range(series)]
    begin = np.zeros(series, np.int64)
    looks = sorted({*range(LEAST_VALUES, size + 1, stride), *([size] if size >= LEAST_VALUES else [])})
    for now in looks:
        start = np.maximum(begin, now - WINDOW)
        for first in np.unique(start):
            chosen = np.flatnonzero(start == first)
            if now - first < LEAST_VALUES:
                continue
            best = best_steps(clipped(values[first:now, chosen]))
            for place in np.flatnonzero(best.evidence >= limit):
                which = int(chosen[place])
                if not _keeps(values[first:now, which], int(best.place[place]), float(best.size[place])):
                    continue
                steps[which].append(_step(best, int(place), int(first), now))
                begin[which] = first + int(best.place[place])
    return [_refined(values[:, which], its) for which, its in enumerate(steps)]


def _keeps(values: Floats, place: int, size: float) -> bool:
    """Whether most values of both sides keep to their side of halfway: a few wild ones move a mean, and no level."""
    above = np.sign(size) * (values - np.median(values[:place])) > abs(size) / 2
    return bool(above[place:].mean() >= _KEEPS and above[:place].mean() <= _STRAY)


def suspected_step(values: Floats, steps: Sequence[Step], limit: float) -> Step | None:
    """The step that the last values suggest, of which there are fewer than a step needs; None where there is none.

    Parameters
    ----------
    values
        Shape (n,), finite, in order of time.
    steps
        Those that `find_steps` has found: only what follows the last one is looked at.
    limit
        The evidence that it needs.
    """
    begin = max(steps[-1].place if steps else 0, values.size - WINDOW)
    if values.size - begin < LEAST_VALUES:
        return None
    step = _step(best_steps(clipped(values[begin:, None]), LEAST_SUSPECTED), 0, begin, values.size)
    return step if step.evidence >= limit and values.size - step.place < LEAST_AFTER else None


def _step(best: BestStep, which: int, start: int, now: int) -> Step:
    return Step(
        place=int(best.place[which]) + start,
        first=int(best.first[which]) + start,
        last=int(best.last[which]) + start,
        size=float(best.size[which]),
        error=float(best.error[which]),
        evidence=float(best.evidence[which]),
        seen=now,
    )


def _refined(values: Floats, steps: list[Step]) -> list[Step]:
    """Say place and size of each step by all values between its neighbours: more than there were when it was seen."""
    refined: list[Step] = []
    for number, step in enumerate(steps):
        start = refined[-1].place if refined else 0
        stop = steps[number + 1].place if number + 1 < len(steps) else values.size
        start, stop = max(start, step.place - WINDOW // 2), min(stop, step.place + WINDOW // 2)
        if stop - start < LEAST_VALUES:
            refined.append(step)
            continue
        best = best_steps(clipped(values[start:stop, None]))
        again = _step(best, 0, start, step.seen)
        again = replace(again, evidence=max(again.evidence, step.evidence))
        refined.append(again if _keeps(values[start:stop], again.place - start, again.size) else step)
    return refined


def detectable_size(values: Floats, limit: float) -> float | None:
    """The least step that seven further values would show, if the series goes on as it did.

    Parameters
    ----------
    values
        Shape (n,), finite: what follows the last step.
    limit
        The evidence that a step needs.

    Returns
    -------
    float or None
        In the unit of the values; None where there are too few.
    """
    held = values[-(WINDOW - LEAST_AFTER) :]
    if held.size < LEAST_VALUES:
        return None
    fitted = clipped(held[:, None])
    size = held.size + LEAST_AFTER
    least = float(_least_squares(fitted)[0])
    squares = [float(((white.values @ fitted) ** 2).sum()) + least for white in _whitenings(held.size)]
    likelihoods = [
        -(held.size - 1) / 2 * math.log(rest) - white.log_determinant / 2
        for rest, white in zip(squares, _whitenings(held.size), strict=True)
    ]
    best = int(np.argmax(likelihoods))
    rest = squares[best] * size / held.size
    length = float(_whitenings(size)[best].lengths[held.size - LEAST_BEFORE])
    # What brings the log-likelihood up by the limit, the noise being known.
    return math.sqrt(rest * math.expm1(2 * limit / (size - 1))) / length
