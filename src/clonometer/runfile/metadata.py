"""A run's metadata (docs/runfile.md): what the JSON object says, checked and typed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clonometer.errors import RunFileError
from clonometer.fields import Fields, is_whole

SCHEMA = 1
METADATA_KEY = b"clonometer"
_MOST_WHOLE = 1 << 127
RUN_STATUSES = ("complete", "partial", "failed")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Whether JSON may say such a character, escaped or not: the metadata of a long run has megabytes, and seldom one of
# these. Two patterns, of which the first begins with a fixed character: one of both takes five times as long.
_MAY_BE_UNPRINTABLE = re.compile(r"\\(?:u00[0189]|u007[fF]|u[dD]|[bfr])"), re.compile(r"[\x7f-\x9f]")
# A driver's column type and how it stands in the file.
ARROW_TYPES = {"i32": "int32", "i64": "int64", "f64": "double"}
# The same as numpy calls it.
NUMPY_TYPES = {"i32": "int32", "i64": "int64", "f64": "float64"}


@dataclass(frozen=True)
class PlanCell:
    """A cell of the plan: canonical text, workload, full condition (sizes in bytes), temperature or None."""

    cell: str
    workload: str
    condition: Mapping[str, int | str]
    temperature: str | None


@dataclass(frozen=True)
class ProcessEntry:
    """One start of a driver; times in ns from the start of the run, ``ended_ns`` None if not seen.

    ``pair``: the number of the pair that it was started in; None where there are none.
    """

    process: int
    driver: str
    cells: tuple[str, ...]
    started_ns: int
    ended_ns: int | None
    status: str
    reason: str | None
    exit_status: int | None
    stderr: str
    pair: int | None = None


@dataclass(frozen=True)
class BlockEntry:
    """One block of a process: status ``ok``, ``skipped`` or ``failed``, counts of outcomes, facts."""

    process: int
    block: int
    cell: str
    status: str
    reason: str | None
    rows: int
    outcomes: Mapping[str, int]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class CellEntry:
    """How a cell ended: ``ok``, ``skipped``, ``failed`` or ``missing``, and why; and what stopped it."""

    cell: str
    status: str
    reason: str | None
    stopped_by: str | None


@dataclass(frozen=True)
class RunMetadata:
    """All of a run but its samples.

    ``plan`` is the JSON object with everything the plan said; ``plan_cells`` its cells, typed. ``columns``
    maps a driver's column to its type (``i32``, ``i64``, ``f64``) and unit. ``raw`` is the whole JSON object.
    """

    schema: int
    status: str
    status_reason: str | None
    started: str
    ended: str
    clonometer_version: str
    seed: int
    command: tuple[str, ...]
    plan: Mapping[str, Any]
    plan_cells: tuple[PlanCell, ...]
    catalogue: Mapping[str, Any]
    clock: Mapping[str, Any]
    host: Mapping[str, Any]
    processes: tuple[ProcessEntry, ...]
    blocks: tuple[BlockEntry, ...]
    cells: tuple[CellEntry, ...]
    columns: Mapping[str, tuple[str, str]]
    raw: Mapping[str, Any]


def parse_metadata(text: bytes) -> RunMetadata:
    """Read the JSON object under the key ``clonometer``.

    Control characters and halves of surrogate pairs in its texts become question marks: what a file quotes (the words
    of a command line, what a driver wrote) must be printable, and cannot steer a terminal.

    Raises
    ------
    RunFileError
        If it is no JSON object, of a newer schema, or not of the shape that docs/runfile.md rules.
    """
    try:
        decoded = text.decode()
        value = json.loads(decoded, parse_float=_finite, parse_constant=_finite)
        if any(pattern.search(decoded) for pattern in _MAY_BE_UNPRINTABLE):
            value = _printable(value)
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"the run's metadata is not JSON: {error}") from error
    return check_metadata(value)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNPRINTABLE.sub("?", value)
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a valid JSON number")
    return number


def check_metadata(value: object) -> RunMetadata:
    """Check a metadata object and type it.

    Raises
    ------
    RunFileError
        If it is of a newer schema or not of the shape that docs/runfile.md rules.
    """
    top = MetadataFields(value, "metadata")
    schema = top.whole("schema")
    if schema > SCHEMA:
        raise RunFileError(
            f"the run file has schema {schema}, this Clonometer reads up to {SCHEMA}", "update Clonometer"
        )
    if schema < 1:
        raise top.wrong("schema", "1 or more")
    plan = top.inner("plan")
    for key in ("name", "title"):
        plan.text(key)
    plan.number("budget_seconds")
    return RunMetadata(
        schema=schema,
        status=top.one_of("status", RUN_STATUSES),
        status_reason=top.text_or_none("status_reason"),
        started=top.moment("started"),
        ended=top.moment("ended"),
        clonometer_version=top.text("clonometer_version"),
        seed=top.whole("seed"),
        command=top.texts("command"),
        plan=plan.content,
        plan_cells=tuple(_plan_cell(entry) for entry in plan.inners("cells")),
        catalogue=top.mapping("catalogue"),
        clock=top.mapping("clock"),
        host=top.mapping("host"),
        processes=tuple(_process(entry) for entry in top.inners("processes")),
        blocks=tuple(_block(entry) for entry in top.inners("blocks")),
        cells=tuple(_cell(entry) for entry in top.inners("cells")),
        columns=_columns(top),
        raw=top.content,
    )


def _plan_cell(entry: MetadataFields) -> PlanCell:
    condition = entry.mapping("condition")
    if not all(is_whole(value) or isinstance(value, str) for value in condition.values()):
        raise entry.wrong("condition", "whole numbers and texts")
    return PlanCell(entry.text("cell"), entry.text("workload"), condition, entry.text_or_none("temperature"))


def _process(entry: MetadataFields) -> ProcessEntry:
    return ProcessEntry(
        process=entry.whole("process"),
        driver=entry.text("driver"),
        cells=entry.texts("cells"),
        started_ns=entry.whole("started_ns"),
        ended_ns=entry.whole_or_none("ended_ns"),
        status=entry.text("status"),
        reason=entry.text_or_none("reason"),
        exit_status=entry.whole_or_none("exit_status"),
        stderr=entry.text_or_none("stderr") or "",
        pair=entry.count_or_none("pair"),
    )


def _block(entry: MetadataFields) -> BlockEntry:
    outcomes = entry.mapping("outcomes")
    if not all(is_whole(count) for count in outcomes.values()):
        raise entry.wrong("outcomes", "counts")
    return BlockEntry(
        process=entry.whole("process"),
        block=entry.whole("block"),
        cell=entry.text("cell"),
        status=entry.text("status"),
        reason=entry.text_or_none("reason"),
        rows=entry.count("rows"),
        outcomes=outcomes,
        facts=entry.mapping("facts"),
    )


def _cell(entry: MetadataFields) -> CellEntry:
    return CellEntry(
        entry.text("cell"),
        entry.text("status"),
        entry.text_or_none("reason"),
        entry.text_or_none("stopped_by"),
    )


def _columns(fields: MetadataFields) -> dict[str, tuple[str, str]]:
    return {
        name: (entry.one_of("type", tuple(ARROW_TYPES)), entry.text("unit"))
        for name, entry in fields.children("columns").items()
    }


class MetadataFields(Fields):
    """An object of the metadata."""

    def complaint(self, place: str, wanted: str, actual: str) -> RunFileError:
        """Make the error that says what should stand at a place, and what does."""
        return RunFileError(f"the run's metadata is damaged: {place} is {actual}, not {wanted}")

    def whole(self, key: str) -> int:
        """A whole number of 128 bits."""
        value = super().whole(key)
        # Whatever is computed from it must fit a float.
        if abs(value) >= _MOST_WHOLE:
            raise self.wrong(key, "a whole number of 128 bits")
        return value

    def moment(self, key: str) -> str:
        """A time with its UTC offset, by ISO 8601."""
        text = self.text(key)
        try:
            aware = datetime.fromisoformat(text).tzinfo is not None
        except ValueError:
            aware = False
        if not aware:
            raise self.wrong(key, "a time with UTC offset, by ISO 8601")
        return text
