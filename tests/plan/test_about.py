"""What a name means: everything that can be measured is explained, with a command that works."""

from __future__ import annotations

import shlex

import pytest
from tests.catalogue import CATALOGUE

from clonometer.cli.commands.run import command as run_command
from clonometer.errors import UsageError
from clonometer.plan.about import About, Names
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.planfile import load_plan
from clonometer.plan.shipped import plan_names

NAMES = Names(CATALOGUE, dict.fromkeys(CATALOGUE.workloads, "the driver probe (C)"))
STAGES = {quantity.stage for quantity in CATALOGUE.quantities.values() if quantity.stage}
VALUES = {value for axis in CATALOGUE.axes.values() for value in axis.values}
FAMILIES = {workload.family for workload in CATALOGUE.workloads.values()}
KINDS = {
    "workload": CATALOGUE.workloads,
    "axis": (*CATALOGUE.axes, "temperature"),
    "quantity": [name for name, quantity in CATALOGUE.quantities.items() if quantity.stage is None],
    "stage": STAGES,
    "plan": plan_names(),
    "family": FAMILIES,
}


def explained(name: str) -> list[About]:
    return NAMES.about(name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_explained_with_an_example_that_the_command_takes(kind):
    for name in KINDS[kind]:
        (meant,) = [each for each in explained(name) if (each.kind, each.name) == (kind, name)]
        assert meant.summary, name
        assert all(label and text for label, text in meant.facts)
        check_example(meant.example)


def check_example(line: str) -> None:
    program, subcommand, *words = shlex.split(line)
    assert (program, subcommand) == ("clonometer", "run")
    asked = run_command.make_context("run", words).params
    if asked["plan"] is not None:
        assert load_plan(asked["plan"], CATALOGUE).cells
    else:
        assert plan_from_arguments(asked["workloads"], asked["settings"], CATALOGUE).cells


def test_every_value_is_explained_with_an_example_that_sets_it():
    for value in VALUES:
        for meant in explained(value):
            if meant.kind == "value":
                check_example(meant.example)
                axis, _, text = meant.name.partition("=")
                assert any(
                    word.startswith(f"{axis}=") and text in word.partition("=")[2].split(",")
                    for word in shlex.split(meant.example)
                ), meant


def test_an_axis_says_what_it_takes_and_where_it_has_no_effect():
    (idle,) = explained("idle_ns")
    facts = dict(idle.facts)
    assert facts["takes"].endswith("at least 1")
    assert facts["default"] == "100000000 (100 ms)"
    assert facts["no effect"] == "without caches=idle"
    assert "caches=idle" in idle.example


def test_a_name_that_several_things_bear_explains_each():
    assert [(each.kind, each.name) for each in explained("cow")] == [("family", "cow"), ("plan", "cow")]
    assert [each.name for each in explained("pipe")] == ["wake.pipe", "switch.pipe", "ipc.pipe"]
    assert [each.name for each in explained("fork")] == ["launch.fork"]


def test_a_title_is_as_good_as_a_name():
    assert explained("program runs") == explained("image_runs") == explained("image_runs_ns")


def test_a_mistyped_name_gets_the_nearest():
    with pytest.raises(UsageError, match="unknown name 'parent_byte'; did you mean 'parent_bytes'"):
        explained("parent_byte")
