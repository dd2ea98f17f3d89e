"""A catalogue like the probe's, for tests of plans."""

from __future__ import annotations

import pytest

from clonometer.plan.catalogue import read_catalogue

LAUNCH_AXES = [
    "parent_bytes",
    "pages",
    "page_kind",
    "placement",
    "linkage",
    "stages",
    "call_spin_ns",
    "stamp_spin_ns",
    "child_spin_ns",
]


def _axis(kind, default, **further):
    return {"type": kind, "default": default, "summary": "an axis", **further}


def _workload(name, family, axes, temperatures=("cold", "warm"), quantities=("reaped_ns",), **further):
    return {
        "id": name,
        "family": family,
        "summary": "a workload",
        "axes": list(axes),
        "temperatures": list(temperatures),
        "quantities": list(quantities),
        "nulls": {},
        "call_returns_contains": None,
        "available": True,
        "reason": None,
        **further,
    }


def describe():
    spins = {f"{name}_spin_ns": _axis("count", 0) for name in ("call", "stamp", "child")}
    return {
        "driver": {"name": "probe", "version": "0.1.0", "language": "C", "linkage": "static", "protocol": 1},
        "axes": {
            "parent_bytes": _axis("bytes", 0, minimum=0),
            "pages": _axis("choice", "rewritten", values=["rewritten", "first", "clean"]),
            "page_kind": _axis("choice", "4k", values=["4k"]),
            "placement": _axis("choice", "pinned", values=["pinned", "free"]),
            "linkage": _axis(
                "choice",
                "static",
                values=["static", "dynamic_lazy", "dynamic_now", "musl"],
                unavailable={"musl": "no musl-gcc when it was built"},
            ),
            "program": _axis("text", "target_static"),
            "stages": _axis("choice", "all", values=["all", "parent"]),
            "open_files": _axis("count", 4, minimum=3),
            **spins,
        },
        "quantities": {
            "reaped_ns": {"unit": "ns", "stage": "reaped", "summary": "until wait returned"},
            "cost_ns": {"unit": "ns", "stage": None, "summary": "cost of one"},
        },
        "workloads": [
            _workload("launch.fork", "same_image", LAUNCH_AXES),
            _workload("launch.vfork", "same_image", LAUNCH_AXES, call_returns_contains="child_life"),
            _workload("launch.pthread", "same_image", LAUNCH_AXES),
            _workload("launch.posix_spawn", "new_program", [*LAUNCH_AXES, "program"]),
            _workload("launch.fork_exec", "new_program", [*LAUNCH_AXES, "program", "open_files"]),
            _workload("launch.none", "floor", ["placement", "linkage"], ()),
            _workload("launch.stamp", "floor", ["placement", "linkage"], ("warm",)),
            _workload("clock.used", "floor", ["placement", "linkage"], (), ("cost_ns",)),
            _workload("launch.absent", "same_image", ["placement"], available=False, reason="needs Linux 9.9"),
            _workload("program.steps", "other", ["placement", "linkage", "program"], (), ("cost_ns",)),
            _workload("program.cpuid", "other", ["placement", "linkage"], (), ("cost_ns",)),
        ],
        "lacks": [{"what": "launch.absent", "reason": "needs Linux 9.9"}],
    }


@pytest.fixture
def described():
    """What the driver's --describe would print; tests may spoil it."""
    return describe()


@pytest.fixture(scope="session")
def catalogue():
    return read_catalogue([describe()])
