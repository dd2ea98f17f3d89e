"""Realistic Results of the default plan on a 2-CPU virtual machine, made without measuring anything."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import NormalDist
from typing import Any

from tests.catalogue import CATALOGUE, defaults

from clonometer.results.series_types import EcdfSeries, FootprintBar, ScanSeries
from clonometer.results.types import CellOutcome, Estimate, Finding, Results, RunWarning
from clonometer.units import format_bytes

MIB = 1 << 20
MEMORY = {2 * MIB: 1.25, 64 * MIB: 14.0, 1024 * MIB: 185.0}


@dataclass(frozen=True)
class Shape:
    """A target: its warm medians in µs by stage, how much dearer cold is, and its condition."""

    workload: str
    stages_us: dict[str, float]
    cold: float
    axes: dict[str, int | str] = field(default_factory=dict)


BASE = (
    Shape("launch.fork", {"call_returns": 51.4, "task_runs": 60.2, "reaped": 84.9}, 2.6),
    Shape("launch.vfork", {"call_returns": 31.7, "task_runs": 14.1, "reaped": 33.0}, 2.9),
    Shape("launch.pthread", {"call_returns": 8.31, "task_runs": 15.9, "reaped": 24.7}, 4.6),
    Shape(
        "launch.fork",
        {"call_returns": 70.9, "task_runs": 84.1, "reaped": 131.4},
        2.3,
        {"linkage": "dynamic_lazy"},
    ),
    Shape("launch.posix_spawn", {"call_returns": 163.2, "image_runs": 188.0, "reaped": 247.5}, 2.1),
    Shape(
        "launch.fork_exec",
        {"call_returns": 52.0, "task_runs": 61.4, "image_runs": 236.3, "reaped": 301.0},
        2.2,
    ),
)


_FOOTPRINTS = [
    FootprintBar("process", {"kernel stack": 16e3, "own pages": 20e3}),
    FootprintBar("thread", {"kernel stack": 16e3, "own pages": 4e3}),
]


def shapes() -> Iterator[Shape]:
    yield from BASE
    for shape in BASE:
        yield replace(shape, axes={**shape.axes, "placement": "free"})
    for base, slope in ((BASE[0], 1.0), (BASE[2], 0.001)):
        for size, factor in MEMORY.items():
            grown = {stage: value * (1 + (factor - 1) * slope) for stage, value in base.stages_us.items()}
            yield replace(base, stages_us=grown, axes={"parent_bytes": size})
    for pages, factor in (("clean", 0.62), ("first", 1.15)):
        stages = {stage: value * MEMORY[64 * MIB] * factor for stage, value in BASE[0].stages_us.items()}
        yield replace(BASE[0], stages_us=stages, axes={"parent_bytes": 64 * MIB, "pages": pages})


def cell_text(workload: str, axes: dict[str, int | str], temperature: str | None) -> str:
    shown = {
        name: format_bytes(value) if isinstance(value, int) else value
        for name, value in axes.items()
        if value != CATALOGUE.axes[name].default
    }
    if temperature:
        shown["temperature"] = temperature
    inside = ",".join(f"{name}={value}" for name, value in sorted(shown.items()))
    return f"{workload}[{inside}]" if inside else workload


def estimate(
    workload: str, stage: str | None, median_ns: float | None, chance: random.Random, **changes: Any
) -> Estimate:
    """One row; ``changes`` replace fields, and ``axes`` and ``spread`` shape it."""
    axes = changes.pop("axes", {})
    spread = changes.pop("spread", 0.006) * chance.uniform(0.6, 1.6)
    temperature = changes.get("temperature")
    low, high = (None, None) if median_ns is None else (median_ns * (1 - spread), median_ns * (1 + 1.2 * spread))
    fields: dict[str, Any] = {
        "cell": cell_text(workload, axes, temperature),
        "workload": workload,
        "condition": {**defaults(workload), **axes},
        "temperature": temperature,
        "stage": stage,
        "placement": "same_cpu",
        "quantity": f"{stage}_ns" if stage else "cost_ns",
        "unit": "ns",
        "n_samples": 7200,
        "n_processes": 12,
        "median_ns": median_ns,
        "median_low_ns": low,
        "median_high_ns": high,
        "p99_ns": None if median_ns is None else median_ns * chance.uniform(1.4, 2.2),
        "p99_reason": None,
        "min_ns": None if median_ns is None else median_ns * chance.uniform(0.88, 0.95),
        "effective_mhz": chance.uniform(3391, 3394.5),
        "resolution_ns": 10.0,
        "family": CATALOGUE.workloads[workload].family,
    }
    return Estimate(**{**fields, **changes})


def _cell_rows(shape: Shape, temperature: str, chance: random.Random) -> Iterator[Estimate]:
    cold = temperature == "cold"
    free = shape.axes.get("placement") == "free"
    for placement, factor in (("same_cpu", 1.0), ("other_cpu", 1.35)) if free else (("same_cpu", 1.0),):
        for stage, value in shape.stages_us.items():
            holds_life = shape.workload == "launch.vfork" and stage == "call_returns"
            yield estimate(
                shape.workload,
                stage,
                value * 1000 * factor * (shape.cold * chance.uniform(0.9, 1.1) if cold else 1.0),
                chance,
                axes=shape.axes,
                spread=0.07 if cold else 0.006,
                temperature=temperature,
                placement=placement,
                n_samples=12 if cold else 7200,
                rankable=not holds_life,
                not_rankable_reason="vfork's call lasts until the child has gone" if holds_life else None,
                **({"p99_ns": None, "p99_reason": "12 samples; 300 are needed"} if cold else {}),
            )


def _floor(chance: random.Random) -> Iterator[Estimate]:
    for workload, cost_ns in (("launch.none", 21.4), ("launch.stamp", 912.0), ("clock.used", 9.8)):
        yield estimate(workload, None, cost_ns, chance, placement=None, resolution_ns=0.1)


def _ecdf(row: Estimate, chance: random.Random, points: int) -> EcdfSeries:
    assert row.median_ns is not None
    assert row.stage is not None
    count = min(points, row.n_samples)
    normal = NormalDist(0, 0.09)
    deviates = sorted(normal.inv_cdf(chance.uniform(0.001, 0.999)) for _ in range(count))
    times = sorted(row.median_ns * (1 + z if chance.random() < 0.95 else 1.5 + z) for z in deviates)
    fractions = [(rank + 1) / count for rank in range(count)]
    return EcdfSeries(row.cell, row.workload, row.family, row.stage, row.placement, row.temperature, times, fractions)


def _memory(cells: list[Estimate]) -> Iterator[ScanSeries]:
    for workload in ("launch.fork", "launch.pthread"):
        for stage in ("call_returns", "task_runs", "reaped"):
            rows = [
                row
                for row in cells
                if (row.workload, row.stage, row.temperature) == (workload, stage, "warm")
                and row.condition["parent_bytes"]
                and row.condition["pages"] == "rewritten"
            ]
            yield ScanSeries(
                workload=workload,
                family="same_image",
                axis="parent_bytes",
                axis_kind="bytes",
                stage=stage,
                quantity=f"{stage}_ns",
                temperature="warm",
                placement=None,
                condition={"page_kind": "4k", "pages": "rewritten"},
                x=[int(row.condition["parent_bytes"]) for row in rows],
                medians=[row.median_ns or 0.0 for row in rows],
                lows=[row.median_low_ns or 0.0 for row in rows],
                highs=[row.median_high_ns or 0.0 for row in rows],
            )


def _scans() -> Iterator[ScanSeries]:
    """Fork grows with VMAs, more if they are touched; pthread does not. The first launches fall, cold."""
    counts = (0, 100, 10_000, 60_000)
    for workload, each_ns, kind in (
        ("launch.fork", 130.0, {}),
        ("launch.fork", 900.0, {"vma_kind": "touched"}),
        ("launch.pthread", 0.0, {}),
    ):
        medians = [60_000 + each_ns * count for count in counts]
        yield _scan(workload, "vmas", "reaped", "warm", kind, counts, medians)
    for workload in ("launch.fork", "launch.pthread"):
        numbers = range(1, 21)
        yield _scan(
            workload, "launch_number", "reaped", "cold", {}, numbers, [90e3 + 60e3 / number for number in numbers]
        )
    sizes = (64 << 10, 2 << 20, 64 << 20)
    yield _scan("memcpy.private", "copy_bytes", None, None, {}, sizes, [size * 0.1 for size in sizes])


def _scan(workload, axis, stage, temperature, condition, x, medians):  # noqa: PLR0917
    return ScanSeries(
        workload=workload,
        family="memory" if stage is None else "same_image",
        axis=axis,
        axis_kind="bytes" if axis.endswith("_bytes") else "count",
        stage=stage,
        quantity="copy_ns" if stage is None else f"{stage}_ns",
        temperature=temperature,
        placement=None,
        condition=condition,
        x=tuple(x),
        medians=tuple(medians),
        lows=tuple(0.97 * median for median in medians),
        highs=tuple(1.04 * median for median in medians),
    )


def _phases() -> Iterator[ScanSeries]:
    """A fork as one story: the call grows with the memory, the aftermath more."""
    sizes = (0, 64 << 20, 4 << 30)
    for condition in ({}, {"other_process": "gone"}):
        for name, each in (("fork_call", 0.02), ("call_stall", 0.01), ("aftermath_pass", 0.5)):
            series = _scan(
                "cow.stall", "parent_bytes", None, None, condition, sizes, [5e3 + size * each for size in sizes]
            )
            yield replace(series, family="cow", quantity=f"{name}_ns", phase=True)


def with_switches(results: Results) -> Results:
    """The results of a run that measured switches and messages besides."""
    scans = []
    for quantity, base in (("handover_ns", 3000.0), ("alone_ns", 900.0), ("switch_ns", 2100.0)):
        for axis, values in (("ring_tasks", (2, 10, 1000)), ("working_set_bytes", (0, 64 << 10, 64 << 20))):
            for kind in ({}, {"task_kind": "process"}):
                scan = _scan("switch.pipe", axis, None, None, kind, values, [base + value for value in values])
                scans.append(replace(scan, family="switch", quantity=quantity))
    sizes, messages = (1, 64 << 10, 64 << 20), []
    for workload, kind in (("ipc.shared_memory", "thread"), ("ipc.pipe", "process")):
        for condition in ({}, {"partner_cpu": "other"}):
            times = [3e3 + size / 4 for size in sizes]
            rates = [size / time * 1e9 for size, time in zip(sizes, times, strict=True)]
            named = {"task_kind": kind, **condition}
            for quantity, unit, medians in (("latency_ns", "ns", times), ("bandwidth", "B/s", rates)):
                scan = _scan(workload, "message_bytes", None, None, named, sizes, medians)
                messages.append(replace(scan, family="ipc", quantity=quantity, unit=unit))
    return replace(results, scans=(*results.scans, *scans), series={**results.series, "messages": tuple(messages)})


FINDINGS = (
    Finding(
        "fastest.same_image",
        "Same image: pthread launches fastest: its task runs 3.79 (3.76 to 3.82) times sooner than fork's "
        "and it is reaped 3.44 (3.42 to 3.46) times sooner.",
        {"ratio": 3.44, "ratio_low": 3.42, "ratio_high": 3.46, "cells": ["launch.fork[temperature=warm]"]},
    ),
    Finding(
        "fastest.new_program",
        "New program: posix_spawn is reaped 1.22 (1.21 to 1.23) times sooner than fork+exec.",
        {
            "ratio": 1.22,
            "ratio_low": 1.21,
            "ratio_high": 1.23,
            "cells": ["launch.posix_spawn[temperature=warm]"],
        },
    ),
    Finding(
        "memory.fork",
        "Memory: fork pays 59 (58 to 60) ns for each touched 4 KiB page of its parent, 15.7 ms at 1 GiB.",
        {"slope_ns_per_page": 59.2, "slope_low": 58.1, "slope_high": 60.3},
    ),
    Finding(
        "memory.pthread",
        "Memory: pthread does not notice it: 1.00 (0.99 to 1.01) times as long with 1 GiB as with 2 MiB.",
        {"ratio": 1.0, "ratio_low": 0.99, "ratio_high": 1.01},
    ),
    Finding(
        "temperature.order",
        "Cold launches take 2.1 to 4.6 times as long as warm ones and keep the order of the mechanisms.",
        {"ratio": 2.6, "ratio_low": 2.1, "ratio_high": 4.6},
    ),
    Finding(
        "linkage.fork",
        "Linkage: a lazily bound parent makes fork 1.55 (1.53 to 1.57) times dearer until reaped.",
        {"ratio": 1.55, "ratio_low": 1.53, "ratio_high": 1.57},
    ),
    Finding(
        "pages.fork",
        "Pages: at 64 MiB a clean parent forks in 0.62 (0.61 to 0.63) of the time of a rewritten one.",
        {"ratio": 0.62, "ratio_low": 0.61, "ratio_high": 0.63},
    ),
    Finding(
        "undecided.1",
        "Not distinguishable: call returns of fork and of fork+exec (ratio 1.01, 0.99 to 1.03).",
        {"ratio": 1.01, "ratio_low": 0.99, "ratio_high": 1.03},
    ),
)

HOST: dict[str, Any] = {
    "cpu.model": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
    "cpu.vendor": "GenuineIntel",
    "cpu.arch": "x86_64",
    "cpu.microcode": "0xffffffff",
    "cpu.online": 2,
    "cpu.allowed": 2,
    "cpu.smt": True,
    "cpu.cache_llc_bytes": 105 * MIB,
    "cpufreq.driver": None,
    "lacks.cpufreq.driver": "no cpufreq in /sys/devices/system/cpu",
    "cpuidle.states": ["POLL:0", "C1:2"],
    "kernel.release": "6.18.5-cloud-amd64",
    "kernel.version": "#1 SMP PREEMPT_DYNAMIC Debian 6.18.5-1",
    "kernel.preemption": "voluntary",
    "mitigations": {"spectre_v2": "Mitigation: Enhanced / Automatic IBRS", "meltdown": "Not affected"},
    "mitigations.summary": "enhanced IBRS, no KPTI",
    "virt.hypervisor": "kvm",
    "virt.container": "none",
    "clocksource.current": "tsc",
    "memory.total_bytes": 8_322_842_624,
    "memory.available_bytes": 7_015_000_064,
    "memory.overcommit": 0,
    "thp.enabled": "madvise",
    "cgroup.version": "v2",
    "limit.stack_bytes": 8 * MIB,
    "limit.nproc": 31_877,
    "limit.as_bytes": None,
    "libc.name": "glibc",
    "libc.version": "2.36",
    "security.lsm": ["landlock", "yama", "apparmor"],
    "user.root": False,
    "load.one_minute": 0.12,
}

WARNINGS = (
    RunWarning(
        "frequency.drift",
        "The effective frequency moved by 4.1% during the run (3255 to 3394 MHz).",
        "Repeat on a quiet machine, or set the performance governor.",
    ),
    RunWarning(
        "samples.few",
        "Cold cells have 12 samples each: one for each process.",
        "Raise the number of processes with --budget to narrow their intervals.",
    ),
)


def sample_results(*, ecdf_points: int = 400, **changes: Any) -> Results:
    """Build the default plan's results; ``changes`` replace fields of `Results`."""
    made = _made(ecdf_points)
    return replace(made, **{"cells": [*made.cells], "ecdfs": [*made.ecdfs], "scans": [*made.scans], **changes})


