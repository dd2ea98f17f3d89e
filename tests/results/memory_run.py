"""Runs in memory: made of chosen numbers, so that every result has a known answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NULL_I32 = np.iinfo(np.int32).min
NULL_I64 = np.iinfo(np.int64).min
MIB, GIB = 1 << 20, 1 << 30

AXES: dict[str, dict[str, Any]] = {
    "linkage": {"type": "choice", "values": ["static", "dynamic_lazy"], "default": "static", "summary": ""},
    "placement": {"type": "choice", "values": ["pinned", "free"], "default": "pinned", "summary": ""},
    "pages": {
        "type": "choice",
        "values": ["rewritten", "first", "clean"],
        "default": "rewritten",
        "summary": "",
    },
    "parent_bytes": {"type": "bytes", "default": 0, "summary": ""},
    "page_kind": {"type": "choice", "values": ["4k", "thp"], "default": "4k", "summary": ""},
    "vmas": {"type": "count", "default": 0, "summary": ""},
    "vma_kind": {"type": "choice", "values": ["untouched", "touched"], "default": "untouched", "summary": ""},
    "caches": {"type": "choice", "values": ["hot", "idle", "thrashed"], "default": "hot", "summary": ""},
    "idle_ns": {"type": "count", "default": 100_000_000, "minimum": 1, "summary": ""},
    "thrash_bytes": {"type": "bytes", "default": 128 << 20, "minimum": 1, "summary": ""},
    "thrash_cpu": {"type": "choice", "values": ["same", "other"], "default": "same", "summary": ""},
    "launch_number": {"type": "count", "default": 1, "minimum": 1, "summary": ""},
    "other_process": {"type": "choice", "values": ["alive", "gone"], "default": "alive", "summary": ""},
    "sched_class": {"type": "choice", "values": ["other", "batch", "fifo"], "default": "other", "summary": ""},
    "fault": {"type": "choice", "values": ["segfault", "overrun_neighbour"], "default": "segfault", "summary": ""},
    "siblings": {"type": "count", "default": 3, "summary": ""},
    "counter_layout": {"type": "choice", "values": ["padded", "packed", "one"], "default": "padded", "summary": ""},
    "write_step": {"type": "choice", "values": ["page", "small_page"], "default": "page", "summary": ""},
    "written_bytes": {"type": "bytes", "default": 1 << 20, "summary": ""},
    "tasks": {"type": "count", "default": 100, "minimum": 1, "summary": ""},
    "accounting": {"type": "choice", "values": ["machine", "cgroup"], "default": "machine", "summary": ""},
    "program": {"type": "text", "default": "target_static", "summary": ""},
    "task_kind": {"type": "choice", "values": ["thread", "process"], "default": "thread", "summary": ""},
    "workers": {"type": "count", "default": 1, "minimum": 1, "summary": ""},
    "numbers": {"type": "count", "default": 1000, "minimum": 1, "summary": ""},
    "output": {
        "type": "choice",
        "values": ["worker_file", "shared_stream", "shared_append"],
        "default": "worker_file",
        "summary": "",
    },
    "file_table": {"type": "choice", "values": ["inherited", "own"], "default": "inherited", "summary": ""},
    "counters": {"type": "choice", "values": ["padded", "adjacent"], "default": "padded", "summary": ""},
    "partner_cpu": {"type": "choice", "values": ["same", "other"], "default": "same", "summary": ""},
    "ring_tasks": {"type": "count", "default": 2, "minimum": 1, "summary": ""},
    "working_set_bytes": {"type": "bytes", "default": 0, "summary": ""},
    "message_bytes": {"type": "bytes", "default": 1, "minimum": 1, "summary": ""},
}
PARENT = [
    "linkage",
    "placement",
    "pages",
    "page_kind",
    "parent_bytes",
    "vmas",
    "vma_kind",
    "caches",
    "idle_ns",
    "thrash_bytes",
    "thrash_cpu",
    "launch_number",
    "sched_class",
]
SWITCH = ["placement", "partner_cpu", "task_kind", "ring_tasks", "working_set_bytes"]
MESSAGE = ["placement", "partner_cpu", "task_kind", "message_bytes"]
HUGE = ["page_kind", "write_step", "written_bytes"]
SIGNED = {"switch_ns"}
STAGES = ["call_returns_ns", "task_runs_ns", "reaped_ns"]
IMAGE = ["call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"]
ISOLATION = ["survivors", "damaged", "parent_alive", "ended_by_signal"]
RECOVERY = ["known_ns", "replaced_ns", "restored_ns"]
STORY = ["fork_call", "quiet_stall", "call_stall", "aftermath_stall", "quiet_pass", "aftermath_pass"]
GAPS = {f"call_gap_p{name}_ns": one_in for name, one_in in ((50, 2), (99, 100), (9999, 10000))}
HELD = ["whole", "kernel", "user", "kernel_stack", "page_tables", "slab", "virtual", "resident", "private"]
COLUMNS = {
    "start_ns": ("i64", "ns"),
    "call_returns_ns": ("i64", "ns"),
    "task_runs_ns": ("i64", "ns"),
    "image_entered_ns": ("i64", "ns"),
    "image_runs_ns": ("i64", "ns"),
    "cpuid": ("i64", "count"),
    "start_cpuid": ("i64", "count"),
    "cpuid_ns": ("f64", "ns"),
    "reaped_ns": ("i64", "ns"),
    "cpu_before": ("i32", "cpu"),
    "cpu_after": ("i32", "cpu"),
    "cpu_child": ("i32", "cpu"),
    "errno": ("i32", "errno"),
    "stamp_ns": ("i64", "ns"),
    "cost_ns": ("f64", "ns"),
    "handover_ns": ("f64", "ns"),
    "alone_ns": ("f64", "ns"),
    "switch_ns": ("f64", "ns"),
    "latency_ns": ("f64", "ns"),
    "stream_ns": ("f64", "ns"),
    "bandwidth": ("i64", "bytes/s"),
    "wait_us": ("f64", "us"),
    "write_each_ns": ("f64", "ns"),
    "again_each_ns": ("f64", "ns"),
    "faults": ("i64", "count"),
    "split_pages": ("i64", "count"),
    **{f"{name}_ns": ("i64", "ns") for name in STORY},
    **dict.fromkeys(GAPS, ("i64", "ns")),
    "call_gaps": ("i64", "count"),
    "known_ns": ("i64", "ns"),
    "replaced_ns": ("i64", "ns"),
    "restored_ns": ("i64", "ns"),
    **dict.fromkeys(ISOLATION, ("i64", "count")),
    "op_ns": ("f64", "ns"),
    "cpu_op_ns": ("f64", "ns"),
    **{f"{name}_each_bytes": ("f64", "bytes") for name in HELD},
    "create_each_ns": ("f64", "ns"),
    "reap_each_ns": ("f64", "ns"),
    "footprint_bytes": ("i64", "bytes"),
    "whole_ns": ("i64", "ns"),
    "whole_each_ns": ("f64", "ns"),
}
DETAILS = {
    "whole_each_ns",
    *GAPS,
    "call_gaps",
    "faults",
    "split_pages",
    "image_entered_ns",
    "cpuid",
    "start_cpuid",
    "cpuid_ns",
}


def _workload(
    id_: str,
    family: str,
    axes: Sequence[str],
    quantities: Sequence[str],
    temperatures: Sequence[str] = ("cold", "warm"),
) -> dict[str, Any]:
    return {
        "id": id_,
        "family": family,
        "summary": f"{id_} in one line",
        "axes": list(axes),
        "temperatures": list(temperatures),
        "quantities": list(quantities),
        "nulls": {},
        "call_returns_contains": "child_life" if id_ in {"launch.vfork", "launch.posix_spawn"} else None,
        "available": True,
        "reason": None,
    }


def _rung(id_: str, reaped_by: str, step_from: str | None) -> dict[str, Any]:
    return {**_workload(id_, "same_image", PARENT, STAGES), "reaped_by": reaped_by, "step_from": step_from}


WRITES = ["write_each_ns", "again_each_ns"]
WORKLOADS = [
    _workload("launch.fork", "same_image", PARENT, STAGES),
    _workload("launch.vfork", "same_image", PARENT, STAGES),
    _workload("launch.pthread", "same_image", PARENT, STAGES),
    _workload(
        "launch.posix_spawn",
        "new_program",
        [*PARENT, "program"],
        ["call_returns_ns", "image_entered_ns", "image_runs_ns", "reaped_ns"],
    ),
    _workload("program.steps", "other", ["program"], ["cpuid", "start_cpuid"], ()),
    _workload("program.cpuid", "other", ["placement"], ["cpuid_ns"], ()),
    _workload("launch.fork_exec", "new_program", [*PARENT, "program"], IMAGE),
    _workload("launch.none", "floor", ["linkage", "placement"], ["call_returns_ns", "reaped_ns"], ()),
    _workload("launch.stamp", "floor", ["linkage", "placement"], ["stamp_ns"]),
    _workload("clock.used", "floor", ["linkage", "placement"], ["cost_ns"], ()),
    _rung("flags.none", "wait", None),
    _rung("flags.files", "wait", "flags.none"),
    _rung("flags.fs", "wait", "flags.files"),
    _rung("flags.thread", "futex", "flags.fs"),
    *(
        _workload(
            f"footprint.{task}",
            "footprint",
            ["placement", "tasks", "accounting"],
            [*(f"{name}_each_bytes" for name in HELD), "create_each_ns", "reap_each_ns"],
            (),
        )
        for task in ("process", "thread")
    ),
    _workload("cow.parent", "cow", ["placement", "other_process", *HUGE], [*WRITES, "faults", "split_pages"], ()),
    _workload("cow.child", "cow", ["placement", "other_process"], WRITES, ()),
    _workload("cow.fresh", "cow", ["placement"], WRITES, ()),
    {
        **_workload(
            "cow.stall",
            "cow",
            ["parent_bytes", "other_process"],
            [*(f"{name}_ns" for name in STORY), *GAPS, "call_gaps"],
            (),
        ),
        "phases": True,
        "distributions_of": "gaps between writes",
        "distributions": [
            {"name": "during the call", "count": "call_gaps", "steps": {**GAPS, "call_stall_ns": 0}},
        ],
    },
    _workload("isolate.worker", "isolate", ["fault", "task_kind", "siblings"], [*RECOVERY, *ISOLATION], ()),
    _workload("isolate.pool", "isolate", ["fault", "siblings"], [*RECOVERY, *ISOLATION], ()),
    _workload("contend.mmap", "contend", ["task_kind", "workers"], ["op_ns", "cpu_op_ns"], ()),
    _workload("contend.counter", "contend", ["task_kind", "workers", "counter_layout"], ["op_ns", "cpu_op_ns"], ()),
    *(
        _workload(f"switch.{way}", "switch", SWITCH, ["handover_ns", "alone_ns", "switch_ns"], ())
        for way in ("pipe", "futex")
    ),
    *(
        _workload(f"ipc.{way}", "ipc", MESSAGE, ["latency_ns", "stream_ns", "bandwidth"], ())
        for way in ("shared_memory", "pipe")
    ),
    _workload(
        "work.factor",
        "work",
        ["task_kind", "workers", "numbers", "output", "file_table", "counters"],
        ["whole_ns", "whole_each_ns"],
        (),
    ),
    _workload("wake.futex", "other", ["placement"], ["wait_us", "footprint_bytes"], ()),
]


@dataclass
class MemoryRun:
    """A run as `clonometer.results.rows.source.RunSource` wants it."""

    metadata: dict[str, Any]
    data: dict[str, dict[str, np.ndarray[Any, Any]]] = field(default_factory=dict)

    def cells(self) -> list[str]:
        return sorted(self.data)

    def columns(self, cell: str, names: Sequence[str]) -> Mapping[str, np.ndarray[Any, Any]]:
        unknown = set(names) - set(self.metadata["columns"]) - {"process", "block", "sample"}
        assert not unknown, f"asked for columns that the run does not declare: {unknown}"
        return {name: self.data[cell][name] for name in names}


class RunBuilder:
    """Adds cells to a run in memory, process by process, interleaved in time as the scheduler does."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        self.run = MemoryRun(
            {
                "schema": 1,
                "status": "complete",
                "status_reason": None,
                "started": "2026-01-01T12:00:00+00:00",
                "ended": "2026-01-01T12:01:02.500000+00:00",
                "clonometer_version": "0.1.0",
                "seed": 42,
                "command": ["clonometer", "run"],
                "plan": {"name": "default", "title": "t", "budget_seconds": 60.0, "cells": [], "targets": []},
                "catalogue": {
                    "drivers": [{"name": "probe"}],
                    "axes": AXES,
                    "quantities": {
                        name: {
                            "unit": unit,
                            "stage": name.removesuffix("_ns") if name in (*IMAGE, "image_entered_ns") else None,
                            "detail": name in DETAILS,
                            "summary": "",
                            "signed": name in SIGNED,
                        }
                        for name, (_, unit) in COLUMNS.items()
                    },
                    "workloads": WORKLOADS,
                    "lacks": [],
                },
                "clock": {
                    "clock": "tsc",
                    "clock_hz": 2_000_000_000,
                    "cost_ns": 9.8,
                    "reason": "",
                    "method": "",
                },
                "host": {"cpu.model": "Test", "steal.share": 0.0, "thp.sizes": {}},
                "processes": [],
                "blocks": [],
                "cells": [],
                "columns": {name: {"type": type_, "unit": unit} for name, (type_, unit) in COLUMNS.items()},
            }
        )

    def cell(
        self,
        workload: str,
        values: Mapping[str, float],
        temperature: str | None = "warm",
        *,
        processes: int = 12,
        samples: int = 30,
        blocks: int = 3,
        spread: float = 0.03,
        other_cpu: float = 0.0,
        mhz: float = 3000.0,
        facts: Mapping[str, Any] | None = None,
        **condition: int | str,
    ) -> str:
        """Add a cell whose process medians scatter log-normally by ``spread`` about ``values``.

        On the other CPU, where a share of ``other_cpu`` runs, ``task_runs_ns`` takes half as long again.
        """
        entry = next(one for one in WORKLOADS if one["id"] == workload)
        full = {axis: condition.get(axis, AXES[axis]["default"]) for axis in entry["axes"]}
        shown = {axis: value for axis, value in full.items() if value != AXES[axis]["default"]}
        if temperature:
            shown["temperature"] = temperature
        inside = ",".join(f"{axis}={value}" for axis, value in sorted(shown.items()))
        text = f"{workload}[{inside}]" if inside else workload
        metadata = self.run.metadata
        metadata["plan"]["cells"].append(
            {"cell": text, "workload": workload, "condition": full, "temperature": temperature}
        )
        metadata["cells"].append({"cell": text, "status": "ok", "reason": None, "stopped_by": "budget"})
        if temperature == "cold":
            blocks, samples = 1, 1
        size = processes * blocks * samples
        first = len(metadata["processes"])
        columns = {name: np.full(size, *_null(type_)) for name, (type_, _) in COLUMNS.items()}
        columns["process"] = np.repeat(np.arange(first, first + processes), blocks * samples).astype(np.int32)
        columns["block"] = np.tile(np.repeat(np.arange(blocks), samples), processes).astype(np.int32)
        columns["sample"] = np.tile(np.arange(samples), processes * blocks).astype(np.int32)
        levels = np.repeat(np.exp(spread * self.random.normal(size=processes)), blocks * samples)
        noise = levels * np.exp(spread * self.random.normal(size=size))
        elsewhere = self.random.random(size) < other_cpu
        for name, value in values.items():
            own = value * noise * np.where(elsewhere & (name == "task_runs_ns"), 1.5, 1.0)
            columns[name] = own if COLUMNS[name][0] == "f64" else np.rint(own).astype(np.int64)
        columns["errno"] = np.zeros(size, np.int32)
        if "task_runs_ns" in values or "image_runs_ns" in values:
            columns["cpu_before"] = np.zeros(size, np.int32)
            columns["cpu_child"] = elsewhere.astype(np.int32)
        self.run.data[text] = columns
        for process in range(first, first + processes):
            # Interleaved: the k-th process of each cell starts in the k-th second.
            started = (process - first) * 1_000_000_000 + len(self.run.data) * 1_000_000
            metadata["processes"].append(
                {
                    "process": process,
                    "driver": "probe",
                    "cells": [text],
                    "started_ns": started,
                    "ended_ns": started + 500,
                }
            )
            for block in range(blocks):
                own_facts = {
                    "wall_ns": 1000,
                    "effective_mhz": {"1": mhz},
                    "involuntary_switches": 0,
                    **(facts or {}),
                }
                metadata["blocks"].append(
                    {
                        "process": process,
                        "block": block,
                        "cell": text,
                        "status": "ok",
                        "reason": None,
                        "rows": samples,
                        "outcomes": {"ok": samples},
                        "facts": own_facts,
                    }
                )
        return text


