"""Answers of drivers, written for tests (docs/protocol.md)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clonometer.protocol.block import COLUMN_DTYPES
from clonometer.protocol.frames import encode_frame


def encode_block(
    index: int,
    workload: str,
    temperature: str | None,
    columns: Mapping[str, ArrayLike],
    *,
    units: Mapping[str, str] | None = None,
    status: str = "ok",
    reason: str | None = None,
    outcomes: Mapping[str, int] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> bytes:
    """Write HEAD, COLS and TAIL of one block.

    Parameters
    ----------
    columns
        Name -> values, all of one length; int32, int64 and float64 arrays keep their type, other whole
        numbers become int64, other numbers float64. Nulls as docs/protocol.md has them.
    units
        Name -> unit; a column that is not named has ``ns``.
    outcomes
        Default: all rows ``ok``.

    Returns
    -------
    bytes
        The three frames.
    """
    types = {dtype: kind for kind, dtype in COLUMN_DTYPES.items()}
    arrays = {}
    for name, values in columns.items():
        array = np.asarray(values)
        wanted = "<f8" if array.dtype.kind == "f" else "<i4" if array.dtype == np.int32 else "<i8"
        arrays[name] = array.astype(wanted)
    rows = len(next(iter(arrays.values()))) if arrays else 0
    payload = b"".join(array.tobytes() for array in arrays.values())
    head = {
        "block": index,
        "workload": workload,
        "temperature": temperature,
        "rows": rows,
        "columns": [
            {
                "name": name,
                "type": types[f"<{array.dtype.kind}{array.itemsize}"],
                "unit": (units or {}).get(name, "ns"),
            }
            for name, array in arrays.items()
        ],
    }
    tail = {
        "status": status,
        "reason": reason,
        "rows": rows,
        "crc32": zlib.crc32(payload),
        "outcomes": {"ok": rows} if outcomes is None else dict(outcomes),
        "facts": dict(facts or {}),
    }
    return (
        encode_frame("HEAD", json.dumps(head).encode())
        + encode_frame("COLS", payload)
        + encode_frame("TAIL", json.dumps(tail).encode())
    )


def encode_done(
    status: str = "ok",
    reason: str | None = None,
    *,
    blocks: int = 0,
    errno: int | None = None,
    driver: str = "test",
) -> bytes:
    """Write DONE."""
    end = {
        "status": status,
        "reason": reason,
        "errno": errno,
        "blocks": blocks,
        "driver": driver,
        "version": "0.1.0",
        "linkage": "static",
    }
    return encode_frame("DONE", json.dumps(end).encode())
