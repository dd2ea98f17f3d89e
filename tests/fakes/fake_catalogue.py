"""The fake driver's catalogue: small, and modelled on the probe's. Imported by the script beside it only."""

from __future__ import annotations

import os

STAGES = ("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns")


def axes():
    """The axes, as the catalogue lists them."""
    return {
        "parent_bytes": _axis("bytes", 0, "touched memory in the parent", minimum=0),
        "pages": _axis(
            "choice",
            "rewritten",
            "the parent's memory at each launch",
            values=["first", "rewritten", "clean"],
        ),
        "placement": _axis("choice", "pinned", "requested placement", values=["pinned", "free"]),
        "linkage": _axis(
            "choice", "static", "how the driver was linked", values=["static", "dynamic_lazy", "dynamic_now"]
        ),
        "program": _axis("text", "target_static", "what exec launches"),
        "open_files": _axis("count", 0, "open files in the parent", minimum=0),
        "page_kind": _axis(
            "choice",
            "4k",
            "page size of the parent's memory",
            values=["4k", "thp", "hugetlb"],
            unavailable={"hugetlb": "0 huge pages are reserved"},
        ),
    }


def _axis(kind, default, summary, **further):
    return {"type": kind, "default": default, "summary": summary, **further}


def workloads():
    """The workloads, as the catalogue lists them, by id."""
    same = ["linkage", "open_files", "page_kind", "pages", "parent_bytes", "placement"]
    entries = [
        _workload("launch.fork", "same_image", "fork() and waitpid()", same, {"image_runs_ns": "no new program"}),
        _workload(
            "launch.vfork",
            "same_image",
            "vfork() and waitpid()",
            same,
            {"image_runs_ns": "no new program"},
            contains="child_life",
        ),
        _workload(
            "launch.pthread",
            "same_image",
            "pthread_create() and pthread_join()",
            same,
            {"image_runs_ns": "no new program"},
        ),
        _workload(
            "launch.posix_spawn",
            "new_program",
            "posix_spawn() and waitpid()",
            [*same, "program"],
            {"task_runs_ns": "no code of ours runs before exec"},
            contains="child_life",
        ),
        _workload("launch.fork_exec", "new_program", "fork(), execve() and waitpid()", [*same, "program"], {}),
        _workload(
            "launch.none",
            "floor",
            "the bare loop",
            ["linkage", "placement"],
            {"task_runs_ns": "no task", "image_runs_ns": "no task"},
        ),
        {
            **_workload("clock.used", "floor", "one reading of the clock in use", ["linkage", "placement"], {}),
            "temperatures": [],
            "quantities": ["cost_ns"],
        },
        {
            **_workload("program.cpuid", "other", "one CPUID", ["linkage", "placement"], {}),
            "temperatures": [],
            "quantities": ["cpuid_ns"],
        },
        {
            **_workload("program.steps", "other", "a program's steps", ["linkage", "placement", "program"], {}),
            "temperatures": [],
            "quantities": ["start_cpuid"],
        },
        {
            **_workload("launch.absent", "same_image", "what this machine lacks", ["placement"], {}),
            "available": False,
            "reason": "needs Linux 9.9, this is 6.1",
        },
    ]
    return {entry["id"]: entry for entry in entries}


def _workload(name, family, summary, axis_names, nulls, *, contains=None):
    return {
        "id": name,
        "family": family,
        "summary": summary,
        "axes": axis_names,
        "temperatures": ["cold", "warm"],
        "quantities": [stage for stage in STAGES if stage not in nulls],
        "nulls": nulls,
        "call_returns_contains": contains,
        "available": True,
        "reason": None,
    }


def catalogue():
    """What --describe prints."""
    stages = {
        name: {
            "unit": "ns",
            "stage": name.removesuffix("_ns"),
            "summary": f"until {name.removesuffix('_ns')}",
        }
        for name in STAGES
    }
    cost = {"unit": "ns", "stage": None, "summary": "cost of one operation"}
    return {
        "driver": {
            "name": "fake",
            "version": "0.1.0",
            "language": "Python",
            "linkage": os.environ.get("FAKE_DRIVER_LINKAGE", "static"),
            "protocol": 1,
        },
        "axes": axes(),
        "quantities": {
            **stages,
            "cost_ns": cost,
            "cpuid_ns": {**cost, "detail": True},
            "start_cpuid": {"unit": "count", "stage": None, "detail": True, "summary": "CPUID before main"},
        },
        "workloads": list(workloads().values()),
        "lacks": [{"what": "launch.absent", "reason": "needs Linux 9.9, this is 6.1"}],
    }
