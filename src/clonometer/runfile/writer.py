"""Writes the run file: sorted rows, large row groups, and the name only when it is whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from clonometer.answers import Block
from clonometer.errors import ProtocolError, RunFileError
from clonometer.files import already_there, cannot_write, take_away, writing
from clonometer.grouping import group_by
from clonometer.records import to_json
from clonometer.run_document import ARROW_TYPES, NUMPY_TYPES, SCHEMA, BlockEntry, BlockFacts, read_document
from clonometer.runfile.arrays import arrow_array, arrow_texts
from clonometer.runfile.document import METADATA_KEY, parse_document
from clonometer.runfile.output import previous_path
from clonometer.runfile.run import open_run
from clonometer.runfile.so_far import RunSoFar

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROW_GROUP_ROWS = 65_536
# Readers pay for each row group, and hold one: long runs get fewer and larger ones.
MOST_ROW_GROUP_ROWS = 1 << 20
_USUAL_ROW_GROUPS = 64
KEY_COLUMNS = ("cell", "process", "block", "sample")


class _Part(NamedTuple):
    """Samples of one block, not more than a row group has: those of its columns that the slice says."""

    entry: BlockEntry
    columns: Mapping[str, NDArray[Any]]
    samples: slice


class RunFileWriter:
    """Collects the blocks of a run and writes them, with the run's metadata, as one Parquet file.

    ``keep``: an existing file gets the name ``NAME.previous.SUFFIX`` once the new one is whole; ``kept`` is that name
    then, None where there was no file.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, keep: bool = False) -> None:
        self.path = Path(path)
        self.kept: Path | None = None
        self._force = force
        self._keep = keep
        #: By cell, process and number: what the file says of the block, and what gives its samples.
        self._blocks: dict[tuple[str, int, int], tuple[BlockEntry, Callable[[], Block]]] = {}
        self._columns: dict[str, tuple[str, str]] = {}
        self.n_samples = 0

    @property
    def n_blocks(self) -> int:
        """How many blocks have been added."""
        return len(self._blocks)

    def add_block(self, cell: str, process: int, block: Block, load: Callable[[], Block] | None = None) -> None:
        """Add a block, in any order.

        ``cell`` is the canonical text of what it measured, ``process`` says which start of a driver, from 0 in realised
        order. ``load`` gives the block again when the file is written, so that its samples are not held in memory until
        then: `clonometer.protocol.RawWriter.add_block` returns such a callable.

        Raises
        ------
        ProtocolError
            If it declares a column otherwise than a block before it, or was added before. Nothing is added
            then.
        """
        key = (cell, process, block.index)
        if key in self._blocks:
            raise ProtocolError(f"block {block.index} of process {process} arrived twice for {cell}")
        declared = {name: (kind, block.units[name]) for name, kind in block.column_types.items()}
        for name, (kind, unit) in declared.items():
            if name in KEY_COLUMNS:
                raise ProtocolError(f"a driver cannot name a column {name!r}")
            before = self._columns.get(name, (kind, unit))
            if before != (kind, unit):
                raise ProtocolError(
                    f"column {name!r} is {kind} in {unit} here, {before[0]} in {before[1]} in a block before"
                )
        self._columns.update(declared)
        # What it says is checked when the file is written.
        facts = cast("BlockFacts", block.facts)
        entry = BlockEntry(process, block.index, cell, block.status, block.reason, block.rows, block.outcomes, facts)
        self._blocks[key] = entry, load or (lambda: block)
        self.n_samples += block.rows

    def write(self, metadata: Mapping[str, Any]) -> Path:
        """Write the file: under a temporary name in the same folder, synced, read again, then renamed.

        Of the metadata (docs/runfile.md) ``schema``, ``blocks`` and ``columns`` are filled in here.

        Raises
        ------
        OutputError
            If it cannot be written; no part of it is left behind.
        RunFileError
            If the metadata is not of the right shape, or the file cannot be read again; nothing is left behind.
        """
        text = _as_json(self._full(metadata))
        parse_document(text)
        if not (self._force or self._keep) and self.path.exists():
            raise already_there(self.path)
        try:
            with writing(self.path, durable=True) as new:
                self._write_parquet(new.file, text)
                new.file.flush()
                _read_back(new.temporary)
                if self._keep and take_away(self.path, previous_path(self.path)):
                    self.kept = previous_path(self.path)
        except OSError as error:
            raise cannot_write(str(self.path), error) from error
        return self.path

    def so_far(self, metadata: Mapping[str, Any]) -> RunSoFar:
        """What was measured so far, with the metadata that a file would have now.

        Raises
        ------
        RunFileError
            If the metadata is not of the right shape.
        """
        in_order = sorted(self._blocks.items(), key=lambda item: item[0])
        blocks = group_by((cell, (process, number, load)) for (cell, process, number), (_, load) in in_order)
        return RunSoFar(read_document(self._full(metadata)), blocks)

    def _full(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        in_realised_order = sorted(self._blocks, key=lambda key: (key[1], key[2], key[0]))
        return {
            **metadata,
            "schema": SCHEMA,
            "blocks": [to_json(self._blocks[key][0]) for key in in_realised_order],
            "columns": {name: {"type": kind, "unit": unit} for name, (kind, unit) in self._columns.items()},
        }

    def _write_parquet(self, file: BinaryIO, metadata: bytes) -> None:
        """Write row groups sorted by cell; whole numbers as differences from their neighbours, which are small."""
        pa, pq = _arrow()

        schema = pa.schema(
            [
                pa.field("cell", pa.dictionary(pa.int32(), pa.string()), nullable=False),
                *(pa.field(name, pa.int32(), nullable=False) for name in KEY_COLUMNS[1:]),
                *(pa.field(name, pa.type_for_alias(ARROW_TYPES[kind])) for name, (kind, _) in self._columns.items()),
            ]
        )
        whole_numbers = [field.name for field in schema if pa.types.is_integer(field.type)]
        with pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=["cell"],
            column_encoding=dict.fromkeys(whole_numbers, "DELTA_BINARY_PACKED"),
            write_page_checksum=True,
            sorting_columns=[pq.SortingColumn(at) for at in range(len(KEY_COLUMNS))],
        ) as writer:
            for parts in self._row_groups():
                table = self._table(parts, schema)
                writer.write_table(table, row_group_size=table.num_rows)
            writer.add_key_value_metadata({METADATA_KEY: metadata})

    @property
    def _row_group_rows(self) -> int:
        return min(MOST_ROW_GROUP_ROWS, max(ROW_GROUP_ROWS, self.n_samples // _USUAL_ROW_GROUPS))

    def _row_groups(self) -> Iterator[list[_Part]]:
        """Gather parts of blocks, in the order of cells, to row groups of at least the usual size."""
        most = self._row_group_rows
        pending: list[_Part] = []
        pending_rows = 0
        for _, (entry, load) in sorted(self._blocks.items(), key=lambda item: item[0]):
            block = load()
            for first in range(0, block.rows, most):
                samples = slice(first, min(first + most, block.rows))
                pending.append(_Part(entry, block.columns, samples))
                pending_rows += samples.stop - first
                if pending_rows >= most:
                    yield pending
                    pending, pending_rows = [], 0
        if pending:
            yield pending

    def _table(self, parts: list[_Part], schema: Any) -> Any:
        """One row group as an Arrow table; a column that a driver did not send is null."""
        import numpy as np

        pa, _ = _arrow()

        samples = [np.arange(part.samples.start, part.samples.stop, dtype=np.int32) for part in parts]
        rows = [each.size for each in samples]
        names = sorted({part.entry.cell for part in parts})
        codes = np.repeat(np.array([names.index(part.entry.cell) for part in parts], dtype=np.int32), rows)
        arrays = [
            pa.DictionaryArray.from_arrays(arrow_array(codes), arrow_texts(names)),
            arrow_array(np.repeat(np.array([part.entry.process for part in parts], np.int32), rows)),
            arrow_array(np.repeat(np.array([part.entry.block for part in parts], np.int32), rows)),
            arrow_array(np.concatenate(samples)),
        ]
        for name, (kind, _) in self._columns.items():
            values = np.concatenate([_values(part, name, kind) for part in parts])
            null = np.isnan(values) if kind == "f64" else values == np.iinfo(values.dtype).min
            arrays.append(arrow_array(values, null))
        return pa.Table.from_arrays(arrays, schema=schema)


def _values(part: _Part, name: str, kind: str) -> NDArray[Any]:
    """Its samples of a column, or as many nulls if the driver did not send it."""
    import numpy as np

    if name in part.columns:
        return part.columns[name][part.samples]
    dtype = np.dtype(NUMPY_TYPES[kind])
    return np.full(part.samples.stop - part.samples.start, np.nan if kind == "f64" else np.iinfo(dtype).min, dtype)


def _arrow() -> tuple[Any, Any]:
    """Arrow and its Parquet, untyped: the published stubs lag behind what is used here."""
    import pyarrow as pa  # noqa: TID251 -- this is runfile
    import pyarrow.parquet as pq  # noqa: TID251 -- this is runfile

    return pa, pq


def check_beforehand(metadata: Mapping[str, Any]) -> None:
    """Check, before a run, that its file could be read again.

    Raises
    ------
    RunFileError
        If the reader would refuse it, or read other cells from it than are measured.
    """
    begun = {**metadata, "schema": SCHEMA, "ended": metadata["started"]}
    read = parse_document(_as_json({**begun, "processes": [], "blocks": [], "cells": [], "columns": {}}))
    for entry, cell in zip(metadata["plan"]["cells"], read.plan.cells, strict=True):
        if entry["cell"] != cell.cell:
            raise RunFileError(f"{cell.cell} would stand for a cell whose name cannot be written")


def _as_json(metadata: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(metadata, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise RunFileError(f"the run's metadata cannot be written as JSON: {error}") from error


def _read_back(path: Path) -> None:
    """Open what was written, and find each cell's samples in it."""
    with open_run(path) as run:
        run.cells()
