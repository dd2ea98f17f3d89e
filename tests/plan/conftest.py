"""A small part of the probe's catalogue, for tests of plans."""

from __future__ import annotations

import copy

import pytest
from tests.fakes.fake_catalogue import WORKLOADS, part_of_the_probe

from clonometer.plan.catalogue import read_catalogue

AXES = (
    "parent_bytes",
    "pages",
    "page_kind",
    "placement",
    "linkage",
    "program",
    "stages",
    "open_files",
    "call_spin_ns",
    "stamp_spin_ns",
    "child_spin_ns",
)
NO_MUSL = "no musl-gcc when it was built"


def describe():
    described = copy.deepcopy(part_of_the_probe((*WORKLOADS, "launch.stamp"), AXES, ("reaped_ns", "cost_ns")))
    described["axes"]["linkage"]["unavailable"] = {"musl": NO_MUSL}
    # What the rules are for, and nothing of the probe's needs now: a least value above zero, one temperature alone.
    described["axes"]["open_files"] |= {"default": 4, "minimum": 3}
    next(entry for entry in described["workloads"] if entry["id"] == "launch.stamp")["temperatures"] = ["warm"]
    return described


@pytest.fixture
def described():
    """What the driver's --describe would print; tests may spoil it."""
    return describe()


@pytest.fixture(scope="session")
def catalogue():
    return read_catalogue([describe()])
