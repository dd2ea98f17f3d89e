"""Summaries of many runs as Parquet: a part is a table of runs and a table of their rows (docs/datasets.md).

A part is two files: ``NAME.rows.parquet``, sorted by label and run, so that whoever wants few cells reads few row
groups, and ``NAME.runs.parquet``, which is written last and makes the part whole.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.errors import RunFileError
from clonometer.files import writing
from clonometer.inputs import parse_json
from clonometer.runfile.arrays import column_array
from clonometer.runfile.rows import readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Counts up when summaries of the same run would have other figures: parts of other versions are not read.
SUMMARY_SCHEMA = 1
ROWS, RUNS = ".rows.parquet", ".runs.parquet"
_KEY = b"clonometer-summaries"
#: The numbers of a row, with their types; NaN: there is none.
NUMBERS = {"value": "float64", "low": "float64", "high": "float64", "n_samples": "int64", "n_processes": "int32"}
#: The columns of rows: places in the part's runs and labels, and the numbers.
COLUMNS = {"run": "int32", "label": "int32", **NUMBERS}
_ROW_GROUP_ROWS = 1 << 17


@dataclass(frozen=True)
class SummaryPart:
    """A part of the summaries of a folder: its runs, and what its rows are about.

    ``runs`` has one object a run, as the writer was given it, ``labels`` one for each kind of row: a row's ``label`` is
    a place in it. ``rows`` is the file of its rows; of a part that could not be written the rows themselves.
    """

    runs: Sequence[Mapping[str, Any]]
    labels: Sequence[Mapping[str, Any]]
    rows: Path | Mapping[str, NDArray[Any]]


def write_part(
    folder: Path,
    runs: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    rows: Mapping[str, NDArray[Any]],
) -> None:
    """Write a part whole or not at all.

    ``runs`` has one object a run, all with the same keys; values are texts, whole numbers and None. ``labels`` are
    objects with ``cell``, ``quantity`` and ``placement`` at least, ``rows`` `COLUMNS`, arrays of one length.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    import numpy as np
    import pyarrow as pa  # noqa: TID251 -- this is runfile
    import pyarrow.parquet as pq  # noqa: TID251 -- this is runfile

    order = np.lexsort((rows["run"], rows["label"]))
    label = rows["label"][order].astype(np.int32)
    columns: dict[str, Any] = {}
    for key in ("cell", "quantity", "placement"):
        texts = [entry[key] for entry in labels]
        # A dictionary may not hold a null, but its places may be none.
        none = np.array([text is None for text in texts], bool)[label]
        places: Any = pa.array(label, mask=none)
        columns[key] = pa.DictionaryArray.from_arrays(places, pa.array([text or "" for text in texts], pa.string()))
    columns |= {"label": label, "run": rows["run"][order].astype(np.int32)}
    columns |= {name: rows[name][order].astype(kind) for name, kind in NUMBERS.items()}
    described = json.dumps({"schema": SUMMARY_SCHEMA, "labels": list(labels)}, separators=(",", ":"))
    table = pa.table(columns).replace_schema_metadata({_KEY: described.encode()})
    name = folder / f"part-{os.urandom(8).hex()}"
    whole = pa.Table.from_pylist([dict(run) for run in runs]).replace_schema_metadata({_KEY: described.encode()})
    for suffix, content in ((ROWS, table), (RUNS, whole)):
        with writing(name.with_name(name.name + suffix)) as new:
            pq.write_table(content, new.file, row_group_size=_ROW_GROUP_ROWS, compression="zstd", version="2.6")


def read_parts(folder: Path) -> list[SummaryPart]:
    """Read the runs of every whole part; what is damaged or of another version is as if it were not there."""
    parts = []
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(RUNS) and entry.is_file())
    except OSError:
        return []
    for name in names:
        # Summaries can be made anew from the runs: damage costs time, and nothing else.
        with contextlib.suppress(RunFileError):
            part = _read_part(folder / name)
            if part is not None:
                parts.append(part)
    return parts


def _read_part(path: Path) -> SummaryPart | None:
    import pyarrow.parquet as pq  # noqa: TID251 -- this is runfile

    rows = path.with_name(path.name.removesuffix(RUNS) + ROWS)
    with readable(path):
        table = pq.read_table(path, use_threads=False, pre_buffer=False, memory_map=False)
        described = parse_json((table.schema.metadata or {}).get(_KEY, b"{}"))
        if described.get("schema") != SUMMARY_SCHEMA or not rows.is_file():
            return None
        # The footer only: a file that was cut has none.
        pq.read_metadata(rows)
        return SummaryPart(table.to_pylist(), described["labels"], rows)


def read_rows(
    part: SummaryPart, labels: Collection[int] | None = None, runs: Collection[int] | None = None
) -> dict[str, NDArray[Any]]:
    """Read rows of a part; row groups and pages without any that is wanted are not decoded.

    Wanted are places in the part's ``labels`` and ``runs``; None: all. Gives `COLUMNS`, arrays of one length. Of a part
    that could not be written these are all of its rows, whatever is wanted.

    Raises
    ------
    RunFileError
        If the part is damaged, or has been replaced meanwhile.
    """
    import pyarrow.dataset as pds  # noqa: TID251 -- this is runfile

    if not isinstance(part.rows, Path):
        return dict(part.rows)
    wanted = None
    for name, places in (("label", labels), ("run", runs)):
        if places is not None:
            chosen = pds.field(name).isin(sorted(places))
            wanted = chosen if wanted is None else wanted & chosen
    with readable(part.rows):
        table = pds.dataset(part.rows, format="parquet").to_table(columns=[*COLUMNS], filter=wanted)
        return {name: _column(table.column(name), name, kind) for name, kind in COLUMNS.items()}


def _column(column: Any, name: str, kind: str) -> NDArray[Any]:
    if column.null_count or str(column.type) not in (kind, "double"):
        raise ValueError(f"a column of summaries is {column.type}, or has nulls")
    return column_array(name, column)


def remove_parts(parts: Iterable[SummaryPart]) -> None:
    """Remove the files of parts, what makes each whole first; what cannot be removed stays."""
    for rows in (part.rows for part in parts if isinstance(part.rows, Path)):
        for path in (rows.with_name(rows.name.removesuffix(ROWS) + RUNS), rows):
            with contextlib.suppress(OSError):
                path.unlink()
