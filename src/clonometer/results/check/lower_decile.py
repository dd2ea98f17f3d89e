"""The gate for rows of many processes: their fastest tenth, which a neighbour on the machine spares.

Whoever shares a core, a cache or a bus makes some processes slower and none faster. Their share differs from run to
run and with it every median, while what the fastest tenth took stays where it was [1]_.

References
----------
.. [1] J. Chen, J. Revels, "Robust benchmarking in noisy environments", IEEE HPEC 2016, arXiv:1608.04295: noise only
       adds; they take the minimum, of which no test is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.results.check.gate import MOST_CHANGE, POWER, SIMULATED, SURELY
from clonometer.results.check.types import LEAST_PROCESSES
from clonometer.stats.precedence import critical_step, precedence_p, quantile_shift, steps
from clonometer.stats.serial import deflated_p, inflated_p

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from clonometer.results.compare.comparison import Measured
    from clonometer.stats.quantiles import Floats

SHARE = 0.1


def has_decile(measured: Measured) -> bool:
    """Whether a row has so many processes that its lower decile can be compared, and all positive."""
    fast = measured.fast
    return measured.is_time and fast is not None and fast.size >= LEAST_PROCESSES and float(fast.min()) > 0


def fast_logs(measured: Measured) -> Floats:
    """The logarithms of what is compared of a row that `has_decile`: shape (processes,)."""
    import numpy as np

    assert measured.fast is not None
    return np.asarray(np.log(measured.fast), dtype=np.float64)


def lower_decile(logs: ArrayLike) -> float:
    """The quantile that is compared, of the logarithms of what is compared of each process."""
    import numpy as np

    return float(np.quantile(np.asarray(logs, dtype=np.float64), SHARE))


def decile_error(logs: ArrayLike) -> float:
    """Standard error of the lower decile of independent processes, from the order statistics about it.

    Parameters
    ----------
    logs
        Shape (n,), any unit.
    """
    import numpy as np

    own = np.asarray(logs, dtype=np.float64)
    error = (SHARE * (1 - SHARE) / own.size) ** 0.5
    low, high = np.quantile(own, [max(0.0, SHARE - error), SHARE + error])
    return float(high - low) / 2


def fast_part(logs: Floats) -> Floats:
    """Values with all above the fastest fifth made equal to it: whether neighbours in time are alike is asked of these.

    How slow the slow ones were moves no lower decile.
    """
    import numpy as np

    return np.asarray(np.minimum(logs, np.quantile(logs, 2 * SHARE)), dtype=np.float64)


def p_slower_decile(base: ArrayLike, other: ArrayLike, max_regression: float, inflation: float = 1.0) -> float:
    """Tell how likely it is by chance alone that a row's lower decile looks so much slower than its baseline's.

    Parameters
    ----------
    base, other
        Shapes (n,) and (m,): logarithms of what is compared of each process of the baseline and of the run.
    max_regression
        The largest regression allowed, as a share.
    inflation
        How many times as uncertain a run's lower decile is as that of independent processes.

    Returns
    -------
    float
        One-sided p-value in (0, 1] of the hypothesis that the row is slower by `SURELY` times ``max_regression`` at
        most.
    """
    import numpy as np

    tested = np.asarray(other, dtype=np.float64) - np.log1p(SURELY * max_regression)
    return inflated_p(precedence_p(base, tested, SHARE), inflation)


def least_decile_p(n: int, m: int) -> float:
    """The smallest p-value that ``n`` and ``m`` processes can give."""
    return steps(n, m, SHARE)[-1].p


def decile_ratio(base: ArrayLike, other: ArrayLike, inflation: float) -> tuple[float, float, float]:
    """The ratio of the lower deciles with its 95% interval, that of the test.

    Parameters
    ----------
    base, other
        Shapes (n,) and (m,): logarithms of what is compared of each process.
    inflation
        As in `p_slower_decile`.
    """
    import numpy as np

    value, low, high = np.exp(quantile_shift(base, other, SHARE, inflation=inflation)).tolist()
    return value, low, high


def detectable_decile(
    logs: ArrayLike,
    sizes: tuple[int, int],
    *,
    tests: int,
    seed: int,
    max_regression: float,
    error_rate: float,
    shifts: ArrayLike = (0.0,),
    inflation: float = 1.0,
) -> float | None:
    """Find the smallest slow-down of one row's lower decile that a check alarms for in 95% of cases.

    Parameters
    ----------
    logs
        Shape (processes,): logarithms of what is compared of each process that nothing but chance tells apart.
    sizes, tests, seed, max_regression, error_rate, shifts, inflation
        As in `clonometer.results.check.gate.detectable_change`.

    Returns
    -------
    float or None
        A share, at least ``max_regression``; None where not even four times as long would be found.

    Notes
    -----
    Checks are simulated from the values themselves, drawn with replacement. In each the least slow-down is known that
    makes the critical claim of the test true and the ratio that of the limit: the answer is the 95% quantile of these.
    """
    import numpy as np

    own = np.asarray(logs, dtype=np.float64)
    critical = critical_step(*sizes, SHARE, deflated_p(error_rate / tests, inflation))
    if own.size < 2 or critical is None:
        return None
    generator = np.random.default_rng(seed)
    # What processes that are alike have in common moves all of a side.
    common = decile_error(own) * (inflation - 1) ** 0.5 * own.size**0.5
    apart = np.asarray(shifts, dtype=np.float64)

    def draw(count: int) -> Floats:
        drawn = own[generator.integers(0, own.size, (SIMULATED, count))]
        drawn = drawn + apart[generator.integers(0, apart.size, (SIMULATED, 1))]
        return np.sort(drawn + generator.normal(0, common / count**0.5, (SIMULATED, 1)), axis=1)

    base, other = draw(sizes[0]), draw(sizes[1])
    to_reject = base[:, critical.first - 1] - other[:, critical.second - 1] + np.log1p(SURELY * max_regression)
    to_exceed = np.quantile(base, SHARE, axis=1) - np.quantile(other, SHARE, axis=1) + np.log1p(max_regression)
    needed = float(np.expm1(np.quantile(np.maximum(to_reject, to_exceed), POWER)))
    return None if needed > MOST_CHANGE else max(max_regression, needed)
