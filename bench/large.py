"""A run of 10^8 samples: ``clonometer show`` beside pandas and DuckDB doing the same quantiles, in processes apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Line, say
from clonometer.answers import Block
from clonometer.runfile import RunFileWriter

CELLS, PROCESSES, BLOCKS, ROWS = 10, 20, 5, 100_000
MOST_MIB = 500
MOST_RELATIVE_ERROR = 1e-3
ROUNDS = 3
BUDGET_S = 110.0
ROOM_BYTES = 3 << 30

# What show computes of each cell: the median of process medians, the pooled 99th percentile, the minimum.
PANDAS = """
import json, sys
import pandas as pd
frame = pd.read_parquet(sys.argv[1], columns=["cell", "process", "reaped_ns"])
groups = frame.groupby("cell", observed=True)["reaped_ns"]
own = frame.groupby(["cell", "process"], observed=True)["reaped_ns"].median()
medians = own.groupby("cell", observed=True).median()
print(json.dumps({cell: [float(medians[cell]), float(p99), float(least)]
                  for cell, p99, least in zip(medians.index, groups.quantile(0.99), groups.min())}))
"""
DUCKDB = """
import json, sys
import duckdb
duckdb.sql("set enable_progress_bar = false")
rows = duckdb.sql(f'''
    with samples as (select cell, process, reaped_ns from read_parquet('{sys.argv[1]}')),
    medians as (select cell, process, quantile_cont(reaped_ns, 0.5) as own from samples group by cell, process),
    middle as (select cell, quantile_cont(own, 0.5) as median from medians group by cell),
    pooled as (select cell, quantile_cont(reaped_ns, 0.99) as p99, min(reaped_ns) as least from samples group by cell)
    select middle.cell, median, p99, least from middle join pooled using (cell)''').fetchall()
