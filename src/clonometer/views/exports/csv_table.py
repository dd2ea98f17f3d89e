"""CSV (RFC 4180): a line an estimate, an axis a column; null is empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_LINES_A_PIECE = 1000
#: How samples lie, where there is something to say; a column each, since columns must not depend on the run.
_SHAPE = (
    ("drift", "kind"),
    ("drift", "share"),
    ("warm_up", "samples"),
    ("warm_up", "share"),
    ("outliers", "count"),
    ("outliers", "unexplained"),
)


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode the estimates; the ids of warnings stand in one column, with blanks between."""
    cells = document["cells"]
    axes = sorted({axis for cell in cells for axis in cell["condition"]})
    shapes = {record for record, _ in _SHAPE}
    nested = {key for cell in cells for key, value in cell.items() if isinstance(value, (Mapping, list, tuple))}
    names = [name for name in dict.fromkeys(key for cell in cells for key in cell) if name not in nested | shapes]
    shape = [f"{record}.{key}" for record, key in _SHAPE]
    columns = ["run", *names, *(f"axis.{axis}" for axis in axes), "failed", "warnings", *shape]
    yield from encode_samples(columns, (_row(document["run"], cell, names, axes) for cell in cells))


def _row(run: str, cell: Mapping[str, Any], names: Sequence[str], axes: Sequence[str]) -> list[Any]:
    failed = sum(count for outcome, count in cell["outcomes"].items() if outcome != "ok")
    warnings = " ".join(sorted({warning["id"] for warning in cell["warnings"]}))
    values = [cell.get(name) for name in names]
    shape = [(cell.get(record) or {}).get(key) for record, key in _SHAPE]
    return [run, *values, *(cell["condition"].get(axis) for axis in axes), failed, warnings, *shape]


def encode_samples(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Encode rows under their columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for count, row in enumerate(rows, 1):
        writer.writerow(row)
        if count % _LINES_A_PIECE == 0:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()
