"""Blocks: what HEAD, COLS and TAIL say together, checked and typed (docs/protocol.md)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from clonometer.answers import Block, Done
from clonometer.errors import InputError, ProtocolError
from clonometer.fields import MISSING, Fields, is_whole
from clonometer.inputs import parse_json
from clonometer.protocol.frames import COLS_LIMIT_BYTES, HEADER, Frame
from clonometer.units import MOST_MAGNITUDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMN_DTYPES = {"i32": "<i4", "i64": "<i8", "f64": "<f8"}
COLUMN_WIDTHS = {"i32": 4, "i64": 8, "f64": 8}
UNITS = ("ns", "us", "bytes", "count", "cpu", "errno", "1/s", "bytes/s")
STATUSES = ("ok", "skipped", "failed")
# The run file's own columns (docs/runfile.md).
RESERVED_COLUMNS = ("cell", "process", "block", "sample")

_COLUMN_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Head:
    """HEAD, checked: what COLS must look like."""

    index: int
    workload: str
    temperature: str | None
    rows: int
    column_types: Mapping[str, str]
    units: Mapping[str, str]
    frame: Frame

    @property
    def cols_bytes(self) -> int:
        """The only length that COLS may have."""
        return self.rows * sum(COLUMN_WIDTHS[kind] for kind in self.column_types.values())


def parse_head(frame: Frame, expected_index: int) -> Head:
    """Read HEAD: the block's index must be the expected one.

    Raises
    ------
    ProtocolError
        JSON that is none or has another shape, an index out of order, or columns that cannot be.
    """
    fields = read_json(frame)
    index = fields.count("block")
    if index != expected_index:
        fields.refuse(f"block is {index}, {expected_index} was expected")
    temperature = fields.text_or_none("temperature")
    if temperature not in ("cold", "warm", None):
        fields.refuse(f"temperature is {temperature!r}, neither cold nor warm nor null")
    kinds: dict[str, str] = {}
    units: dict[str, str] = {}
    for _, entry in fields.entries("columns"):
        name, kind, unit = _column(fields, entry)
        if name in kinds:
            fields.refuse(f"column {name!r} is declared twice")
        kinds[name], units[name] = kind, unit
    rows = fields.count("rows")
    if rows and not kinds:
        fields.refuse(f"{rows} rows without a column")
    workload = fields.text("workload")
    head = Head(index, workload or fields.refuse("workload is empty"), temperature, rows, kinds, units, frame)
    if head.cols_bytes > COLS_LIMIT_BYTES:
        fields.refuse(f"{rows:,} rows would take {head.cols_bytes:,} bytes, the limit is {COLS_LIMIT_BYTES:,}")
    return head


def _column(fields: JsonFields, entry: object) -> tuple[str, str, str]:
    if not isinstance(entry, dict):
        fields.refuse("a column is not an object")
    name, kind, unit = entry.get("name"), entry.get("type"), entry.get("unit")
    if not isinstance(name, str) or not _COLUMN_NAME.fullmatch(name) or name in RESERVED_COLUMNS:
        fields.refuse(f"{name!r} cannot be the name of a column")
    if not isinstance(kind, str) or kind not in COLUMN_DTYPES:
        fields.refuse(f"column {name!r} has the unknown type {kind!r}")
    if not isinstance(unit, str) or unit not in UNITS:
        fields.refuse(f"column {name!r} has the unknown unit {unit!r}")
    return name, kind, unit


def parse_block(head: Head, cols: Frame, tail: Frame) -> Block:
    """Join HEAD, COLS (of the length that HEAD says) and TAIL to a block: row count and checksum must agree.

    Raises
    ------
    ProtocolError
        If they do not, TAIL has another shape, or a column holds an infinity.
    """
    fields = read_json(tail, f"TAIL of block {head.index}")
    rows = fields.count("rows")
    if rows != head.rows:
        fields.refuse(f"rows is {rows}, HEAD said {head.rows}")
    checksum = zlib.crc32(cols.payload)
    if fields.count("crc32") != checksum:
        fields.refuse(f"crc32 is {fields.count('crc32')}, that of COLS is {checksum}: the samples are damaged")
    status, reason = fields.status()
    outcomes = fields.inner("outcomes")
    raw = b"".join((head.frame.raw, cols.raw, tail.raw))
    return Block(
        index=head.index,
        workload=head.workload,
        temperature=head.temperature,
        rows=rows,
        columns=_arrays(head, raw),
        column_types=head.column_types,
        units=head.units,
        status=status,
        reason=reason,
        outcomes={name: outcomes.count(name) for name in outcomes.content},
        facts=fields.mapping("facts"),
        raw=raw,
    )


def _arrays(head: Head, raw: bytes) -> dict[str, NDArray[Any]]:
    """Columns as views of the frame's bytes, so that millions of samples are not copied."""
    import numpy as np

    arrays = {}
    at = len(head.frame.raw) + HEADER.size
    for name, kind in head.column_types.items():
        # Views of raw, but for columns that COLS, having no padding, puts at odd addresses.
        view = np.frombuffer(raw, COLUMN_DTYPES[kind], head.rows, at)
        arrays[name] = np.require(view, requirements="A")
        arrays[name].flags.writeable = False
        if kind == "f64" and (beyond := np.abs(arrays[name]) > MOST_MAGNITUDE).any():
            raise ProtocolError(f"COLS of block {head.index} has {arrays[name][beyond][0]:g} in the column {name!r}")
        at += head.rows * COLUMN_WIDTHS[kind]
    return arrays