def _null(type_: str) -> tuple[float | int, Any]:
    return {"i32": (NULL_I32, np.int32), "i64": (NULL_I64, np.int64), "f64": (np.nan, np.float64)}[type_]


def _times(call: float, task: float, reaped: float) -> dict[str, float]:
    return {"call_returns_ns": call, "task_runs_ns": task, "reaped_ns": reaped}


def add_default_plan(builder: RunBuilder) -> RunBuilder:
    """Add the default plan: fork takes 3 times as long as pthread until reaped and 50 ns a page."""
    for temperature, factor in (("cold", 4), ("warm", 1)):
        fork = _times(50_000 * factor, 60_000 * factor, 90_000 * factor)
        pthread = _times(10_000 * factor, 20_000 * factor, 30_000 * factor)
        vfork = _times(35_000 * factor, 15_000 * factor, 36_000 * factor)
        if temperature == "cold":
            pthread["task_runs_ns"] = fork["task_runs_ns"] * 1.25
            pthread["reaped_ns"] = fork["reaped_ns"] * 1.5
        for placement, share in (("pinned", 0.0), ("free", 0.7)):
            options: dict[str, Any] = {"placement": placement, "other_cpu": share}
            builder.cell("launch.fork", fork, temperature, **options)
            builder.cell("launch.vfork", vfork, temperature, **options)
            builder.cell("launch.pthread", pthread, temperature, **options)
        spawn = {
            "call_returns_ns": 150_000 * factor,
            "image_runs_ns": 180_000 * factor,
            "reaped_ns": 240_000 * factor,
        }
        exec_ = {**fork, "image_runs_ns": 230_000 * factor, "reaped_ns": 240_500 * factor}
        builder.cell("launch.posix_spawn", spawn, temperature)
        builder.cell("launch.fork_exec", exec_, temperature)
        slower = {name: value * 1.5 for name, value in fork.items()}
        builder.cell("launch.fork", slower, temperature, linkage="dynamic_lazy")
        for size in (2 * MIB, 64 * MIB, GIB):
            pages = size // 4096
            builder.cell("launch.fork", {n: v + 50 * pages for n, v in fork.items()}, temperature, parent_bytes=size)
            builder.cell("launch.pthread", pthread, temperature, parent_bytes=size)
        at_64 = {name: value + 50 * (64 * MIB // 4096) for name, value in fork.items()}
        for state, share in (("clean", 0.6), ("first", 1.3)):
            builder.cell(
                "launch.fork",
                {n: v * share for n, v in at_64.items()},
                temperature,
                parent_bytes=64 * MIB,
                pages=state,
            )
    builder.cell("launch.none", {"call_returns_ns": 12, "reaped_ns": 24}, None, spread=0.2)
    builder.cell("launch.stamp", {"stamp_ns": 1_050}, "warm")
    builder.cell("clock.used", {"cost_ns": 9.8}, None)
    return builder
