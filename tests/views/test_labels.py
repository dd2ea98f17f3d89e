from __future__ import annotations

import pytest

from clonometer.plan.catalogue import FAMILIES
from clonometer.views.labels import (
    FAMILY_ORDER,
    condition_phrases,
    cpu_name,
    family_name,
    mechanism_name,
    shown_axes,
)


def test_every_family_has_its_place_and_its_name():
    assert sorted(FAMILY_ORDER) == sorted(FAMILIES)
    assert len({family_name(family) for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize(
    ("cell", "axes"),
    [
        ("launch.fork", ()),
        ("launch.fork[temperature=warm]", ()),
        ("launch.fork[parent_bytes=1GiB,program=/a=b,temperature=cold]", ("parent_bytes", "program")),
    ],
)
def test_shown_axes_are_those_off_their_default(cell, axes):
    assert shown_axes(cell) == axes


def test_memory_comes_first_and_placement_last():
    condition = {"linkage": "dynamic_lazy", "parent_bytes": 1 << 20, "placement": "free"}
    cell = "launch.fork[linkage=dynamic_lazy,parent_bytes=1MiB,placement=free]"
    phrases = condition_phrases(cell, condition, "other_cpu")
    assert phrases == ("1 MiB", "lazily bound", "free, other CPU")


def test_a_pinned_cell_does_not_name_its_placement():
    assert condition_phrases("launch.fork", {"placement": "pinned"}, "same_cpu") == ()


def test_unknown_workloads_keep_their_id():
    assert mechanism_name("switch.pipe") == "switch.pipe"


def test_cpu_name_keeps_what_tells_models_apart():
    assert cpu_name("AMD EPYC 7B13 64-Core Processor") == "AMD EPYC 7B13"
