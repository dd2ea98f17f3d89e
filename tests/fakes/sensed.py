"""Additions beside the launches of a run in memory: which of them had their core to themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.fakes.memory_run import NULL_I32, MemoryRun

FLOOR_NS, SHARED_NS = 640, 900
COLUMNS = ("additions_before_ns", "additions_after_ns")
Array = np.ndarray[Any, Any]


def sense(run: MemoryRun, shared: Mapping[str, Array], *, slower: float = 1.0, floor_ns: int = FLOOR_NS) -> MemoryRun:
    """Add what additions took: ``shared`` says of each cell which launches met a neighbour; others have none.

    What met a neighbour takes ``slower`` times as long.
    """
    for name in COLUMNS:
        run.metadata["columns"][name] = {"type": "i32", "unit": "ns"}
    for cell, columns in run.data.items():
        size = columns["process"].size
        beside = shared.get(cell)
        for name in COLUMNS:
            columns[name] = np.full(size, NULL_I32, np.int32)
        if beside is None:
            continue
        columns["cpu_before"] = columns["cpu_after"] = np.ones(size, np.int32)
        columns["cpu_child"] = np.ones(size, np.int32)
        # The clock's grain is 10 ns, and a neighbour may come or go meanwhile.
        grain = 10 * (np.arange(size) % 2)
        columns[COLUMNS[0]] = (np.where(beside, SHARED_NS, floor_ns) + grain).astype(np.int32)
        columns[COLUMNS[1]] = (np.where(beside & (np.arange(size) % 3 > 0), SHARED_NS, floor_ns) + grain).astype(
            np.int32
        )
        for name in run.metadata["catalogue"]["quantities"]:
            if columns.get(name, np.zeros(0)).dtype == np.int64:
                times = columns[name] * np.where(beside, slower, 1.0)
                columns[name] = np.where(columns[name] == np.iinfo(np.int64).min, columns[name], times).astype(np.int64)
    return run
