"""Raw samples of a run, row by row, for exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clonometer.results.rows.groups import LEVELS
from clonometer.results.rows.source import RunSource, null_mask

_ROWS_A_PIECE = 65_536


def sample_columns(run: RunSource) -> list[str]:
    """Names of the columns that `sample_rows` gives: ``cell``, the levels, then the drivers' own."""
    return ["cell", *LEVELS, *run.document.columns]


def sample_rows(run: RunSource, cells: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Give the samples of sound blocks, a cell at a time.

    Yields
    ------
    tuple
        A value for each of `sample_columns`: texts, whole numbers or floats in the column's unit, None for null.
        Failed launches are among them, with their ``errno``.
    """
    names = sample_columns(run)[1:]
    for cell in cells:
        columns = run.columns(cell, names)
        for first in range(0, len(columns["process"]), _ROWS_A_PIECE):
            part = [columns[name][first : first + _ROWS_A_PIECE] for name in names]
            lists = [_plain(values) for values in part]
            yield from ((cell, *row) for row in zip(*lists, strict=True))


def _plain(values: Any) -> list[Any]:
    nulls = null_mask(values)
    plain: list[Any] = values.tolist()
    return [None if null else value for value, null in zip(plain, nulls.tolist(), strict=True)]