@cache
def _made(ecdf_points: int) -> Results:
    chance = random.Random(20260401)
    cells = [row for shape in shapes() for warmth in ("warm", "cold") for row in _cell_rows(shape, warmth, chance)]
    cells[0] = replace(
        cells[0],
        warnings=(RunWarning("processes.few", "5 processes only.", "Raise --budget."),),
        outcomes={"ok": 7199, "EAGAIN": 1},
    )
    ecdfs = [_ecdf(row, chance, ecdf_points) for row in cells]
    cells += _floor(chance)
    return Results(
        run_name="clonometer-run",
        status="complete",
        status_reason=None,
        plan_name="default",
        started="2026-04-01T12:00:00+00:00",
        duration_s=58.3,
        command=["clonometer", "run", "--plan", "default", "--seed", "7"],
        host=HOST,
        clock={"clock": "tsc", "clock_hz": 2_700_000_000, "cost_ns": 9.8, "reason": "invariant TSC"},
        clonometer_version="0.1.0",
        seed=7,
        n_processes=276,
        n_samples=sum(row.n_samples for row in cells),
        cells=cells,
        cell_outcomes=[CellOutcome(text, "ok", None) for text in dict.fromkeys(row.cell for row in cells)],
        findings=FINDINGS,
        warnings=WARNINGS,
        ecdfs=ecdfs,
        scans=[*_memory(cells), *_scans(), *_phases()],
        series={"footprints": _FOOTPRINTS},
        summaries={
            "launch.fork": "fork(): a copy of the parent, page tables and all.",
            "launch.vfork": "vfork(): a child that borrows the parent's memory; the parent waits.",
            "launch.pthread": "pthread_create and pthread_join: a thread in the same memory.",
            "launch.posix_spawn": "posix_spawn of a small static program.",
            "launch.fork_exec": "fork, then execve of a small static program.",
            "launch.none": "The bare measuring loop.",
            "launch.stamp": "The child's stamp in the shared page.",
            "clock.used": "One reading of the clock.",
        },
    )
