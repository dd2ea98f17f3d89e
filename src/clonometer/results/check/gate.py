"""When a check alarms, and what it would see: the same rule for real runs and for simulated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.stats.multiplicity import holm
from clonometer.stats.rank_sum import rank_sum_p
from clonometer.stats.serial import deflated_p, inflated_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from clonometer.stats.quantiles import Floats

MAX_REGRESSION = 0.05
#: The chance that any row of one check alarms where nothing changed.
ERROR_RATE = 0.01
#: The same for being suspected, which is no alarm.
SUSPECT_RATE = 0.10
#: A row must be slower by more than this part of the largest regression allowed, surely: two moments of a quiet machine
#: differ by a percent or two in a row, of which the processes within a run do not tell.
SURELY = 0.5
#: How surely a change is found that is called detectable.
POWER = 0.95
#: The standard error of a median is that of a mean times this, for normal values.
MEDIAN_ERROR = 1.2533
#: How many checks are simulated to find what is detectable.
SIMULATED = 1000
_STEPS = 7
#: Nothing larger is looked for, as a share.
MOST_CHANGE = 4.0


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


def detectable_change(
    values: ArrayLike,
    sizes: tuple[int, int],
    *,
    tests: int,
    seed: int,
    max_regression: float = MAX_REGRESSION,
    error_rate: float = ERROR_RATE,
    shifts: ArrayLike = (0.0,),
    inflation: float = 1.0,
) -> float | None:
    """Find the smallest slow-down of one row that a check alarms for in 95% of cases.

    Parameters
    ----------
    values
        Shape (processes,), positive: process medians that nothing but chance tells apart, such as those of a baseline.
    sizes
        How many processes the baseline and the run have.
    tests
        How many rows a check has: it corrects for them.
    seed
        Seed of the generator.
    max_regression, error_rate
        As in `alarms`.
    shifts
        Logarithms of how far whole runs were apart from each other; two are drawn for each simulated check.
    inflation
        How many times as uncertain a run's median is as that of independent processes (`serial_inflations`).

    Returns
    -------
    float or None
        A share, at least ``max_regression``; None where not even four times as long would be found.

    Notes
    -----
    Checks are simulated from the values themselves, drawn with replacement, their spread widened by
    sqrt(n / (n - 1)) on the logarithm for what a resample loses.
    """
    import numpy as np

    logs = np.log(np.asarray(values, dtype=np.float64))
    size = logs.size
    if size < 2:
        return None
    centre = float(np.median(logs))
    residuals = (logs - centre) * (size / (size - 1)) ** 0.5
    generator = np.random.default_rng(seed)
    # Half of the central 68%: wild processes move no median.
    spread = float(np.diff(np.quantile(residuals, [0.1587, 0.8413]))[0]) / 2
    common = MEDIAN_ERROR * spread * (inflation - 1) ** 0.5
    # The rule is the check's own, seen from the other side: p-values as they come, against a stricter rate.
    stricter = deflated_p(error_rate / tests, inflation) * tests

    def draw(count: int) -> Floats:
        drawn = residuals[generator.integers(0, size, (SIMULATED, count))]
        apart = np.asarray(shifts, dtype=np.float64)
        drawn = drawn + apart[generator.integers(0, apart.size, (SIMULATED, 1))]
        # What processes that are alike have in common moves all of a side.
        drawn = drawn + generator.normal(0, common / count**0.5, (SIMULATED, 1))
        # Values drawn twice are no ties: real processes hardly ever have the same median.
        return np.asarray(drawn + generator.normal(0, 1e-9, drawn.shape), dtype=np.float64)

    base, other = draw(sizes[0]), draw(sizes[1])
    apart = np.median(other, axis=1) - np.median(base, axis=1)
    tested = np.log1p(SURELY * max_regression)

    def found(change: float) -> bool:
        larger, _ = rank_sum_p(other + (np.log1p(change) - tested), base)
        ratios = np.exp(apart + np.log1p(change))
        rule = alarms(larger[:, None], ratios[:, None], max_regression=max_regression, error_rate=stricter, tests=tests)
        return bool(rule.mean() >= POWER)

    low, high = max_regression, MOST_CHANGE
    if not found(high):
        return None
    if found(low):
        return low
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
