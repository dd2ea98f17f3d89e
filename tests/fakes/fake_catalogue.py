"""The fake driver's catalogue: a part of what the probe says of itself, as frozen in ``tests/data/describe.json``.

The script beside it imports this, so that it knows the standard library alone, and starts fast.
"""

from __future__ import annotations

import functools
import json
import os

STAGES = ("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns")
AXES = ("linkage", "placement", "page_kind", "pages", "parent_bytes", "open_files", "program")
WORKLOADS = (
    *(f"launch.{name}" for name in ("fork", "vfork", "pthread", "posix_spawn", "fork_exec", "none")),
    "clock.used",
    "program.cpuid",
    "program.steps",
)
QUANTITIES = (*STAGES, "cost_ns", "cpuid_ns", "start_cpuid")
# What the fake driver lacks, so that tests see something lacking on every machine.
ABSENT = {"what": "launch.absent", "reason": "needs Linux 9.9, this is 6.1"}
HUGETLB = "0 huge pages are reserved"


@functools.cache
def _probe():
    # Without pathlib, which takes longer to import than all the rest.
    with open(os.path.join(os.path.dirname(__file__), "..", "data", "describe.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH120, PTH123
        return json.load(file)[0]


def part_of_the_probe(workload_names, axis_names, quantity_names):
    """What the probe says of itself about these alone, and one workload that is absent."""
    probe = _probe()
    entries = [
        {
            **entry,
            "axes": [axis for axis in entry["axes"] if axis in axis_names],
            "quantities": [quantity for quantity in entry["quantities"] if quantity in quantity_names],
        }
        for entry in probe["workloads"]
        if entry["id"] in workload_names
    ]
    fork = next(entry for entry in entries if entry["id"] == "launch.fork")
    absent = {**fork, "id": ABSENT["what"], "axes": ["placement"], "available": False, "reason": ABSENT["reason"]}
    return {
        **probe,
        "axes": {axis: probe["axes"][axis] for axis in axis_names},
        "quantities": {quantity: probe["quantities"][quantity] for quantity in quantity_names},
        "workloads": [*entries, absent],
        "lacks": [ABSENT],
    }


@functools.cache
def axes():
    """The axes, as the catalogue lists them."""
    listed = part_of_the_probe(WORKLOADS, AXES, QUANTITIES)["axes"]
    return {**listed, "page_kind": {**listed["page_kind"], "unavailable": {"hugetlb": HUGETLB}}}


@functools.cache
def workloads():
    """The workloads, as the catalogue lists them, by id."""
    return {entry["id"]: entry for entry in part_of_the_probe(WORKLOADS, AXES, QUANTITIES)["workloads"]}


def catalogue():
    """What --describe prints."""
    return {
        **part_of_the_probe(WORKLOADS, AXES, QUANTITIES),
        "driver": {
            "name": "fake",
            "version": "0.1.0",
            "language": "Python",
            "linkage": os.environ.get("FAKE_DRIVER_LINKAGE", "static"),
            "protocol": 1,
        },
        "axes": axes(),
    }
