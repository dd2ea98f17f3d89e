"""The fake driver's catalogue: a part of what the probe says of itself, as frozen in ``tests/data/describe.json``.

The script beside it imports this, so that it knows the standard library alone, and starts fast.
"""

from __future__ import annotations

import os

if __package__:
    from tests.fakes.quick_json import loads
else:
    from quick_json import loads

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


# Without pathlib, which takes longer to import than all the rest.
with open(os.path.join(os.path.dirname(__file__), "..", "data", "describe.json"), encoding="utf-8") as _file:  # noqa: PTH118, PTH120, PTH123
    _PROBE = loads(_file.read())[0]


def part_of_the_probe(workload_names, axis_names, quantity_names):
    """What the probe says of itself about these alone, and one workload that is absent."""
    entries = [
        {
            **entry,
            "axes": [axis for axis in entry["axes"] if axis in axis_names],
            "quantities": [quantity for quantity in entry["quantities"] if quantity in quantity_names],
        }
        for entry in _PROBE["workloads"]
        if entry["id"] in workload_names
    ]
    fork = next(entry for entry in entries if entry["id"] == "launch.fork")
    absent = {**fork, "id": ABSENT["what"], "axes": ["placement"], "available": False, "reason": ABSENT["reason"]}
    return {
        **_PROBE,
        "axes": {axis: _PROBE["axes"][axis] for axis in axis_names},
        "quantities": {quantity: _PROBE["quantities"][quantity] for quantity in quantity_names},
        "workloads": [*entries, absent],
        "lacks": [ABSENT],
    }


_PART = part_of_the_probe(WORKLOADS, AXES, QUANTITIES)
_PART["axes"]["page_kind"] = {**_PART["axes"]["page_kind"], "unavailable": {"hugetlb": HUGETLB}}


def axes():
    """The axes, as the catalogue lists them."""
    return _PART["axes"]


def workloads():
    """The workloads, as the catalogue lists them, by id."""
    return {entry["id"]: entry for entry in _PART["workloads"]}


def catalogue():
    """What --describe prints."""
    return {
        **_PART,
        "driver": {
            "name": "fake",
            "version": "0.1.0",
            "language": "Python",
            "linkage": os.environ.get("FAKE_DRIVER_LINKAGE", "static"),
            "protocol": 1,
        },
    }
