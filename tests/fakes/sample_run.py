"""A small run, made in memory: metadata as in docs/runfile.md, and answers as in docs/protocol.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clonometer.answers import Block, Done
from clonometer.protocol import AnswerReader, RawWriter, preamble
from clonometer.runfile import RunFileWriter
from tests.fakes.answers import encode_block, encode_done

I32_NULL, I64_NULL = -(2**31), -(2**63)
FORK_COLD = "launch.fork[temperature=cold]"
FORK_WARM = "launch.fork[temperature=warm]"
CLOCK = "clock.used"
ABSENT = "launch.absent[temperature=warm]"
LAUNCH_UNITS = {"cpu_child": "cpu", "errno": "errno"}


def launch_block(index: int, temperature: str, rows: int, seed: int) -> bytes:
    """A block of launch.fork, with nulls in every integer column."""
    rng = np.random.default_rng([seed, index])
    reaped = rng.integers(90_000, 200_000, rows)
    errno = np.zeros(rows, np.int32)
    child = np.ones(rows, np.int32)
    if rows > 1:
        reaped[1], errno[1], child[1] = I64_NULL, 11, I32_NULL
    columns: dict[str, Any] = {
        "start_ns": np.arange(rows) * 250_000,
        "reaped_ns": reaped,
        "cpu_child": child,
        "errno": errno,
    }
    failed = int((errno != 0).sum())
    return encode_block(
        index,
        "launch.fork",
        temperature,
        columns,
        units=LAUNCH_UNITS,
        outcomes={"ok": rows - failed, "EAGAIN": failed},
        facts={"wall_ns": rows * 250_000, "effective_mhz": {"1": 3394.5}},
    )


def clock_block(index: int, rows: int, seed: int) -> bytes:
    """A block of clock.used: one f64 column, with a null."""
    cost = np.random.default_rng([seed, index, 1]).normal(21.0, 0.5, rows)
    cost[-1] = np.nan
    return encode_block(index, CLOCK, None, {"cost_ns": cost}, outcomes={"ok": rows}, facts={"wall_ns": 9})


@dataclass(frozen=True)
class Process:
    """One start of a driver: its cells, and its answer as bytes."""

    number: int
    cells: tuple[str, ...]
    answer: bytes

    def read(self) -> tuple[list[Block], Done]:
        """The answer's blocks and its end."""
        reader = AnswerReader()
        blocks = reader.feed(self.answer)
        return blocks, reader.finish()

    def cell_of(self, block: Block) -> str:
        """The cell that a block measured."""
        return next(cell for cell in self.cells if block.temperature is None or block.temperature in cell)

    def entry(self, *, ended: bool = True) -> dict[str, Any]:
        """The entry of ``processes``, at the process's start or its end."""
        entry: dict[str, Any] = {
            "process": self.number,
            "driver": "fake",
            "cells": list(self.cells),
            "started_ns": self.number * 1_000_000,
        }
        if ended:
            entry |= {
                "ended_ns": self.number * 1_000_000 + 900_000,
                "status": "ok",
                "reason": None,
                "exit_status": 0,
                "stderr": "",
            }
        return entry


def processes(rows: int = 5) -> list[Process]:
    """Three processes: fork (cold, then two warm blocks), the clock, fork again."""

    def fork(number: int) -> Process:
        blocks = launch_block(0, "cold", 1, number)
        blocks += launch_block(1, "warm", rows, number) + launch_block(2, "warm", rows + 2, number)
        return Process(number, (FORK_COLD, FORK_WARM), preamble() + blocks + encode_done(blocks=3))

    clock = Process(1, (CLOCK,), preamble() + clock_block(0, rows, 1) + encode_done(blocks=1))
    return [fork(0), clock, fork(2)]


def metadata_at_start() -> dict[str, Any]:
    """What is known before anything is measured."""
    cells = [
        (CLOCK, "clock.used", None),
        (FORK_COLD, "launch.fork", "cold"),
        (FORK_WARM, "launch.fork", "warm"),
        (ABSENT, "launch.absent", "warm"),
    ]
    return {
        "schema": 1,
        "started": "2026-01-02T03:04:05+00:00",
        "clonometer_version": "0.1.0",
        "seed": 7,
        "command": ["clonometer", "run", "--seed", "7"],
        "plan": {
            "name": "sample",
            "title": "A sample",
            "budget_seconds": 60.0,
            "cells": [
                {
                    "cell": text,
                    "workload": workload,
                    "condition": {"parent_bytes": 0, "placement": "pinned"} if workload != CLOCK else {},
                    "temperature": temperature,
                }
                for text, workload, temperature in cells
            ],
        },
        "catalogue": {"workloads": [], "axes": {}, "quantities": {}, "lacks": []},
        "clock": {
            "clock": "monotonic",
            "clock_hz": None,
            "cost_ns": 21.0,
            "reason": "a fake",
            "method": "none",
        },
        "host": {"cpu.model": "Fake", "cpu.online": 2},
    }


def ending() -> dict[str, Any]:
    """What is known at the end, but for processes."""
    return {
        "status": "complete",
        "status_reason": None,
        "ended": "2026-01-02T03:04:06+00:00",
        "cells": [
            {"cell": cell, "status": "ok", "reason": None, "stopped_by": "budget"}
            for cell in (CLOCK, FORK_COLD, FORK_WARM)
        ]
        + [{"cell": ABSENT, "status": "skipped", "reason": "needs Linux 9.9", "stopped_by": None}],
    }


def metadata() -> dict[str, Any]:
    """The whole metadata of a complete run."""
    return {
        **metadata_at_start(),
        **ending(),
        "processes": [process.entry() for process in processes()],
    }


def write_run(path: Path, rows: int = 5) -> Path:
    """Write the run file."""
    writer = RunFileWriter(path)
    for process in processes(rows):
        for block in process.read()[0]:
            writer.add_block(process.cell_of(block), process.number, block)
    return writer.write(metadata())


def write_raw(path: Path, rows: int = 5, *, n_processes: int = 3, end: bool = True) -> Path:
    """Write NAME.raw, of a run that came to its end or of one that was killed after its last process."""
    with RawWriter(path, metadata_at_start()) as raw:
        for process in processes(rows)[:n_processes]:
            raw.begin_process(process.entry(ended=False))
            blocks, done = process.read()
            for block in blocks:
                raw.add_block(block)
            raw.add_done(done)
            raw.end_process(process.entry())
        if end:
            raw.end(ending())
    return path
