"""How many modes a distribution of positive values has, and where.

A kernel density of the logarithms [1]_, cut at its valleys; a valley counts only where too few values lie in it for
chance to have made it.

References
----------
.. [1] B. W. Silverman, "Density estimation for statistics and data analysis", Chapman and Hall 1986, section 3.4: the
       bandwidth; section 6.3: modes.
.. [2] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985) 70-84: the null
       hypothesis that is meant. Its p values take the sample as continuous and independent, which clock ticks and
       neighbouring samples are not; hence the direct count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats, finite_values, in_order, median, quantile_of_ordered

LEAST_VALUES = 50
LEAST_SHARE = 0.10
LEAST_DISTANCE = 0.10
DEEPEST_VALLEY = 0.7
Z_VALLEY = 4.0
_BINS = 512


@dataclass(frozen=True)
class Mode:
    """One mode: the median of its values, in their unit, and its share of all."""

    value: float
    share: float


def find_modes(values: ArrayLike, *, effective: float | None = None, resolution: float = 0.0) -> tuple[Mode, ...]:
    """Find the modes of positive values.

    Parameters
    ----------
    values
        Shape (n,), finite, positive, in any order and unit.
    effective
        How many independent values they are worth; None: all of them are.
    resolution
        Their grain, in their unit: the density is never finer than two grains.

    Returns
    -------
    tuple of Mode
        Rising. One mode for fewer than 50 independent values, and where no valley is certain: between neighbouring
        modes the density falls below 0.7 of the lower one, by 4 standard errors of the counts about them; each mode
        has at least 10% of the values, and their medians are at least 10% apart.

    Raises
    ------
    ValueError
        If there is no value, one is not finite or not positive.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> values = np.concatenate([random.normal(100, 2, 800), random.normal(150, 3, 200)])
    >>> [(round(mode.value), round(mode.share, 1)) for mode in find_modes(values)]
    [(100, 0.8), (150, 0.2)]
    """
    array = finite_values(values)
    if array.min() <= 0:
        raise ValueError("modes are sought on the logarithm: values must be positive")
    ordered = in_order(array)
    worth = array.size if effective is None else min(float(effective), array.size)
    if worth < LEAST_VALUES or ordered[0] == ordered[-1]:
        return (Mode(median(ordered), 1.0),)
    logs = np.log(ordered)
    width = _bandwidth(logs, worth, max(resolution, _grain(ordered)) / median(ordered))
    valleys = _valleys(logs, width)
    counts = _windows(logs, width) if valleys else logs
    cuts = [place for place in valleys if _certain(logs, counts, place, width, worth / array.size)]
    return _merged(ordered, np.exp(cuts))


def _grain(ordered: Floats) -> float:
    """The usual step between values that repeat, as those of a coarse clock do; 0 where they hardly do."""
    middle = ordered[ordered.size // 20 : ordered.size - ordered.size // 20]
    steps = np.diff(middle)
    steps = steps[steps > 0]
    return median(steps) if 0 < steps.size < middle.size / 3 - 1 else 0.0


def _bandwidth(logs: Floats, worth: float, grain: float) -> float:
    low, high = (quantile_of_ordered(logs, share) for share in (0.25, 0.75))
    spread = min(float(logs.std()), (high - low) / 1.34) or float(logs.std())
    return float(max(0.9 * spread * worth**-0.2, 2 * grain, 1e-6))


def density(logs: ArrayLike, width: float) -> tuple[Floats, Floats]:
    """Gaussian kernel density on a grid, from binned values.

    Parameters
    ----------
    logs
        Shape (n,), finite.
    width
        Standard deviation of the kernel, positive.

    Returns
    -------
    place, height
        Two float64 arrays of the same shape: the grid, which reaches past the 0.5th and the 99.5th percentile by
        three widths (what lies beyond is no mode), and the density there, per unit.
    """
    array = finite_values(logs)
    ordered = in_order(array)
    low, high = (quantile_of_ordered(ordered, share) for share in (0.005, 0.995))
    bins = int(min(8 * _BINS, max(_BINS, np.ceil(4 * (high - low + 6 * width) / width))))
    counts, edges = np.histogram(array, bins=bins, range=(low - 3 * width, high + 3 * width))
    step = float(edges[1] - edges[0])
    reach = int(np.ceil(4 * width / step))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    padded = np.convolve(counts, kernel / kernel.sum())[reach : reach + bins]
    return (edges[:-1] + edges[1:]) / 2, padded / (array.size * step)


def _valleys(logs: Floats, width: float) -> list[float]:
    """Give the lowest place between each two neighbouring peaks that are high enough above it."""
    place, height = density(logs, width)
    rises = np.diff(height) > 0
    peaks = np.flatnonzero(np.diff(np.concatenate([[True], rises, [False]]).astype(int)) < 0)
    # Peaks that a shallow valley parts are one: keep the higher of them and go on.
    kept: list[int] = []
    cuts: list[float] = []
    for peak in peaks.tolist():
        if not kept:
            kept.append(peak)
            continue
        lowest = kept[-1] + int(np.argmin(height[kept[-1] : peak + 1]))
        if height[lowest] < DEEPEST_VALLEY * min(height[kept[-1]], height[peak]):
            kept.append(peak)
            cuts.append(float(place[lowest]))
        elif height[peak] > height[kept[-1]]:
            kept[-1] = peak
    return cuts


def _certain(logs: Floats, counts: Floats, cut: float, half: float, worth: float) -> bool:
    """Whether the window about a valley has fewer values than the fullest one on either side, beyond chance."""
    at = (np.searchsorted(logs, cut + half) - np.searchsorted(logs, cut - half)) * worth
    side = int(np.searchsorted(logs, cut))
    peak = min(counts[:side].max(initial=0), counts[side:].max(initial=0)) * worth
    return bool(peak - at > Z_VALLEY * np.sqrt(max(peak + at, 1.0)))


def _windows(logs: Floats, half: float) -> Floats:
    """How many values lie within ``half`` of each value."""
    inside = np.searchsorted(logs, logs + half, side="right") - np.searchsorted(logs, logs - half, side="left")
    return np.asarray(inside, dtype=np.float64)


def _merged(ordered: Floats, cuts: Floats) -> tuple[Mode, ...]:
    """Cut the values into modes; join what is too small or too near to its lower neighbour."""
    parts: list[Floats] = []
    for part in np.split(ordered, np.searchsorted(ordered, cuts)):
        small = part.size < LEAST_SHARE * ordered.size
        too_small = parts and (small or parts[-1].size < LEAST_SHARE * ordered.size)
        if parts and (too_small or median(part) < (1 + LEAST_DISTANCE) * median(parts[-1])):
            parts[-1] = np.concatenate([parts[-1], part])
        else:
            parts.append(part)
    return tuple(Mode(median(part), part.size / ordered.size) for part in parts)
