"""Many tests are many chances: p-values corrected for their number.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
       (1979) 65-70.
.. [2] R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990) 515-522.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats


def holm(p_values: ArrayLike, tests: int | None = None) -> Floats:
    """Correct p-values by Holm's step-down procedure.

    Rejecting where the result is at most alpha errs anywhere in the family with a probability of at most alpha,
    however the tests depend on each other [1]_: stages of one launch rise and fall together.

    Parameters
    ----------
    p_values
        Shape (tests,) or (families, tests): the last axis is one family. Each in [0, 1].
    tests
        How many tests the family has, if more than are given: the others count as never rejected.

    Returns
    -------
    numpy.ndarray
        The same shape, float64, in [0, 1], never below the p-value itself.

    Raises
    ------
    ValueError
        If a p-value is no probability, or ``tests`` is below their number.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size and not (np.all(p >= 0) and np.all(p <= 1)):
        raise ValueError("p-values lie between 0 and 1")
    size = p.shape[-1]
    family = size if tests is None else tests
    if family < size:
        raise ValueError(f"{size} p-values in a family of {family}")
    order = np.argsort(p, axis=-1, kind="stable")
    factors = family - np.arange(size)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=-1) * factors, axis=-1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=-1)
    return adjusted


def can_reject(least_p_values: ArrayLike, error_rate: float) -> NDArray[np.bool_]:
    """Tell which tests can reject at all once they are corrected; the others need not be counted.

    Parameters
    ----------
    least_p_values
        Shape (tests,): the smallest p-value that each test can give, which must not depend on its outcome.
    error_rate
        The family's error rate.

    Returns
    -------
    numpy.ndarray
        Shape (tests,), bool: the tests whose least p-value is at most ``error_rate`` over their own number [2]_.

    Examples
    --------
    >>> can_reject([0.03, 0.0001, 0.0001], 0.05).tolist()
    [False, True, True]
    """
    least = np.asarray(least_p_values, dtype=np.float64)
    for number in range(1, least.size + 1):
        able = least <= error_rate / number
        if able.sum() <= number:
            return np.asarray(able, dtype=np.bool_)
    return np.zeros(least.size, dtype=np.bool_)
