"""Rows of a run file as Arrow reads them: by several threads where those can be started, and else by none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from clonometer.errors import RunFileError

_NO_THREAD = "Failed to launch worker thread"
_S = TypeVar("_S")
_T = TypeVar("_T")


class RowReader:
    """The rows of an open Parquet file."""

    def __init__(self, parquet: Any) -> None:
        self._parquet = parquet
        self._use_threads = True

    def group(self, number: int, names: Sequence[str]) -> Any:
        """Read columns of a row group, as an Arrow table."""
        return self._read(lambda threads: self._parquet.read_row_group(number, names, use_threads=threads))

    def all(self) -> Any:
        """Read everything, as an Arrow table."""
        return self._read(lambda threads: self._parquet.read(use_threads=threads))

    def _read(self, read: Callable[[bool], Any]) -> Any:
        import pyarrow as pa  # noqa: TID251 -- this is runfile

        try:
            return read(self._use_threads)
        except pa.ArrowException as error:
            # A limit on processes or address space, or a container's filter: no reason not to read.
            if not self._use_threads or _NO_THREAD not in str(error):
                raise
            self._use_threads = False
            return read(False)


def one_ahead(pool: Executor, make: Callable[[_S], _T], items: Sequence[_S]) -> Iterator[_T]:
    """Give what is made of each item, in order, the next one being made meanwhile where a thread can be started."""
    coming: Future[_T] | None = None
    for item in items:
        ready, coming = coming, _submitted(pool, make, item)
        if ready is not None:
            yield ready.result()
    if coming is not None:
        yield coming.result()


def _submitted(pool: Executor, make: Callable[[_S], _T], item: _S) -> Future[_T]:
    try:
        return pool.submit(make, item)
    except RuntimeError:
        made: Future[_T] = Future()
        made.set_result(make(item))
        return made


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn whatever Arrow says of a file that it cannot read into a RunFileError."""
    import pyarrow as pa  # noqa: TID251 -- this is runfile

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, LookupError, MemoryError, OverflowError) as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, MemoryError):
            # A damaged file may ask for any amount, and a sound one meet a limit.
            raise RunFileError(
                f"{path} cannot be read: {first_line}", "it is damaged, or there is not enough memory (ulimit -v)"
            ) from error
        raise RunFileError(f"{path} is damaged: {first_line}") from error
