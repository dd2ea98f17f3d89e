from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clonometer.errors import ClonometerError, RunFileError
from clonometer.plan.document import document_of, plan_of
from clonometer.plan.expand import Entry, expand
from clonometer.plan.planfile import load_plan
from clonometer.plan.types import Limits, Plan
from clonometer.records import from_json, to_json
from clonometer.run_document import PlanDocument

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
def test_a_plan_survives_the_document(catalogue, entries, budget):
    plan = Plan("mine", "mein Täßchen", budget, expand(entries, catalogue, Limits(processes=13)))
    written = json.loads(json.dumps(to_json(document_of(plan))))
    assert plan_of(from_json(PlanDocument, written)) == plan


def test_the_document_is_as_documented(catalogue):
    written = to_json(document_of(load_plan("default", catalogue)))
    text = (Path(__file__).parents[2] / "docs/runfile.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith("| `plan` |")]
    keys = {"name", "title", "budget_seconds", "target_width", "cells", "targets"}
    assert set(written) == keys
    assert keys <= set(re.findall(r"`(\w+)`", row))
    assert [set(entry) for entry in written["cells"]][:1] == [{"cell", "workload", "condition", "temperature"}]
    assert written["cells"][0]["cell"] == "launch.fork[temperature=cold]"


def test_without_targets_cells_are_grouped_by_condition(catalogue):
    plan = load_plan("default", catalogue)
    written = to_json(document_of(plan))
    del written["targets"]
    grouped = plan_of(from_json(PlanDocument, written))
    assert grouped.cells == plan.cells
    assert [target.cells for target in grouped.targets] == [target.cells for target in plan.targets]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda plan: plan.pop("name"), "name is missing"),
        (lambda plan: plan.update(budget_seconds="long"), "budget_seconds is a text, not a number"),
        (lambda plan: plan.update(cells=3), "cells is a number, not a list"),
        (lambda plan: plan["cells"][0].pop("condition"), r"cells\[0\].condition is missing"),
        (lambda plan: plan["cells"].pop(0), "plan in the run's metadata is damaged"),
        (lambda plan: plan["targets"][0].update(cells=[]), "plan in the run's metadata is damaged"),
        (lambda plan: plan["targets"][0]["limits"].update(colour=1), "plan in the run's metadata is damaged"),
    ],
)
def test_a_damaged_plan_is_refused(catalogue, spoil, words):
    written = to_json(document_of(load_plan("default", catalogue)))
    spoil(written)
    with pytest.raises(ClonometerError, match=words) as caught:
        plan_of(from_json(PlanDocument, written))
    assert isinstance(caught.value, RunFileError) == ("plan in" in words)
