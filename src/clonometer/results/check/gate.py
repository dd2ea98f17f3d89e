"""When a check alarms: the same rule for real runs and for simulated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.stats.multiplicity import holm
from clonometer.stats.rank_sum import rank_sum_p
from clonometer.stats.serial import inflated_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MAX_REGRESSION = 0.05
#: The chance that any row of one check alarms where nothing changed.
ERROR_RATE = 0.01
#: The same for being suspected, which is no alarm.
SUSPECT_RATE = 0.10
#: A row must be slower by more than this part of the largest regression allowed, surely: two moments of a quiet machine
#: differ by a percent or two in a row, of which the processes within a run do not tell.
SURELY = 0.5
#: The standard error of a median is that of a mean times this, for normal values.
MEDIAN_ERROR = 1.2533


def alarms(
    p_larger: ArrayLike, ratios: ArrayLike, *, max_regression: float, error_rate: float, tests: int | None = None
) -> NDArray[np.bool_]:
    """Apply the rule of the alarm to rows, whole checks at a time.

    Parameters
    ----------
    p_larger
        Shape (rows,) or (checks, rows): one-sided p-values that a row is larger than its baseline by chance alone.
    ratios
        The same shape: medians over the baseline's medians.
    max_regression
        The least regression that counts, as a share.
    error_rate
        The chance that any row of a check alarms where nothing changed.
    tests
        How many rows the check has, if more than are given.

    Returns
    -------
    numpy.ndarray
        The same shape, bool.

    Examples
    --------
    >>> alarms([1e-4, 1e-4, 0.4], [1.2, 1.01, 1.3], max_regression=0.05, error_rate=0.01).tolist()
    [True, False, False]
    """
    import numpy as np

    significant = holm(p_larger, tests) <= error_rate
    return np.asarray(significant & (np.asarray(ratios) >= 1 + max_regression), dtype=np.bool_)


def p_slower(base: ArrayLike, other: ArrayLike, max_regression: float, inflation: float = 1.0) -> float:
    """Tell how likely it is by chance alone that a row looks so much slower than its baseline.

    Parameters
    ----------
    base, other
        Shapes (n,) and (m,), positive: process medians of the baseline and of the run, the machine's speed taken off.
    max_regression
        The largest regression allowed, as a share.
    inflation
        How many times as uncertain a run's median is as that of independent processes (`serial_inflations`).

    Returns
    -------
    float
        One-sided p-value in (0, 1], by ranks, of the hypothesis that the row is slower by `SURELY` times
        ``max_regression`` at most.

    Examples
    --------
    >>> round(p_slower([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3], 0.05), 4)
    0.0143
    """
    import numpy as np

    larger, _ = rank_sum_p(np.asarray(other, dtype=np.float64) / (1 + SURELY * max_regression), base)
    return inflated_p(float(larger[0]), inflation)
