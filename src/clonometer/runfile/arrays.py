"""From Arrow's columns to numpy's arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from clonometer.errors import RunFileError
from clonometer.units import MOST_MAGNITUDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DTYPES = {"int32": "int32", "int64": "int64", "double": "float64"}
_NULLS = {"int32": -(2**31), "int64": -(2**63), "double": float("nan")}


def column_array(name: str, chunked: Any) -> NDArray[Any]:
    """An Arrow column of numbers as an array, null as in docs/protocol.md.

    Raises
    ------
    ValueError
        If it holds an infinity, or a number that overflows where such numbers are added or squared.
    """
    import numpy as np

    parts = [_values(chunk) for chunk in chunked.chunks]
    values = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, _DTYPES[str(chunked.type)]), *parts])
    if values.dtype.kind == "f" and (beyond := np.abs(values) > MOST_MAGNITUDE).any():
        raise ValueError(
            f"the column {name!r} has the value {values[beyond][0]:g}, which is impossible for any quantity"
        )
    return values


def _values(chunk: Any) -> NDArray[Any]:
    """The numbers of an Arrow array, as they lie in memory where none is null.

    Arrow's own ``to_numpy`` and ``fill_null`` import pandas where that is installed, which takes as long as reading ten
    million samples.
    """
    import numpy as np

    dtype = np.dtype(_DTYPES[str(chunk.type)])
    if len(chunk) == 0:
        return np.empty(0, dtype)
    bitmap, numbers = chunk.buffers()
    values = np.frombuffer(numbers, dtype, len(chunk), chunk.offset * dtype.itemsize)
    if not chunk.null_count:
        return values
    valid = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=chunk.offset + len(chunk), bitorder="little")
    return np.where(valid[chunk.offset :].view(np.bool_), values, dtype.type(_NULLS[str(chunk.type)]))


def arrow_array(values: NDArray[Any], null: NDArray[Any] | None = None) -> Any:
    """Numbers as an Arrow array that shares their memory; ``null`` says which of them are null.

    Arrow's own ``array`` imports pandas where that is installed, to see whether it was given something of it.
    """
    import numpy as np
    import pyarrow as pa  # noqa: TID251 -- this is runfile

    numbers = np.ascontiguousarray(values)
    bitmap = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little").data)
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, numbers.size, [bitmap, pa.py_buffer(numbers.data)])


def arrow_texts(texts: Sequence[str]) -> Any:
    """Texts as an Arrow array, without pandas as `arrow_array`."""
    import numpy as np
    import pyarrow as pa  # noqa: TID251 -- this is runfile

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends.data), pa.py_buffer(b"".join(encoded)))


def runs_of_cells(cells: Any) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and stop of each run of equal values in a column of cells.

    Raises
    ------
    RunFileError
        If a row has no cell.
    """
    start_of_chunk = 0
    for chunk in cells.chunks:
        encoded = chunk if hasattr(chunk, "indices") else chunk.dictionary_encode()
        if encoded.null_count:
            raise RunFileError("a row has no cell")
        codes = _values(encoded.indices)
        names = encoded.dictionary.to_pylist()
        for start, stop in pairwise(changes(codes)):
            yield names[codes[start]], start_of_chunk + start, start_of_chunk + stop
        start_of_chunk += len(codes)


def changes(codes: NDArray[Any]) -> list[int]:
    """Where runs of equal values begin, and the end.

    Examples
    --------
    >>> import numpy as np
    >>> changes(np.array([7, 7, 2])), changes(np.array([7, 7])), changes(np.array([], np.int32))
    ([0, 2, 3], [0, 2], [])
    """
    import numpy as np

    if codes.size == 0:
        return []
    return [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), codes.size]
