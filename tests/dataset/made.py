"""Run files of made-up hosts, small and seeded: what tests of fleets, history and sharing read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from tests.fakes.memory_run import MemoryRun, RunBuilder, write_run

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMES = {"call_returns_ns": 50_000.0, "task_runs_ns": 60_000.0, "reaped_ns": 90_000.0}
FACTS: dict[str, Any] = {
    "cpu.model": "Test CPU",
    "cpu.online": 4,
    "cpu.microcode": "0x1",
    "kernel.release": "6.12.3",
    "virt.hypervisor": "KVM",
    "mitigations.summary": "retpolines",
    "libc.version": "2.36",
    "memory.total_bytes": 8 << 30,
    "load.one_minute": 0.1,
}


def make_run(
    *,
    host: str = "aaaa0000",
    day: float = 0.0,
    seed: int = 1,
    factor: float = 1.0,
    pthread: float | None = None,
    spread: float = 0.01,
    facts: Mapping[str, Any] | None = None,
) -> MemoryRun:
    """A run of fork and pthread whose times are ``factor`` times the usual; ``pthread``: another factor of these."""
    builder = RunBuilder(seed)
    options: dict[str, Any] = {"processes": 6, "samples": 4, "blocks": 1, "spread": spread}
    for workload, share in (("launch.fork", 1.0), ("launch.pthread", 0.3)):
        its = factor if workload == "launch.fork" or pthread is None else pthread
        builder.cell(workload, {name: value * share * its for name, value in TIMES.items()}, **options)
    metadata = builder.run.metadata
    started = START + timedelta(days=day)
    metadata |= {"started": started.isoformat(), "ended": (started + timedelta(minutes=1)).isoformat(), "seed": seed}
    metadata["host"] = {**FACTS, "host.name_hash": host, **(facts or {})}
    return builder.run


def write_fleet(folder: Path, *, hosts: int = 9, runs: int = 2, odd: float = 1.0, seed: int = 3) -> Path:
    """A fleet whose hosts differ by some 5% and runs by 1%; the last one takes ``odd`` times as long at fork."""
    random = np.random.default_rng(seed)
    for number in range(hosts):
        level = float(np.exp(0.05 * random.normal()))
        for run in range(runs):
            its = level * float(np.exp(0.01 * random.normal()))
            fork = its * (odd if number == hosts - 1 else 1.0)
            made = make_run(
                host=f"{number:08x}", day=run + number / 100, seed=100 * number + run, factor=fork, pthread=its
            )
            write_run(folder / f"host{number}" / f"run{run}.parquet", made)
    return folder
