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

from clonometer.results.check.gate import SURELY
from clonometer.results.check.types import LEAST_PROCESSES
from clonometer.stats.precedence import precedence_p, quantile_shift, steps
from clonometer.stats.serial import inflated_p

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from clonometer.results.rows.evidence import Evidence
    from clonometer.stats.quantiles import Floats

SHARE = 0.1


def has_decile(measured: Evidence) -> bool:
    """Whether a row has so many processes that its lower decile can be compared, and all positive."""
    fast = measured.fast
    return measured.is_time and fast is not None and fast.size >= LEAST_PROCESSES and float(fast.min()) > 0


def fast_logs(measured: Evidence) -> Floats:
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

    values = np.asarray(logs, dtype=np.float64)
    error = (SHARE * (1 - SHARE) / values.size) ** 0.5
    low, high = np.quantile(values, [max(0.0, SHARE - error), SHARE + error])
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
