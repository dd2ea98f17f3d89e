"""What results need of a run: three members, whoever provides them.

`clonometer.runfile` provides them from a file; tests do so from memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clonometer.run_document import BlockEntry, RunDocument


class RunSource(Protocol):
    """A run to be summarized."""

    @property
    def document(self) -> RunDocument:
        """All of the run but its samples (docs/runfile.md)."""

    def cells(self) -> list[str]:
        """Canonical texts of the cells that have samples, in any order."""

    def columns(self, cell: str, names: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Columns of one cell's samples, each of shape (samples,) and all in the same order.

        Parameters
        ----------
        names
            Among ``process``, ``block``, ``sample`` (int32) and the keys of the document's ``columns``. What
            else is asked for may be left out or refused; results ask for nothing else.

        Returns
        -------
        Mapping
            Integer columns keep their type and have its smallest value for null; float64 columns have NaN
            (docs/protocol.md).
        """


@runtime_checkable
class PiecewiseSource(Protocol):
    """A run that can give a cell in pieces, as `clonometer.runfile.Run` does."""

    def n_rows(self, cell: str) -> int:
        """How many samples a cell has, unsound blocks included."""

    def pieces(self, cell: str, names: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Give the columns of a cell's sound samples, sorted by process, in pieces."""


def effective_frequencies_mhz(blocks: Iterable[BlockEntry]) -> list[float]:
    """The effective CPU frequencies that were measured in blocks, those of all CPUs, above zero."""
    return [
        float(mhz)
        for block in blocks
        for mhz in (block.facts.get("effective_mhz") or {}).values()
        if mhz is not None and mhz > 0
    ]


def null_mask(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values of a column are null.

    Parameters
    ----------
    column
        Shape (n,), an integer or floating type, null as in docs/protocol.md.

    Examples
    --------
    >>> import numpy as np
    >>> null_mask(np.array([1, np.iinfo(np.int64).min])).tolist()
    [False, True]
    """
    if np.issubdtype(column.dtype, np.floating):
        return np.asarray(np.isnan(column), dtype=np.bool_)
    return np.asarray(column == np.iinfo(column.dtype).min, dtype=np.bool_)
