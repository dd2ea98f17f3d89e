"""Shares of launches or of workers, with an interval that counts processes."""

from __future__ import annotations

import numpy as np

from clonometer.results.noise.noise import rate_interval
from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.quantiles import Floats


def mean_share(shares: Floats) -> Interval:
    """Mean of a share over processes, with the interval of a proportion that counts each process once.

    No shares of that mean and number scatter more than those that are 0 or 1: it is wide and never narrow.

    Examples
    --------
    >>> none = mean_share(np.zeros(40))
    >>> none.value, none.low, round(none.high, 3)
    (0.0, 0.0, 0.088)
    """
    total, n = float(shares.sum()), int(shares.size)
    # Rounded outwards, to a millionth, since the sum of thirds is no whole number.
    low = rate_interval(int(np.floor(total + 1e-6)), n)[0]
    high = rate_interval(min(n, int(np.ceil(total - 1e-6))), n)[1]
    return Interval(total / n, min(low, total / n), max(high, total / n), CONFIDENCE, "a process counts once", n)
