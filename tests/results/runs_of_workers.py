"""Runs in memory of workers whose truth is known, as in ``tests/results/runs.py``."""

from __future__ import annotations

import numpy as np
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.results.runs import FORK, KINDS, listed

NUMBERS = (1000, 3000, 5000, 5040, 5080, 5120, 5160, 5200, 7000, 11_000, 15_000, 19_000)
#: Constant, linear and quadratic term by kind of task, in nanoseconds.
PARABOLA = {"thread": (300_000.0, 90.0, 0.32), "process": (900_000.0, 90.0, 0.32)}


def whole_times(value_ns: float, workers: int = 1) -> dict[str, float]:
    """Give what a piece of work measures that ``workers`` share."""
    return {"whole_ns": value_ns, "whole_each_ns": value_ns / workers}


@listed
def work_by_numbers() -> MemoryRun:
    """Work grows with its numbers by a parabola, whose constant term is three times a process's."""
    builder = RunBuilder()
    for kind in KINDS:
        for number in NUMBERS:
            value = sum(term * number**power for power, term in enumerate(PARABOLA[kind]))
            builder.cell("work.factor", whole_times(value), None, task_kind=kind, numbers=number)
    return builder.run


@listed
def work_by_workers() -> MemoryRun:
    """On 2 CPUs: the same up to 2 workers; beyond, each thread adds 1.2 ms, each process 1 ms."""
    builder = RunBuilder()
    builder.run.metadata["host"]["cpu.online"] = 2
    for kind, slope in (("thread", 1.2e6), ("process", 1.0e6)):
        for workers in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32):
            value = 2e6 if workers <= 2 else 2e6 + slope * (workers - 2)
            builder.cell("work.factor", whole_times(value, workers), None, task_kind=kind, workers=workers)
    return builder.run


@listed
def ablation() -> MemoryRun:
    """The stream costs threads 6 ms, the counters 3; 1 remains, and the file table is nothing."""
    builder = RunBuilder()
    shared = {"output": "shared_stream", "counters": "adjacent"}
    steps: list[tuple[float, dict[str, str]]] = [
        (30e6, shared),
        (24e6, {"counters": "adjacent"}),
        (24e6, {"counters": "adjacent", "file_table": "own"}),
        (21e6, {"file_table": "own"}),
    ]
    for threads_ns, condition in steps:
        for kind, value in (("thread", threads_ns), ("process", 20e6)):
            settings = {"processes": 20, "spread": 0.004, "task_kind": kind, **condition}
            builder.cell("work.factor", whole_times(value), None, **settings)
    return builder.run


@listed
def ablation_without_gap() -> MemoryRun:
    """Threads and processes take as long, whatever they share."""
    builder = RunBuilder()
    shared = {"output": "shared_stream", "counters": "adjacent", "file_table": "own"}
    for taken in range(4):
        condition = dict(list(shared.items())[taken:])
        for kind in KINDS:
            settings = {"processes": 20, "spread": 0.01, "task_kind": kind, **condition}
            builder.cell("work.factor", whole_times(20e6), None, **settings)
    return builder.run


@listed
def variants() -> MemoryRun:
    """Of 8 workers, threads take 2.5 times as long with adjacent counters, 1.3 with a stream, 0.8 without output."""
    builder = RunBuilder()
    builder.run.metadata["host"]["cpu.online"] = 2
    conditions: list[tuple[float, dict[str, str]]] = [
        (1.0, {}),
        (1.3, {"output": "shared_stream"}),
        (2.5, {"counters": "adjacent"}),
        (0.8, {"output": "none"}),
    ]
    for times, condition in conditions:
        for kind, factor in (("thread", times), ("process", 1.0)):
            builder.cell("work.factor", whole_times(10e6 * factor, 8), None, task_kind=kind, workers=8, **condition)
    return builder.run


def _shaped(builder: RunBuilder, vmas: int, **settings: int) -> dict[str, np.ndarray]:
    text = builder.cell("launch.fork", FORK, spread=0.01, vmas=vmas, **settings)
    return builder.run.data[text]


@listed
def everything_is_warned_of() -> MemoryRun:
    """Cells by number of VMAs, each with a fault: two modes, a trend, wandering, a warm-up and so on."""
    builder = RunBuilder()
    random = np.random.default_rng(40)
    modes = _shaped(builder, 1)
    modes["reaped_ns"][random.random(modes["reaped_ns"].size) < 0.3] *= 2
    trend = _shaped(builder, 2, processes=20)
    trend["reaped_ns"] = (trend["reaped_ns"] * (1 + 0.3 * trend["process"] / 60)).astype(np.int64)
    hill = _shaped(builder, 3, processes=24)
    turn = np.pi * (hill["process"] - hill["process"][0]) / 24
    hill["reaped_ns"] = (hill["reaped_ns"] * (1 + 0.2 * np.sin(turn))).astype(np.int64)
    warming = _shaped(builder, 4, blocks=1, samples=60)
    warming["reaped_ns"][warming["sample"] < 12] *= 2
    moved = _shaped(builder, 5)
    moved["cpu_after"] = (moved["sample"] == 3).astype(np.int32)
    moved["reaped_ns"][moved["sample"] == 3] *= 5
    skewed = _shaped(builder, 6)
    skewed["task_runs_ns"][:3] = 10**9
    failed = _shaped(builder, 7)
    failed["errno"][:3] = 11
    dependent = _shaped(builder, 8, samples=90, blocks=1, processes=4)
    dependent["call_returns_ns"] = (50_000 * np.tile(np.linspace(0.5, 1.5, 90), 4)).astype(np.int64)
    builder.cell("launch.fork", FORK, spread=0.5, vmas=9)
    rare = builder.run.data[builder.cell("launch.fork", FORK, placement="free")]
    rare["cpu_child"][:3] = 1
    for block, metadata in enumerate(builder.run.metadata["blocks"]):
        metadata["facts"]["effective_mhz"] = {"0": 3000.0 if block % 2 else 2700.0}
    disturbed = {"involuntary_switches": 900, "cpu_ns": 500}
    builder.cell("clock.used", {"cost_ns": 9.8}, None, facts=disturbed, processes=200)
    return builder.run
