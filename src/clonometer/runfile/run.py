"""Reads a run file: its metadata at once, its samples a cell at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar

from clonometer.errors import InputError, RunFileError, unknown
from clonometer.inputs import cannot_read, open_input
from clonometer.run_document import ARROW_TYPES, NUMPY_TYPES, RunDocument
from clonometer.runfile.arrays import column_array, runs_of_cells
from clonometer.runfile.document import METADATA_KEY, parse_document
from clonometer.runfile.output import is_utf8
from clonometer.runfile.rows import RowReader, one_ahead, readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARQUET_MAGIC = b"PAR1"
_RAW_MAGIC = b"CLNMTRAW"
# Ours have some 1,000,000 at most; what is read is held, a row group at a time.
MOST_ROW_GROUP_ROWS = 1 << 24
MOST_ROWS_A_BYTE = 1000
_KEYS = ("process", "block", "sample")
_T = TypeVar("_T")


@dataclass(frozen=True)
class _Span:
    """Consecutive rows of one cell in one row group."""

    row_group: int
    start: int
    stop: int


class Run:
    """An open run file. Never holds more than one row group's columns, but for `samples`.

    Made by `open_run`. A context manager; `close` releases the file.
    """

    def __init__(self, path: Path, parquet: Any, document: RunDocument) -> None:
        self.path = path
        #: All of the run but its samples.
        self.document = document
        self._parquet = parquet
        self._rows = RowReader(parquet)
        self._spans: dict[str, list[_Span]] | None = None
        # By the document: how many samples each cell has, and its blocks that are not ok.
        self._declared: Counter[str] = Counter()
        self._unsound: dict[str, list[tuple[int, int]]] = {}
        for entry in document.blocks:
            self._declared[entry.cell] += entry.rows
            if entry.status != "ok":
                self._unsound.setdefault(entry.cell, []).append((entry.process, entry.block))
        # Cells are mostly asked for in the file's order: neighbours share a row group.
        self._decoded: tuple[int, dict[str, NDArray[Any]]] = (-1, {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._parquet.close(force=True)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self._parquet.metadata.num_rows)

    def cells(self) -> list[str]:
        """Canonical texts of the cells that have samples, in the file's order.

        Raises
        ------
        RunFileError
            If the file is damaged.
        """
        return list(self._cell_spans())

    def samples(self) -> Any:
        """All samples.

        A row a sample, sorted by ``cell``, ``process``, ``block``, ``sample`` (docs/runfile.md).

        Raises
        ------
        RunFileError
            If the file is damaged.
        """
        self._cell_spans()
        with readable(self.path):
            return self._rows.all()

    def columns(self, cell: str, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Samples of one cell in blocks that are ``ok`` as arrays; reads only the row groups that hold the cell.

        Without ``names`` all columns that drivers have.

        Returns
        -------
        dict
            The columns asked for, and always ``process``, ``block`` and ``sample`` (int32): arrays of shape
            ``(n_samples,)``, sorted by process, block and sample; int32, int64 or float64, in the column's
            unit. Null is the smallest value of int32 and int64, and NaN of float64 (docs/protocol.md). A
            cell of the plan that has no samples gives arrays of length 0.

        Raises
        ------
        UsageError
            If the run has no such cell or column.
        RunFileError
            If the file is damaged.
        """
        import numpy as np

        declared = self.document.columns
        wanted = self._wanted(_KEYS, declared if names is None else names)
        parts: dict[str, list[NDArray[Any]]] = {
            name: [np.empty(0, NUMPY_TYPES[declared[name].type if name in declared else "i32"])] for name in wanted
        }
        for span in self._spans_of(cell):
            for name, values in self._piece(span, wanted).items():
                parts[name].append(values)
        return self._sound(cell, {name: np.concatenate(pieces) for name, pieces in parts.items()})

    def n_rows(self, cell: str) -> int:
        """How many samples a cell has by the metadata, unsound blocks included."""
        return self._declared[cell]

    def pieces(self, cell: str, names: Iterable[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Samples of one cell as `columns` gives them, a row group at a time; nothing is held.

        Raises
        ------
        UsageError
            If the run has no such cell or column.
        RunFileError
            If the file is damaged.
        """
        wanted = self._wanted(_KEYS[:2], names)
        # The next row group is decoded while the caller works on this one: Arrow does so without Python's lock. One
        # thread, because a reader of Parquet is not made for two.
        with ThreadPoolExecutor(1) as ahead:
            for read in one_ahead(ahead, lambda span: self._piece(span, wanted), self._spans_of(cell)):
                yield self._sound(cell, read)

    def _wanted(self, keys: Iterable[str], names: Iterable[str]) -> list[str]:
        wanted = list(dict.fromkeys([*keys, *names]))
        for name in wanted:
            if name not in self.document.columns and name not in _KEYS:
                raise unknown("column", name, self.document.columns)
        return wanted

    def _piece(self, span: _Span, wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
        group = self._row_group(span.row_group, wanted)
        return {name: values[span.start : span.stop] for name, values in group.items()}

    def _spans_of(self, cell: str) -> list[_Span]:
        spans = self._cell_spans().get(cell)
        if spans is not None:
            return spans
        planned = {entry.cell for entry in self.document.plan.cells}
        if cell not in planned:
            raise unknown("cell", cell, planned | set(self._cell_spans()))
        return []

    def _sound(self, cell: str, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Leave out the samples of blocks that are not ok, which the file keeps."""
        import numpy as np

        if cell not in self._unsound:
            return columns
        keep = np.ones(len(columns["process"]), np.bool_)
        for process, block in self._unsound[cell]:
            keep &= (columns["process"] != process) | (columns["block"] != block)
        return {name: values[keep] for name, values in columns.items()}

    def _cell_spans(self) -> dict[str, list[_Span]]:
        if self._spans is None:
            spans: dict[str, list[_Span]] = {}
            with readable(self.path):
                for group in range(self._parquet.num_row_groups):
                    for name, start, stop in self._cells_in(group):
                        spans.setdefault(name, []).append(_Span(group, start, stop))
            self._check_rows(spans)
            self._spans = spans
        return self._spans

    def _cells_in(self, group: int) -> Iterable[tuple[str, int, int]]:
        """Name, start and stop of each cell in a row group."""
        rows = self._parquet.metadata.row_group(group)
        parts = (rows.column(index) for index in range(rows.num_columns))
        names = next((part.statistics for part in parts if part.path_in_schema == "cell"), None)
        # A large cell fills whole row groups, and the footer names it: a fifth of a long run's time is spared. That the
        # least and the greatest name are the same is no chance of damage, and each cell's rows are counted.
        if names is not None and names.has_min_max and names.min == names.max and names.null_count == 0:
            return [(str(names.min), 0, rows.num_rows)]
        return runs_of_cells(self._rows.group(group, ["cell"]).column(0))

    def _check_rows(self, spans: Mapping[str, list[_Span]]) -> None:
        # Parquet's checksums leave out the headers of its pages: a damaged one can exchange whole names.
        stored = Counter({cell: sum(span.stop - span.start for span in parts) for cell, parts in spans.items()})
        if stored != self._declared:
            raise RunFileError(f"{self.path} is damaged: the samples of its cells differ from its metadata")

    def _row_group(self, group: int, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        held_group, held = self._decoded
        if held_group != group:
            held = {}
        missing = [name for name in names if name not in held]
        if missing:
            with readable(self.path):
                table = self._rows.group(group, missing)
                held = {**held, **{name: column_array(name, table.column(name)) for name in missing}}
            self._decoded = (group, held)
        return {name: held[name] for name in names}


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a run file of this schema or an older one.

    Raises
    ------
    RunFileError
        If the file cannot be read, is no Parquet file, is truncated, has no metadata of Clonometer's or a
        newer schema, or its columns are not those that its metadata declares.
    """
    path = Path(path)
    with _opened(path) as file:
        size_bytes = _check_magic(path, file)
        import pyarrow.parquet as pq  # noqa: TID251 -- this is runfile

        with readable(path):
            # Read ahead by threads of Arrow's it would be, which may not be startable, and no faster.
            parquet = pq.ParquetFile(
                _very_file(file),
                page_checksum_verification=True,
                # Arrow's own limit on texts in the footer protects from damaged ones, but a long run has longer ones.
                thrift_string_size_limit=max(100_000_000, size_bytes),
                pre_buffer=False,
            )
    try:
        with readable(path):
            text = (parquet.metadata.metadata or {}).get(METADATA_KEY)
            types = {field.name: field.type for field in parquet.schema_arrow}
        if text is None:
            raise RunFileError(
                f"{path} is a Parquet file but not a Clonometer run: it has no 'clonometer' metadata",
                "a program that rewrites the file may drop its metadata; use the original",
            )
        document = _in_file(path, lambda: parse_document(text))
        _in_file(path, lambda: _check_columns(document, types))
        _in_file(path, lambda: _check_size(parquet.metadata, size_bytes))
        declared = sum(entry.rows for entry in document.blocks)
        if declared != parquet.metadata.num_rows:
            raise RunFileError(
                f"{path} is damaged: {parquet.metadata.num_rows:,} samples, {declared:,} by its metadata"
            )
    except RunFileError:
        parquet.close(force=True)
        raise
    return Run(path, parquet, document)


def _in_file(path: Path, check: Callable[[], _T]) -> _T:
    try:
        return check()
    except RunFileError as error:
        raise RunFileError(f"{path}: {error.message}", error.hint) from error


def _opened(path: Path) -> BinaryIO:
    if not is_utf8(path):
        raise RunFileError(f"cannot read {path}: its name is not UTF-8, which Parquet's libraries require", "rename it")
    try:
        return open_input(path)
    except InputError as error:
        raise RunFileError(error.message, error.hint) from error


def _very_file(file: BinaryIO) -> str | BinaryIO:
    """What Arrow opens of a file that was looked at, whatever has its name by now."""
    name = f"/proc/self/fd/{file.fileno()}"
    # Without /proc Arrow reads it by Python, which is slower.
    return name if os.path.lexists(name) else os.fdopen(os.dup(file.fileno()), "rb")


def _check_magic(path: Path, file: BinaryIO) -> int:
    """Say what is wrong with a file that cannot be a whole Parquet file, before Arrow says it in its words.

    Gives its size.
    """
    try:
        begin = file.read(len(_RAW_MAGIC))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_PARQUET_MAGIC)))
        end = file.read(len(_PARQUET_MAGIC))
    except OSError as error:
        raise RunFileError(*cannot_read(path, error)) from error
    if begin.startswith(_RAW_MAGIC):
        raise RunFileError(f"{path} is the raw file of an unfinished run", f"clonometer recover {path}")
    if not begin:
        raise RunFileError(f"{path} is empty", "name a file that 'clonometer run' wrote")
    if not begin.startswith(_PARQUET_MAGIC):
        raise RunFileError(f"{path} is not a Parquet file", "name a file that 'clonometer run' wrote")
    if size < 12 or end != _PARQUET_MAGIC:
        raise RunFileError(f"{path} is truncated: its end is missing", "copy it again, or measure again")
    return size


def _check_size(footer: Any, size_bytes: int) -> None:
    """Refuse what declares more rows than the file can hold, before memory is taken for them."""
    for index in range(footer.num_row_groups):
        rows = footer.row_group(index).num_rows
        if rows > MOST_ROW_GROUP_ROWS:
            raise RunFileError(
                f"row group {index} has {rows:,} rows, more than {MOST_ROW_GROUP_ROWS:,}",
                "rewrite the file with smaller row groups, and keep its metadata",
            )
    if not 0 <= footer.num_rows <= MOST_ROWS_A_BYTE * size_bytes:
        raise RunFileError(f"it declares {footer.num_rows:,} rows in {size_bytes:,} bytes")


def _check_columns(document: RunDocument, types: dict[str, Any]) -> None:
    expected = {
        "cell": ("string", "dictionary<values=string, indices=int32, ordered=0>"),
        **dict.fromkeys(_KEYS, ("int32",)),
        **{name: (ARROW_TYPES[column.type],) for name, column in document.columns.items()},
    }
    for name, kinds in expected.items():
        if name not in types:
            raise RunFileError(f"the column {name!r} is missing")
        if str(types[name]) not in kinds:
            raise RunFileError(f"the column {name!r} has the type {types[name]}, not {kinds[-1]}")
