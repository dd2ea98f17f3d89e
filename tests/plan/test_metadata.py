from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.errors import RunFileError
from clonometer.plan.expand import Entry, expand
from clonometer.plan.metadata import from_metadata, to_metadata
from clonometer.plan.planfile import load_plan
from clonometer.plan.types import Limits, Plan

ENTRIES = st.builds(
    Entry,
    place=st.just("here"),
    workloads=st.lists(st.sampled_from(["launch.fork_exec", "launch.pos*", "launch.fork_*"]), min_size=1, max_size=2),
    settings=st.fixed_dictionaries(
        {},
        optional={
            "parent_bytes": st.lists(st.integers(0, 1 << 40), min_size=1, max_size=3),
            "program": st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=2),
            "linkage": st.just(["static", "musl"]),
        },
    ),
    temperatures=st.sampled_from([None, ["cold"], ["warm", "cold"]]),
    limits=st.fixed_dictionaries({}, optional={"samples": st.just(7)}),
)


@given(st.lists(ENTRIES, min_size=1, max_size=3), st.floats(0.1, 1e6))
def test_a_plan_survives_the_metadata(catalogue, entries, budget):
    plan = Plan("mine", "mein Täßchen", budget, expand(entries, catalogue, Limits(processes=13)))
    assert from_metadata(json.loads(json.dumps(to_metadata(plan)))) == plan


def test_the_metadata_is_as_documented(catalogue):
    plan = load_plan("default", catalogue)
    metadata = to_metadata(plan)
    text = (Path(__file__).parents[2] / "docs/runfile.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith("| `plan` |")]
    keys = {"name", "title", "budget_seconds", "target_width", "cells", "targets"}
    assert set(metadata) == keys
    assert keys <= set(re.findall(r"`(\w+)`", row))
    assert [set(entry) for entry in metadata["cells"]][:1] == [{"cell", "workload", "condition", "temperature"}]
    assert metadata["cells"][0]["cell"] == "launch.fork[temperature=cold]"


def test_without_targets_cells_are_grouped_by_condition(catalogue):
    plan = load_plan("default", catalogue)
    metadata = to_metadata(plan)
    del metadata["targets"]
    grouped = from_metadata(metadata)
    assert grouped.cells == plan.cells
    assert [target.cells for target in grouped.targets] == [target.cells for target in plan.targets]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda metadata: metadata.pop("name"),
        lambda metadata: metadata.update(budget_seconds="long"),
        lambda metadata: metadata.update(cells=3),
        lambda metadata: metadata["cells"][0].pop("condition"),
        lambda metadata: metadata["cells"].pop(0),
        lambda metadata: metadata["targets"][0].update(cells=[]),
        lambda metadata: metadata["targets"][0]["limits"].update(colour=1),
    ],
)
def test_damaged_metadata_is_refused(catalogue, spoil):
    metadata = to_metadata(load_plan("default", catalogue))
    spoil(metadata)
    with pytest.raises(RunFileError, match="plan in the run's metadata is damaged"):
        from_metadata(metadata)