def parse_done(frame: Frame, n_blocks: int) -> Done:
    """Read DONE: it must count the blocks that came.

    Raises
    ------
    ProtocolError
        If it counts others, or has another shape.
    """
    fields = read_json(frame)
    status, reason = fields.status()
    blocks = fields.count("blocks")
    if blocks != n_blocks:
        fields.refuse(f"blocks is {blocks}, {n_blocks} came")
    driver, version, linkage = (fields.text_or_none(key) for key in ("driver", "version", "linkage"))
    return Done(status, reason, fields.count_or_none("errno"), blocks, driver, version, linkage, frame.raw)


class JsonFields(Fields):
    """The JSON object of a frame, or one that stands in it."""

    def path(self, key: str) -> str:
        """Name a field with where it stands."""
        return f"{self.where}: {key}"

    def complaint(self, place: str, wanted: str, actual: str) -> ProtocolError:
        """Make the error that says what should stand at a place, and what does."""
        # Drivers write null for what they do not know.
        return ProtocolError(f"{place} is {'None' if actual == MISSING else actual}, not {wanted}")

    def refuse(self, what: str) -> NoReturn:
        """Raise the error, naming the frame."""
        raise ProtocolError(f"{self.where}: {what}")

    def count(self, key: str) -> int:
        """A whole number from 0 to 2**63 - 1."""
        value = self.content.get(key)
        if not is_whole(value) or not 0 <= value < 1 << 63:
            raise self.wrong(key, "a count")
        return value

    def status(self) -> tuple[str, str | None]:
        """``status`` and ``reason``; whatever is not ok has a reason."""
        status, reason = self.one_of("status", STATUSES), self.text_or_none("reason")
        if status != "ok" and not reason:
            self.refuse(f"status is {status} without a reason")
        return status, reason


def read_json(frame: Frame, where: str | None = None) -> JsonFields:
    """Read a frame's JSON object, whose fields are checked as they are asked for.

    Raises
    ------
    ProtocolError
        If the payload is no JSON object; from the methods, if a field is not as it should be.
    """
    where = where or frame.kind

    try:
        value = parse_json(bytes(frame.payload))
    except InputError as error:
        raise ProtocolError(f"{where}: {error.message}") from error
    return JsonFields(value, where)
