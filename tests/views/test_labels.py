from __future__ import annotations

import pytest

from clonometer.families import families
from clonometer.views.labels import (
    condition_phrases,
    cpu_name,
    family_name,
    family_place,
    shown_axes,
)
from clonometer.words import mechanism_name


def test_every_family_has_its_place_and_its_name():
    names = [family.name for family in families()]
    assert sorted(names, key=family_place) == names
    assert len({family_name(name) for name in names}) == len(names)


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
    cell, condition = "launch.fork[placement=free,vmas=9]", {"vmas": 9, "placement": "free"}
    assert condition_phrases(cell, condition, None) == ("9 VMAs", "free")


def test_a_pinned_cell_does_not_name_its_placement():
    assert condition_phrases("launch.fork", {"placement": "pinned"}, "same_cpu") == ()


def test_unknown_workloads_keep_their_id():
    assert mechanism_name("switch.pipe") == "switch.pipe"


def test_cpu_name_keeps_what_tells_models_apart():
    assert cpu_name("AMD EPYC 7B13 64-Core Processor") == "AMD EPYC 7B13"
