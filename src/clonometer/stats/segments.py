"""Many short sequences that stand behind each other in one array: a process's blocks, a group's processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats, row_medians


def equal_lengths(values: NDArray[Any], first: ArrayLike) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Stack segments of equal length, so that numpy works on all of them at once.

    A run has thousands of blocks of a few dozen samples each: one call for each costs more than the work in it.

    Parameters
    ----------
    values
        Shape (n,).
    first
        Shape (segments,): where each segment starts, rising from 0. It ends where the next one starts.

    Yields
    ------
    places
        Shape (k,): which segments have this length.
    rows
        Shape (k, length): their values.

    Examples
    --------
    >>> [(places.tolist(), rows.tolist()) for places, rows in equal_lengths(np.array([1.0, 2.0, 3.0]), [0, 1])]
    [([0], [[1.0]]), ([1], [[2.0, 3.0]])]
    """
    starts = np.asarray(first, dtype=np.intp)
    lengths = np.diff(np.append(starts, values.size))
    if lengths.size and (lengths == lengths[0]).all() and starts[0] == 0:
        yield np.arange(lengths.size), values.reshape(lengths.size, -1)
        return
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        yield places, values[starts[places][:, None] + np.arange(length)]


def segment_medians(values: Floats, first: ArrayLike) -> Floats:
    """Median of each segment; parameters as of `equal_lengths`, no segment empty.

    Returns
    -------
    numpy.ndarray
        Shape (segments,), float64.

    Examples
    --------
    >>> segment_medians(np.array([1.0, 3.0, 7.0]), [0, 2]).tolist()
    [2.0, 7.0]
    """
    medians = np.empty(np.asarray(first).size)
    for places, rows in equal_lengths(values, first):
        medians[places] = row_medians(rows)
    return medians
