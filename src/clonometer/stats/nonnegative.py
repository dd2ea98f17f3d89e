"""Least squares with coefficients that are not negative, as costs are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clonometer.stats.quantiles import Floats

_TOLERANCE = 1e-10


def nonnegative_least_squares(columns: ArrayLike, values: ArrayLike) -> Floats:
    """Find the non-negative coefficients that bring ``columns @ coefficients`` nearest to ``values``.

    Parameters
    ----------
    columns
        Shape (values, coefficients), finite. Columns are scaled within, so that their units do not matter.
    values
        Shape (values,), finite.

    Returns
    -------
    ndarray of float64
        Shape (coefficients,), each at least 0; 0 for a column of zeros.

    Raises
    ------
    ValueError
        If the shapes do not agree, or if no solution was reached.

    Notes
    -----
    The active set method of C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems" (1974), chapter 23.

    Examples
    --------
    >>> nonnegative_least_squares([[1, 0], [0, 1]], [2, -1]).tolist()
    [2.0, 0.0]
    """
    matrix, target = np.asarray(columns, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or target.shape != matrix.shape[:1]:
        raise ValueError(f"columns of shape {matrix.shape} do not fit values of shape {target.shape}")
    lengths = np.linalg.norm(matrix, axis=0)
    scaled = matrix / np.where(lengths > 0, lengths, 1.0)
    chosen = _active_set(scaled, target, _TOLERANCE * max(1.0, float(np.linalg.norm(target))))
    return np.asarray(chosen / np.where(lengths > 0, lengths, 1.0))


def _active_set(matrix: Floats, target: Floats, tolerance: float) -> Floats:
    count = matrix.shape[1]
    free = np.zeros(count, dtype=bool)
    current = np.zeros(count)
    for _ in range(10 * count + 10):
        gradient = np.where(free, -np.inf, matrix.T @ (target - matrix @ current))
        if free.all() or gradient.max() <= tolerance:
            return current
        free[int(np.argmax(gradient))] = True
        current = _step_inside(matrix, target, current, free)
    raise ValueError("the non-negative least squares did not settle")


def _step_inside(matrix: Floats, target: Floats, current: Floats, free: np.ndarray) -> Floats:
    """Solve for the free coefficients; fix at 0 those that would cross it, until none would."""
    while True:
        solved = np.zeros_like(current)
        solved[free] = np.linalg.lstsq(matrix[:, free], target, rcond=None)[0]
        crossing = free & (solved <= 0)
        if not crossing.any():
            return solved
        shares = current[crossing] / np.maximum(current[crossing] - solved[crossing], np.finfo(float).tiny)
        current = current + float(shares.min()) * (solved - current)
        blocked = crossing & (current <= _TOLERANCE * max(1.0, float(current.max())))
        if not blocked.any():
            blocked[np.flatnonzero(crossing)[int(np.argmin(shares))]] = True
        free &= ~blocked
        current[~free] = 0.0
