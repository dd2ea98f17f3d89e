"""Made schema1.parquet, the first frozen run file, from the fake driver's samples.

A frozen file is never made again: it stands for the files that people have kept, and this script only shows
how it was made. From the project's folder: ``PYTHONPATH=src python -m tests.data.make_schema1``; it refuses
to replace the file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from clonometer.plan.cell import CatalogueAxis, Cell, make_cell
from clonometer.protocol import AnswerReader
from clonometer.runfile import RunFileWriter

FOLDER = Path(__file__).parent
N_PROCESSES = 12
SAMPLES, BLOCKS = 20, 2
TARGETS: list[tuple[str, dict[str, int | str], tuple[str | None, ...]]] = [
    ("launch.fork", {}, ("cold", "warm")),
    ("launch.fork", {"parent_bytes": 64 << 20}, ("warm",)),
    ("launch.fork", {"placement": "free"}, ("warm",)),
    ("launch.pthread", {}, ("cold", "warm")),
    ("clock.used", {}, (None,)),
]


def main() -> None:
    """Write the file."""
    sys.path.insert(0, str(FOLDER.parent / "fakes"))
    import fake_answering

    catalogue = fake_answering.catalogue()
    axes = {
        name: CatalogueAxis(name, axis["type"], axis["default"], axis["summary"])
        for name, axis in catalogue["axes"].items()
    }
    entries = {workload["id"]: workload for workload in catalogue["workloads"]}
    writer = RunFileWriter(FOLDER / "schema1.parquet")
    processes: list[dict[str, Any]] = []
    cells: list[Cell] = []
    for round_ in range(N_PROCESSES):
        for workload, condition, temperatures in TARGETS:
            own_axes = {name: axes[name] for name in entries[workload]["axes"]}
            measured = [make_cell(workload, condition, temperature, own_axes) for temperature in temperatures]
            cells += measured if round_ == 0 else []
            number = len(processes)
            words = [f"workload={workload}", f"samples={SAMPLES}", f"blocks={BLOCKS}"]
            words += [f"{name}={value}" for name, value in condition.items()]
            if None not in temperatures:
                words.append(f"temperatures={','.join(str(temperature) for temperature in temperatures)}")
            mode = "failed_launches" if workload == "launch.pthread" else "ok"
            os.environ["FAKE_DRIVER_SEED"] = str(number)
            blocks, end = fake_answering.answer(fake_answering.read_request(words), mode)
            reader = AnswerReader()
            for block in reader.feed(fake_answering.preamble() + b"".join(blocks) + end):
                cell = next(candidate for candidate in measured if candidate.temperature == block.temperature)
                writer.add_block(cell.text, number, block)
            reader.finish()
            processes.append(_process(number, measured))
    absent = make_cell("launch.absent", {}, "warm", {"placement": axes["placement"]})
    writer.write(_metadata(catalogue, [*cells, absent], processes))


def _process(number: int, cells: list[Cell]) -> dict[str, Any]:
    return {
        "process": number,
        "driver": "fake",
        "cells": [cell.text for cell in cells],
        "started_ns": number * 100_000_000,
        "ended_ns": number * 100_000_000 + 90_000_000,
        "status": "ok",
        "reason": None,
        "exit_status": 0,
        "stderr": "",
    }


def _metadata(catalogue: dict[str, Any], cells: list[Cell], processes: list[dict[str, Any]]) -> dict[str, Any]:
    absent = cells[-1].text
    reason = "needs Linux 9.9, this is 6.1"
    return {
        "status": "complete",
        "status_reason": None,
        "started": "2026-01-02T03:04:05+00:00",
        "ended": "2026-01-02T03:04:11+00:00",
        "clonometer_version": "0.1.0",
        "seed": 20260102,
        "command": ["clonometer", "run", "--plan", "frozen", "--seed", "20260102"],
        "plan": {
            "name": "frozen",
            "title": "The frozen run of schema 1",
            "budget_seconds": 60.0,
            "cells": [
                {
                    "cell": cell.text,
                    "workload": cell.workload,
                    "condition": dict(cell.condition),
                    "temperature": cell.temperature,
                }
                for cell in cells
            ],
        },
        "catalogue": catalogue,
        "clock": {
            "clock": "monotonic",
            "clock_hz": None,
            "cost_ns": 23.0,
            "reason": "a fake",
            "method": "none",
        },
        "host": {
            "cpu.model": "Fake CPU",
            "cpu.online": 2,
            "cpu.allowed": 2,
            "kernel.release": "6.1.0-fake",
            "virt.hypervisor": "none",
            "thp.enabled": "madvise",
            "mitigations.summary": "none",
            "memory.total_bytes": 8 << 30,
        },
        "processes": processes,
        "cells": [
            {
                "cell": cell.text,
                "status": "skipped" if cell.text == absent else "ok",
                "reason": reason if cell.text == absent else None,
                "stopped_by": None if cell.text == absent else "budget",
            }
            for cell in cells
        ],
    }


if __name__ == "__main__":
    main()
