"""Nothing that a scheduler or a worker sends is unpickled here.

Dask's client unpickles more than the results that it is asked for: the type of each result, every exception, warnings,
and whatever in a message is marked as pickled. Whoever runs a worker could so run programs here. There is no setting
against it. While a scheduler is connected, Dask's functions for that therefore accept the names of a few plain types,
and refuse all else.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

_PLAIN: dict[tuple[str, str], type] = {("builtins", kind.__name__): kind for kind in (bytes, bytearray, str, dict)}


class NotUnpickledError(TypeError):
    """Something else than a plain type was sent; a `TypeError` is what Dask expects of what it cannot read."""


class _PlainTypes(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        """Look up what a pickle names."""
        kind = _PLAIN.get((module, name))
        if kind is None:
            raise NotUnpickledError(f"a pickle with {module}.{name} arrived; it was not unpickled")
        return kind


def plain_loads(pickled: bytes, *, buffers: Sequence[Any] = ()) -> Any:
    """Unpickle plain values, and nothing that runs a program.

    Raises
    ------
    NotUnpickledError
        If the pickle names anything but a plain type.
    """
    return _PlainTypes(io.BytesIO(pickled), buffers=buffers).load()


@contextmanager
def nothing_unpickled() -> Iterator[None]:
    """Let Dask refuse pickles in this process for as long as the block lasts."""
    import distributed.client
    import distributed.protocol.pickle

    replaced: list[tuple[Any, str, Any]] = [
        (distributed.protocol.pickle, "loads", plain_loads),
        (distributed.client, "loads", plain_loads),
        (distributed.client, "pickle", SimpleNamespace(loads=plain_loads)),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, function in replaced:
        setattr(module, name, function)
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)
