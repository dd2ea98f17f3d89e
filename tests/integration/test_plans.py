"""Every plan that comes with Clonometer, against the schema and the catalogue of the drivers that were built."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from clonometer.plan.adhoc import estimated_seconds
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.planfile import load_plan, plan_title
from clonometer.plan.shipped import plan_names
from clonometer.runner.drivers import find_drivers
from clonometer.runner.ledger import why_unavailable

# What the guess cannot know: the kernel puts off removing namespaces, and the next ones wait for it.
# Nor which languages there are: here they are looked for by nobody.
NOT_GUESSED = {"namespaces", "runtimes", "runtimes-full"}
LAUNCHES = ("launch.fork", "launch.pthread")
REPOSITORY = Path(__file__).parents[2]
SCHEMA = json.loads((REPOSITORY / "docs/schemas/plan.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def drivers():
    return find_drivers()


@pytest.fixture(scope="module")
def catalogue(drivers):
    return read_catalogue(drivers.descriptions)


def check_its_file(name):
    """The schema knows all of it, and its names are its own."""
    whole = name.removesuffix("-quick")
    document = tomllib.loads((REPOSITORY / f"src/clonometer/plan/plans/{whole}.toml").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["name"] == whole
    assert plan_title(name) == (document if name == whole else document["quick"])["title"] != name


@pytest.mark.parametrize("name", plan_names())
def test_a_plan_expands_and_states_its_time(name, catalogue, drivers):
    check_its_file(name)
    plan = load_plan(name, catalogue)
    assert plan.name == name
    assert plan.targets
    reasons = [why_unavailable(target, catalogue, drivers) for target in plan.targets]
    assert None in reasons
    assert all(reason is None or len(reason) > 10 for reason in reasons)
    guess_s = estimated_seconds(plan.targets)
    # The guess allows 15 ms for a start and 1.5 times all: many short processes of the static probe take a third of it.
    assert guess_s <= 3 * plan.budget_seconds
    if name not in NOT_GUESSED:
        assert guess_s > plan.budget_seconds / 3
    # Below 6 processes there is no 95% interval for a median at all. What is counted exactly needs none; nor do the
    # points of a fit, which has an interval of its own.
    if not name.startswith("calibrate"):
        timed = [target for target in plan.targets if target.workload != "program.steps"]
        assert min(target.limits.processes for target in timed) >= 6


def values(plan, workload, axis):
    return {target.condition[axis] for target in plan.targets if target.workload == workload}


def test_the_call_number_curve_has_the_first_twenty_launches(catalogue):
    plan = load_plan("cold", catalogue)
    for workload in LAUNCHES:
        assert values(plan, workload, "launch_number") == set(range(1, 21))
        assert values(plan, workload, "after") == {"none", "fork", "vfork", "pthread"}
    assert {cell.temperature for cell in plan.cells} == {"cold"}


def test_memory_reaches_four_gib_in_each_kind_that_the_report_sets_side_by_side(catalogue):
    plan = load_plan("memory", catalogue)
    four = {target.condition["page_kind"] for target in plan.targets if target.condition.get("parent_bytes") == 4 << 30}
    assert {"4k", "untouched", "thp", "shared", "dontfork"} <= four
    assert values(plan, "launch.fork", "page_kind") == set(catalogue.axes["page_kind"].values)
    assert values(plan, "launch.fork", "pages") == {"rewritten", "first", "clean"}


def test_the_ladder_and_the_namespaces_are_whole(catalogue):
    for name in ("flags", "namespaces"):
        planned = {target.workload for target in load_plan(name, catalogue).targets}
        assert {id_ for id_ in catalogue.workloads if id_.startswith(f"{name}.")} <= planned


def test_full_has_every_workload_and_every_choice_that_matters_to_the_two_main_ones(catalogue):
    plan = load_plan("full", catalogue)
    assert {target.workload for target in plan.targets} == set(catalogue.workloads)
    for workload in LAUNCHES:
        for axis in ("placement", "linkage", "after", "sched_class", "launchers", "thread_state"):
            assert values(plan, workload, axis) == set(catalogue.axes[axis].values)
    for axis in ("page_kind", "pages", "vma_kind", "file_kind", "close_files", "process_ending", "mlockall", "caches"):
        assert values(plan, "launch.fork", axis) == set(catalogue.axes[axis].values)
    for axis in ("detached", "guard", "stack_cache", "stack_kind", "thread_ending"):
        assert values(plan, "launch.pthread", axis) == set(catalogue.axes[axis].values)


@pytest.mark.parametrize("cpus", [1, 2, 256])
def test_rings_and_workers_scan_up_to_several_times_the_cpus(cpus, catalogue, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cpus)))
    rings = values(load_plan("switch", catalogue), "switch.pipe", "ring_tasks")
    assert {2, 4 * cpus} <= rings
    # More than the probe has room for would be refused.
    assert max(rings) <= 4096
    for workload in ("contend.fault", "contend.counter"):
        assert {1, cpus, 2 * cpus, 4 * cpus} <= values(load_plan("contend", catalogue), workload, "workers")
