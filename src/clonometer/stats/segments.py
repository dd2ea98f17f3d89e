"""Many short sequences that stand behind each other in one array: a process's blocks, a group's processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clonometer.stats.quantiles import Floats, row_medians


def similar_lengths(
    values: NDArray[Any], first: ArrayLike, fill: float
) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Stack segments whose lengths lie between the same powers of two, so that few calls do for any lengths.

    A run has thousands of blocks of a few dozen samples each: one call for each costs more than the work in it.

    Parameters
    ----------
    values
        Shape (n,).
    first
        Shape (segments,): where each segment starts, rising from 0; none is empty. It ends where the next one starts.
    fill
        What stands behind the end of a segment that is shorter than others.

    Yields
    ------
    places, lengths
        Shape (k,): which segments these are, and how long each is.
    rows
        Shape (k, longest): their values, float64.

    Examples
    --------
    >>> [rows.tolist() for _, _, rows in similar_lengths(np.arange(1.0, 8.0), [0, 3], 0.0)]
    [[[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 7.0]]]
    """
    starts = np.asarray(first, dtype=np.intp)
    lengths = np.diff(starts, append=values.size)
    steps = np.frexp(lengths - 0.5)[1]
    for step in np.flatnonzero(np.bincount(steps)).tolist():
        chosen = steps == step
        inside = np.arange(int(lengths[chosen].max())) < lengths[chosen][:, None]
        rows = np.full(inside.shape, fill)
        rows[inside] = values if chosen.all() else values[np.repeat(chosen, lengths)]
        yield np.flatnonzero(chosen), lengths[chosen], rows


def segment_medians(values: Floats, first: ArrayLike) -> Floats:
    """Median of each segment; parameters as of `similar_lengths`.

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
    for places, lengths, rows in similar_lengths(values, first, np.inf):
        if (lengths == lengths[0]).all():
            medians[places] = row_medians(rows)
            continue
        rows.sort(axis=1)
        every = np.arange(places.size)
        medians[places] = (rows[every, (lengths - 1) // 2] + rows[every, lengths // 2]) / 2
    return medians