print(json.dumps({cell: [float(median), float(p99), float(least)] for cell, median, p99, least in rows}))
"""


def block_of(index: int, columns: Mapping[str, Any]) -> Block:
    kinds, units = {"reaped_ns": "i64"}, {"reaped_ns": "ns"}
    return Block(index, "launch.fork", "warm", ROWS, columns, kinds, units, "ok", None, {"ok": ROWS}, {}, b"")


def generated(index: int, seed: int) -> Block:
    """Make a block of samples: log-normal about 90 us, with a level of their own."""
    random = np.random.default_rng(seed)
    level = 11.4 + 0.02 * random.standard_normal()
    samples = np.exp(level + 0.25 * random.standard_normal(ROWS, np.float32)).astype(np.int64)
    return block_of(index, {"reaped_ns": samples})


def cell_text(number: int) -> str:
    return f"launch.fork[parent_bytes={number + 1}MiB,temperature=warm]"


def generate(path: Path) -> None:
    writer = RunFileWriter(path)
    processes: list[dict[str, Any]] = []
    for cell in range(CELLS):
        for process in range(PROCESSES):
            number = process * CELLS + cell
            for index in range(BLOCKS):
                # Its samples are made when the writer wants them.
                load = partial(generated, index, number * BLOCKS + index)
                writer.add_block(cell_text(cell), number, block_of(index, {}), load)
            processes.append(
                {
                    "process": number,
                    "driver": "bench",
                    "cells": [cell_text(cell)],
                    "started_ns": number * 10**9,
                    "ended_ns": number * 10**9 + 1,
                    "status": "ok",
                    "reason": None,
                    "exit_status": 0,
                    "stderr": "",
                }
            )
    writer.write(metadata() | {"processes": sorted(processes, key=lambda entry: entry["process"])})


def metadata() -> dict[str, Any]:
    cells = [
        {"cell": cell_text(cell), "workload": "launch.fork", "condition": {"parent_bytes": (cell + 1) << 20}}
        for cell in range(CELLS)
    ]
    workload: dict[str, Any] = {
        "id": "launch.fork",
        "family": "same_image",
        "summary": "generated",
        "axes": ["parent_bytes"],
        "temperatures": ["warm"],
        "quantities": ["reaped_ns"],
        "nulls": {},
        "call_returns_contains": None,
        "available": True,
        "reason": None,
    }
    return {
        "status": "complete",
        "status_reason": None,
        "started": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T00:10:00+00:00",
        "clonometer_version": "0",
        "seed": 1,
        "command": ["clonometer", "run"],
        "plan": {
            "name": "large",
            "title": "generated",
            "budget_seconds": 0,
            "cells": [{**cell, "temperature": "warm"} for cell in cells],
            "targets": [],
        },
        "catalogue": {
            "drivers": [],
            "axes": {"parent_bytes": {"type": "bytes", "default": 0, "summary": ""}},
            "quantities": {"reaped_ns": {"unit": "ns", "stage": "reaped", "summary": ""}},
            "workloads": [workload],
            "lacks": [],
        },
        "clock": {"clock": "tsc", "clock_hz": 2_000_000_000},
        "host": {},
        "cells": [{"cell": cell["cell"], "status": "ok", "reason": None, "stopped_by": None} for cell in cells],
    }


@dataclass(frozen=True)
class Measured:
    """One process: its wall time, its peak resident memory and its answer."""

    seconds: float
    mib: float
    answer: dict[str, list[float]]


def measure(command: list[str]) -> Measured:
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    answer = json.loads(text)
    if "cells" in answer:
        answer = {row["cell"]: [row["median_ns"], row["p99_ns"], row["min_ns"]] for row in answer["cells"]}
    return Measured(time.monotonic() - began, usage.ru_maxrss / 1024, answer)


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < ROOM_BYTES:
            print("large: not 3 GiB free for the generated run, nothing measured")
            return
        path = Path(folder) / "large.parquet"
        generate(path)
        clonometer = str(Path(sys.executable).with_name("clonometer"))
        commands = {
            "clonometer": [clonometer, "show", str(path), "--json"],
            "pandas": [sys.executable, "-c", PANDAS, str(path)],
            "duckdb": [sys.executable, "-c", DUCKDB, str(path)],
        }
        measurements: dict[str, list[Measured]] = {name: [] for name in commands}
        began = time.monotonic()
        for place in range(ROUNDS):
            if place and (time.monotonic() - began) * (place + 1) / place > BUDGET_S:
                break
            for name in list(commands)[:: 1 if place % 2 == 0 else -1]:
                measurements[name].append(measure(commands[name]))
        size = path.stat().st_size / 2**20
    yield from lines(measurements, f"{CELLS * PROCESSES * BLOCKS * ROWS:.0e} samples, {size:.0f} MiB")


def lines(measurements: Mapping[str, list[Measured]], note: str) -> Iterator[Line]:
    ours = measurements["clonometer"]
    for name, runs in measurements.items():
        seconds, mib = [measured.seconds for measured in runs], [measured.mib for measured in runs]
        yield say(Line(f"large.{name}.time", float(np.median(seconds)), min(seconds), max(seconds), None, "s", note))
        limit = MOST_MIB if name == "clonometer" else None
        yield say(Line(f"large.{name}.memory", max(mib), min(mib), max(mib), limit, "MiB", "peak resident"))
    for name in ("pandas", "duckdb"):
        ratios = [a.seconds / b.seconds for a, b in zip(ours, measurements[name], strict=True)]
        middle = float(np.median(ratios))
        yield say(Line(f"large.clonometer_over_{name}", middle, min(ratios), max(ratios), 1.0, "ratio", "wall time"))
        error = max(
            abs(mine - other) / other
            for cell, sums in ours[0].answer.items()
            for mine, other in zip(sums, measurements[name][0].answer[cell], strict=True)
        )
        yield say(Line(f"large.error_against_{name}", error, error, error, MOST_RELATIVE_ERROR, "share", "largest"))
