"""What a check would find: the smallest slow-down of a row, by whichever of its levels is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.results.check.gate import detectable_change
from clonometer.results.check.lower_decile import detectable_decile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from clonometer.stats.quantiles import Floats


def smallest_change(
    logs: Floats,
    sizes: tuple[int, int],
    *,
    decile: bool,
    tests: int,
    seed: int,
    max_regression: float,
    error_rate: float,
    shifts: ArrayLike = (0.0,),
    inflation: float = 1.0,
) -> float | None:
    """Find the smallest slow-down of one row that a check alarms for in 95% of cases.

    Parameters
    ----------
    logs
        Shape (processes,): logarithms of what is compared of each process.
    decile
        Whether the lower deciles are compared, or the medians.
    sizes, tests, seed, max_regression, error_rate, shifts, inflation
        As in `clonometer.results.check.gate.detectable_change`.

    Returns
    -------
    float or None
        A share; None where not even four times as long would be found.
    """
    import numpy as np

    find = detectable_decile if decile else detectable_change
    return find(
        logs if decile else np.exp(logs),
        sizes,
        tests=tests,
        seed=seed,
        max_regression=max_regression,
        error_rate=error_rate,
        shifts=shifts,
        inflation=inflation,
    )
