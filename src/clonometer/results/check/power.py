"""What a check would find: the smallest slow-down of a row, by whichever of its levels is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.results.check.gate import ERROR_RATE, MAX_REGRESSION, MEDIAN_ERROR, SURELY, alarms
from clonometer.results.check.lower_decile import SHARE, decile_error
from clonometer.stats.precedence import critical_step
from clonometer.stats.rank_sum import rank_sum_p
from clonometer.stats.serial import deflated_p

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from clonometer.stats.quantiles import Floats

#: How surely a change is found that is called detectable.
POWER = 0.95
#: How many checks are simulated to find what is detectable.
SIMULATED = 1000
#: Nothing larger is looked for, as a share.
MOST_CHANGE = 4.0
_STEPS = 7
#: Values drawn twice are no ties: real processes hardly ever have the same median.
_TIE_BREAKER = 1e-9


def detectable_change(
    logs: ArrayLike,
    sizes: tuple[int, int],
    *,
    tests: int,
    seed: int,
    decile: bool = False,
    max_regression: float = MAX_REGRESSION,
    error_rate: float = ERROR_RATE,
    shifts: ArrayLike = (0.0,),
    inflation: float = 1.0,
) -> float | None:
    """Find the smallest slow-down of one row that a check alarms for in 95% of cases.

    Parameters
    ----------
    logs
        Shape (processes,): logarithms of what is compared of each process that nothing but chance tells apart, such as
        those of a baseline.
    sizes
        How many processes the baseline and the run have.
    tests
        How many rows a check has: it corrects for them.
    seed
        Seed of the generator.
    decile
        Whether the lower deciles are compared, or the medians.
    max_regression, error_rate
        As in `clonometer.results.check.gate.alarms`.
    shifts
        Logarithms of how far whole runs were apart from each other; two are drawn for each simulated check.
    inflation
        How many times as uncertain a run's level is as that of independent processes (`serial_inflations`).

    Returns
    -------
    float or None
        A share, at least ``max_regression``; None where not even four times as long would be found.

    Notes
    -----
    Checks are simulated from the values themselves, drawn with replacement; for medians their spread is widened by
    sqrt(n / (n - 1)) for what a resample loses.
    """
    import numpy as np

    values = np.asarray(logs, dtype=np.float64)
    if values.size < 2:
        return None
    stricter = deflated_p(error_rate / tests, inflation)
    if decile:
        error = decile_error(values) * values.size**0.5
        base, other = _simulated(values, error * (inflation - 1) ** 0.5, sizes, seed, shifts, tie_breaker=0.0)
        return _detectable_of_deciles(base, other, stricter, max_regression)
    residuals = (values - np.median(values)) * (values.size / (values.size - 1)) ** 0.5
    # Half of the central 68%: wild processes move no median.
    error = MEDIAN_ERROR * float(np.diff(np.quantile(residuals, [0.1587, 0.8413]))[0]) / 2
    base, other = _simulated(residuals, error * (inflation - 1) ** 0.5, sizes, seed, shifts, tie_breaker=_TIE_BREAKER)
    return _detectable_of_medians(base, other, stricter, max_regression)


def _simulated(
    values: Floats, common: float, sizes: tuple[int, int], seed: int, shifts: ArrayLike, *, tie_breaker: float
) -> tuple[Floats, Floats]:
    """Both sides of many checks between which nothing changed, each of shape (SIMULATED, processes).

    ``common`` is what processes that are alike have in common, of one process: it moves all of a side.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    apart = np.asarray(shifts, dtype=np.float64)

    def draw(count: int) -> Floats:
        drawn = values[generator.integers(0, values.size, (SIMULATED, count))]
        drawn = drawn + apart[generator.integers(0, apart.size, (SIMULATED, 1))]
        drawn = drawn + generator.normal(0, common / count**0.5, (SIMULATED, 1))
        return drawn + generator.normal(0, tie_breaker, drawn.shape) if tie_breaker else drawn

    return draw(sizes[0]), draw(sizes[1])


def _detectable_of_deciles(base: Floats, other: Floats, p: float, max_regression: float) -> float | None:
    """Of each simulated check the least change is known that makes it alarm: the answer is a quantile of these."""
    import numpy as np

    critical = critical_step(base.shape[1], other.shape[1], SHARE, p)
    if critical is None:
        return None
    base, other = np.sort(base, axis=1), np.sort(other, axis=1)
    to_reject = base[:, critical.first - 1] - other[:, critical.second - 1] + np.log1p(SURELY * max_regression)
    to_exceed = np.quantile(base, SHARE, axis=1) - np.quantile(other, SHARE, axis=1) + np.log1p(max_regression)
    needed = float(np.expm1(np.quantile(np.maximum(to_reject, to_exceed), POWER)))
    return None if needed > MOST_CHANGE else max(max_regression, needed)


def _detectable_of_medians(base: Floats, other: Floats, p: float, max_regression: float) -> float | None:
    """Changes are tried: halved, by the logarithm, between the largest that is not found and the least that is."""
    import numpy as np

    apart = np.median(other, axis=1) - np.median(base, axis=1)
    tested = np.log1p(SURELY * max_regression)

    def is_found(change: float) -> bool:
        larger, _ = rank_sum_p(other + (np.log1p(change) - tested), base)
        ratios = np.exp(apart + np.log1p(change))
        alarmed = alarms(larger[:, None], ratios[:, None], max_regression=max_regression, error_rate=p)
        return bool(alarmed.mean() >= POWER)

    low, high = max_regression, MOST_CHANGE
    if not is_found(high):
        return None
    if is_found(low):
        return low
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high
