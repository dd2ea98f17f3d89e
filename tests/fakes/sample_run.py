"""A small run with much that a run file may have: several cells in a process, nulls, a cell that was skipped."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tests.fakes.documents import EMPTY, planned
from tests.fakes.memory_run import COLUMNS, NULL_I32, NULL_I64, Array, MemoryRun

FORK_COLD = "launch.fork[temperature=cold]"
FORK_WARM = "launch.fork[temperature=warm]"
CLOCK = "clock.used"
ABSENT = "launch.absent[temperature=warm]"
LAUNCH_CONDITION = {"parent_bytes": 0, "placement": "pinned"}


def sample_run(rows: int = 5) -> MemoryRun:
    """Three processes: fork (cold, then two warm blocks), the clock, fork again; it knows no catalogue."""
    run = MemoryRun(_metadata())
    for number, cells in enumerate([[FORK_COLD, FORK_WARM], [CLOCK], [FORK_COLD, FORK_WARM]]):
        start_ns = number * 1_000_000
        run.metadata["processes"].append(
            {
                "process": number, "driver": "fake", "cells": cells, "started_ns": start_ns,
                "ended_ns": start_ns + 900_000, "status": "ok", "reason": None, "exit_status": 0, "stderr": "",
            }
        )  # fmt: skip
        if cells == [CLOCK]:
            run.add_block(CLOCK, number, 0, {"cost_ns": _costs(rows)}, outcomes={"ok": rows}, facts={"wall_ns": 9})
            continue
        for block, count in enumerate((1, rows, rows + 2)):
            columns = _launches(count, [number, block])
            failed = int((columns["errno"] != 0).sum())
            ending: dict[str, Any] = {
                "outcomes": {"ok": count - failed, "EAGAIN": failed},
                "facts": {"wall_ns": count * 250_000, "effective_mhz": {"1": 3394.5}},
            }
            run.add_block(FORK_WARM if block else FORK_COLD, number, block, columns, **ending)
    return run


def _launches(rows: int, seed: list[int]) -> dict[str, Array]:
    """Launches, with nulls in every column that may have some."""
    columns: dict[str, Array] = {
        "start_ns": np.arange(rows) * 250_000,
        "reaped_ns": np.random.default_rng(seed).integers(90_000, 200_000, rows),
        "cpu_child": np.ones(rows, np.int32),
        "errno": np.zeros(rows, np.int32),
    }
    if rows > 1:
        columns["reaped_ns"][1], columns["errno"][1], columns["cpu_child"][1] = NULL_I64, 11, NULL_I32
    return columns


def _costs(rows: int) -> Array:
    """What reading the clock costs, with a null."""
    costs = np.random.default_rng(1).normal(21.0, 0.5, rows)
    costs[-1] = np.nan
    return costs


def _metadata() -> dict[str, Any]:
    launches = [(FORK_COLD, "launch.fork"), (FORK_WARM, "launch.fork"), (ABSENT, "launch.absent")]
    cells = [
        {"cell": cell, "workload": workload, "condition": LAUNCH_CONDITION, "temperature": cell[-5:-1]}
        for cell, workload in launches
    ]
    ended: dict[str, Any] = {"status": "ok", "reason": None, "stopped_by": "budget"}
    skipped = {"cell": ABSENT, "status": "skipped", "reason": "needs Linux 9.9", "stopped_by": None}
    columns = ("start_ns", "reaped_ns", "cpu_child", "errno", "cost_ns")
    return {
        **copy.deepcopy(EMPTY),
        "seed": 7,
        "plan": planned({"cell": CLOCK}, *cells),
        "clock": {"clock": "monotonic", "clock_hz": None, "cost_ns": 21.0, "reason": "a fake", "method": "none"},
        "host": {"cpu.model": "Fake", "cpu.online": 2},
        "cells": [*({"cell": cell, **ended} for cell in (CLOCK, FORK_COLD, FORK_WARM)), skipped],
        "columns": {name: dict(zip(("type", "unit"), COLUMNS[name], strict=True)) for name in columns},
    }
