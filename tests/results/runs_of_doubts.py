"""Runs in memory on which a careless sentence would say too much, as in ``tests/results/runs.py``."""

from __future__ import annotations

import numpy as np
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.results.runs import FORK, GIB, KINDS, MIB, PTHREAD, footprint_sizes, listed, operation, plus, scaled


def _with_memory(builder: RunBuilder, more_ns: dict[int, float], **options: float) -> MemoryRun:
    for size, extra in more_ns.items():
        builder.cell("launch.fork", plus(FORK, extra), parent_bytes=size, **options)
    return builder.run


@listed
def memory_of_2_mib() -> MemoryRun:
    """Fork takes 50 ns more a page, measured with 2 MiB at most: a slope for each GiB lies beyond the data."""
    return _with_memory(RunBuilder(), {size * MIB: 50 * size * 256 for size in (0, 1, 2)}, spread=0.002)


@listed
def memory_from_2_processes() -> MemoryRun:
    """Fork takes 50 ns more a page, seen in 2 processes only."""
    return _with_memory(RunBuilder(), {size: 50 * size / 4096 for size in (0, 64 * MIB, GIB)}, processes=2)


@listed
def memory_that_helps() -> MemoryRun:
    """Fork takes 0.7 times as long with 1 GiB: that is no cost of a GiB."""
    builder = RunBuilder()
    for size, factor in ((0, 1.0), (64 * MIB, 1.0), (GIB, 0.7)):
        builder.cell("launch.fork", scaled(FORK, factor), parent_bytes=size)
    return builder.run


@listed
def memory_that_bends() -> MemoryRun:
    """Fork takes 75 ns more a page up to 64 MiB, 110 ns at 1 GiB: no line goes through all sizes."""
    costs = {size: 75 * size / 4096 for size in (0, 2 * MIB, 16 * MIB, 64 * MIB)}
    return _with_memory(RunBuilder(), costs | {GIB: 110 * GIB / 4096})


@listed
def hump() -> MemoryRun:
    """Fork takes 10 times as long with 100 VMAs as without any, and as with 10,000."""
    builder = RunBuilder()
    for count, factor in ((0, 1), (100, 10), (10_000, 1)):
        builder.cell("launch.fork", scaled(FORK, factor), vmas=count)
    return builder.run


@listed
def wide_third() -> MemoryRun:
    """Pthread is surely faster than vfork, the next; fork, the third, scatters so widely that it may be first."""
    builder = RunBuilder(seed=2)
    builder.cell("launch.pthread", FORK, spread=0.002)
    builder.cell("launch.vfork", scaled(FORK, 1.3), spread=0.002)
    builder.cell("launch.fork", scaled(FORK, 1.32), spread=0.5)
    return builder.run


@listed
def sharing_nothing() -> MemoryRun:
    """Counters side by side take workers as long as counters apart."""
    builder = RunBuilder()
    for kind in KINDS:
        for layout in ("padded", "packed"):
            builder.cell("contend.counter", operation(5), None, workers=2, task_kind=kind, counter_layout=layout)
    return builder.run


@listed
def ratios_from_2_processes() -> MemoryRun:
    """Another linkage, clean pages at two sizes, and a process beside a thread: from 2 processes, nothing is sure."""
    builder = RunBuilder()
    builder.cell("launch.fork", FORK, processes=2)
    builder.cell("launch.fork", scaled(FORK, 2), processes=2, linkage="dynamic_lazy")
    for size in (MIB, 64 * MIB):
        builder.cell("launch.fork", FORK, processes=2, parent_bytes=size)
        builder.cell("launch.fork", scaled(FORK, 0.5), processes=2, parent_bytes=size, pages="clean")
    for task, sizes in (("process", (90_000, 70_000)), ("thread", (40_000, 20_000))):
        builder.cell(f"footprint.{task}", footprint_sizes(*sizes), None, processes=2)
    return builder.run


@listed
def only_with_memory() -> MemoryRun:
    """One process of fork and pthread, with 1 GiB only."""
    builder = RunBuilder()
    for workload, values in (("launch.fork", scaled(FORK, 47)), ("launch.pthread", PTHREAD)):
        builder.cell(workload, values, processes=1, parent_bytes=GIB)
    return builder.run


@listed
def stamps_of_two_temperatures() -> MemoryRun:
    """The child's stamp takes 1.24 us warm and 3.7 us cold; with another linkage 9 us."""
    builder = RunBuilder()
    for temperature, stamp_ns in (("warm", 1_240), ("cold", 3_700)):
        builder.cell("launch.stamp", {"stamp_ns": stamp_ns}, temperature)
        builder.cell("launch.stamp", {"stamp_ns": 9_000}, temperature, linkage="dynamic_lazy")
    for linkage, loop_ns in (("static", 45), ("dynamic_lazy", 90)):
        loop = {"call_returns_ns": loop_ns / 2, "reaped_ns": loop_ns}
        builder.cell("launch.none", loop, None, spread=0.0, linkage=linkage)
    return builder.run


def equal_cells(seed: int) -> MemoryRun:
    """Fifteen cells of launches that take as long as each other, at 5% scatter."""
    builder = RunBuilder(seed=seed)
    builder.run.metadata["seed"] = seed
    options = {"samples": 3, "blocks": 1, "spread": 0.05}
    for workload in ("launch.fork", "launch.vfork", "launch.pthread"):
        for condition in ({}, {"parent_bytes": MIB}, {"parent_bytes": 64 * MIB}, {"vmas": 10}, {"vmas": 1000}):
            builder.cell(workload, dict.fromkeys(FORK, 90_000 * float(np.e)), **options, **condition)
    return builder.run
