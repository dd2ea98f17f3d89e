"""What a group of samples is described by besides its quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clonometer.stats.quantiles import quantile_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class MedianInterval:
    """Median of process medians with its 95% interval; one process has no interval, and its ends are None."""

    value: float
    low: float | None
    high: float | None


def median_interval(process_medians: NDArray[Any]) -> MedianInterval:
    """Take the median of process medians with its interval.

    Parameters
    ----------
    process_medians
        Shape (processes,), finite.

    Returns
    -------
    MedianInterval
        In the unit of the values.

    Examples
    --------
    >>> import numpy as np
    >>> median_interval(np.array([3.0]))
    MedianInterval(value=3.0, low=None, high=None)
    """
    interval = quantile_interval(process_medians)
    if process_medians.size == 1:
        return MedianInterval(interval.value, None, None)
    return MedianInterval(interval.value, interval.low, interval.high)
