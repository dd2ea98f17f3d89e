"""A run that goes on, as what was measured so far: read like a run file, from the blocks that have arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clonometer.answers import Block
from clonometer.errors import unknown
from clonometer.run_document import NUMPY_TYPES, RunDocument

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEYS = ("process", "block", "sample")


class RunSoFar:
    """What was measured so far of a run: its document as it would end now, and its samples, as long as it goes on.

    ``blocks`` has for each cell, in realised order, the process and the block's number, and what gives its samples.
    """

    def __init__(
        self, document: RunDocument, blocks: Mapping[str, Sequence[tuple[int, int, Callable[[], Block]]]]
    ) -> None:
        self.document = document
        self._blocks = blocks
        #: Samples are asked for twice: for the cores, and for the estimates.
        self._read: dict[str, list[tuple[int, Block]]] = {}

    def cells(self) -> list[str]:
        """Canonical texts of the cells that have samples."""
        return list(self._blocks)

    def columns(self, cell: str, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Samples of one cell in blocks that are ``ok``, as `clonometer.runfile.Run.columns` gives them.

        Raises
        ------
        UsageError
            If the run has no such column.
        """
        import numpy as np

        declared = self.document.columns
        if cell not in self._read:
            loaded = ((process, load()) for process, _, load in self._blocks[cell])
            self._read[cell] = [(process, block) for process, block in loaded if block.status == "ok"]
        read: dict[str, NDArray[Any]] = {}
        for name in dict.fromkeys([*_KEYS, *names]):
            if name not in declared and name not in _KEYS:
                raise unknown("column", name, declared)
            dtype = np.dtype(NUMPY_TYPES[declared[name].type] if name in declared else np.int32)
            parts = [_values(process, block, name, dtype) for process, block in self._read[cell]]
            read[name] = np.concatenate([np.empty(0, dtype), *parts])
        return read


def _values(process: int, block: Block, name: str, dtype: Any) -> NDArray[Any]:
    """A column of one block; nulls where the driver did not send it."""
    import numpy as np

    if name == "sample":
        return np.arange(block.rows, dtype=dtype)
    if name in _KEYS:
        return np.full(block.rows, process if name == "process" else block.index, dtype)
    if name in block.columns:
        return block.columns[name]
    return np.full(block.rows, np.nan if dtype.kind == "f" else np.iinfo(dtype).min, dtype)
