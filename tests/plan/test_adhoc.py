from __future__ import annotations

import pytest

from clonometer.errors import PlanError, UsageError
from clonometer.plan.adhoc import (
    apply_only,
    apply_settings,
    estimated_seconds,
    lacking,
    parse_settings,
    plan_from_arguments,
)
from clonometer.plan.planfile import load_plan, parse_plan


def texts(plan):
    return [cell.text for cell in plan.cells]


def test_workloads_and_settings_make_a_plan(catalogue):
    plan = plan_from_arguments(["launch.fork"], ["parent_bytes=0,1GiB"], catalogue, budget_seconds=9)
    assert texts(plan) == [
        "launch.fork[temperature=cold]",
        "launch.fork[temperature=warm]",
        "launch.fork[parent_bytes=1GiB,temperature=cold]",
        "launch.fork[parent_bytes=1GiB,temperature=warm]",
    ]
    assert (plan.name, plan.title, plan.budget_seconds) == ("adhoc", "launch.fork parent_bytes=0,1GiB", 9.0)


def test_globs_take_what_they_can(catalogue):
    plan = plan_from_arguments(["launch.p*"], ["placement=free", "temperature=warm"], catalogue)
    assert texts(plan) == [
        "launch.pthread[placement=free,temperature=warm]",
        "launch.posix_spawn[placement=free,temperature=warm]",
    ]


def test_an_axis_applies_to_those_of_several_workloads_that_have_it(catalogue):
    settings = ["pages=clean", "parent_bytes=1GiB", "temperature=warm"]
    plan = plan_from_arguments(["launch.none", "launch.fork"], settings, catalogue)
    assert texts(plan) == [
        "launch.none",
        "launch.fork[pages=clean,parent_bytes=1GiB,temperature=warm]",
    ]
    assert lacking(plan, settings) == {"pages": ["launch.none"], "parent_bytes": ["launch.none"]}
    with pytest.raises(PlanError, match=r"no workload of launch\.none, clock\.used has the axis 'pages'"):
        plan_from_arguments(["launch.none", "clock.used"], settings, catalogue)


def test_an_axis_given_twice_has_the_values_of_both():
    assert parse_settings(["pages=first", "pages=clean , first"]) == {"pages": ("first", "clean", "first")}


@pytest.mark.parametrize("setting", ["pages", "=first", "pages=", "pages=first,,clean", ""])
def test_what_is_no_setting_is_refused(setting):
    with pytest.raises(UsageError, match="is not a setting"):
        parse_settings([setting])


@pytest.mark.parametrize(
    ("workloads", "settings", "message"),
    [
        (["launch.forc"], [], "did you mean 'launch.fork'"),
        (["lunch.*"], [], "unknown workload 'lunch.*'; did you mean"),
        (["launch.fork"], ["parent_byte=0"], "did you mean 'parent_bytes'"),
        (["launch.fork"], ["pages=clear"], "did you mean 'clean'"),
        (["launch.fork"], ["temperature=hot"], "unknown temperature 'hot'"),
        ([], [], "no workload is named"),
    ],
)
def test_what_does_not_exist_is_refused(catalogue, workloads, settings, message):
    with pytest.raises(UsageError) as caught:
        plan_from_arguments(workloads, settings, catalogue)
    assert message in caught.value.message


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf")])
def test_a_budget_is_a_time(catalogue, budget):
    with pytest.raises(PlanError, match="--budget takes a number of seconds greater than 0"):
        plan_from_arguments(["launch.fork"], [], catalogue, budget_seconds=budget)


def test_limits_can_be_given(catalogue):
    plan = plan_from_arguments(["launch.fork"], [], catalogue, limits={"processes": 20})
    assert plan.targets[0].limits.processes == 20


def test_the_budget_grows_with_what_is_asked_for(catalogue):
    small = plan_from_arguments(["clock.used"], [], catalogue)
    memory = plan_from_arguments(["launch.fork"], ["parent_bytes=0,64MiB,1GiB"], catalogue)
    assert small.budget_seconds == 5.0
    assert memory.budget_seconds > 3 * small.budget_seconds
    assert memory.budget_seconds == estimated_seconds(memory.targets)


def test_only_keeps_the_cells_that_match(catalogue):
    plan = load_plan("default", catalogue)
    kept = apply_only(plan, ["launch.fork[*temperature=warm]", "clock.used"])
    assert texts(kept) == [
        text for text in texts(plan) if text == "clock.used" or (text.startswith("launch.fork[") and "warm" in text)
    ]
    assert all(target.cells for target in kept.targets)
    assert (kept.name, kept.budget_seconds) == (plan.name, plan.budget_seconds)
    assert apply_only(plan, []) == plan


def test_only_refuses_a_glob_that_matches_nothing(catalogue):
    plan = load_plan("default", catalogue)
    with pytest.raises(UsageError) as caught:
        apply_only(plan, ["clock.*", "launch.forl"])
    assert "unknown cell of the plan default 'launch.forl'; did you mean 'launch.fork'" in caught.value.message
    with pytest.raises(UsageError, match=r"did you mean 'launch\.fork\[temperature=warm\]'"):
        apply_only(plan, ["launch.fork[temperature=wam]"])


PLAN = """
schema = 1
[limits]
samples = 90
[[cells]]
workloads = ["launch.fork", "clock.used"]
[[cells]]
workloads = "launch.fork"
temperature = "warm"
set.parent_bytes = "64MiB"
set.pages = ["rewritten", "clean"]
limits = {samples = 30, processes = 14}
"""


@pytest.fixture
def plan(catalogue):
    return parse_plan(PLAN, "mine.toml", catalogue)


def test_settings_scan_the_axis_in_every_target_that_has_it(plan, catalogue):
    scanned = apply_settings(plan, ["child_spin_ns=0,200"], catalogue)
    assert [text for text in texts(scanned) if "warm" in text] == [
        "launch.fork[temperature=warm]",
        "launch.fork[child_spin_ns=200,temperature=warm]",
        "launch.fork[parent_bytes=64MiB,temperature=warm]",
        "launch.fork[child_spin_ns=200,parent_bytes=64MiB,temperature=warm]",
        "launch.fork[pages=clean,parent_bytes=64MiB,temperature=warm]",
        "launch.fork[child_spin_ns=200,pages=clean,parent_bytes=64MiB,temperature=warm]",
    ]
    assert "clock.used" in texts(scanned)
    limits = {cell.text: target.limits for target in scanned.targets for cell in target.cells}
    assert limits["launch.fork[child_spin_ns=200,temperature=warm]"].samples == 90
    assert limits["launch.fork[child_spin_ns=200,parent_bytes=64MiB,temperature=warm]"].samples == 30


def test_targets_that_become_the_same_are_one_with_the_more_sparing_limits(plan, catalogue):
    scanned = apply_settings(plan, ["parent_bytes=1GiB", "pages=rewritten"], catalogue)
    assert texts(scanned) == [
        "launch.fork[parent_bytes=1GiB,temperature=cold]",
        "launch.fork[parent_bytes=1GiB,temperature=warm]",
        "clock.used",
    ]
    limits = scanned.targets[0].limits
    assert (limits.samples, limits.processes, limits.warmup, limits.blocks) == (30, 14, 1, 1)


def test_the_more_sparing_limits_may_be_those_of_either(catalogue):
    toml = """
schema = 1
[[cells]]
workloads = "launch.fork"
limits = {samples = 10, processes = 12}
[[cells]]
workloads = "launch.fork"
set.placement = "free"
limits = {samples = 30, processes = 14, warmup = 1}
"""
    scanned = apply_settings(parse_plan(toml, "mine.toml", catalogue), ["placement=free"], catalogue)
    [limits] = [target.limits for target in scanned.targets]
    assert (limits.samples, limits.processes, limits.warmup) == (10, 14, 1)


def test_settings_leave_out_what_makes_no_sense(plan, catalogue):
    scanned = apply_settings(plan, ["pages=clean"], catalogue)
    assert texts(scanned) == ["clock.used", "launch.fork[pages=clean,parent_bytes=64MiB,temperature=warm]"]
    only = apply_only(plan, ["launch.fork[temperature=*"])
    with pytest.raises(PlanError, match="there is nothing left to measure: pages=clean"):
        apply_settings(only, ["pages=clean"], catalogue)


def test_settings_of_temperature_keep_it(plan, catalogue):
    assert texts(apply_settings(plan, ["temperature=cold"], catalogue)) == [
        "launch.fork[temperature=cold]",
        "clock.used",
    ]
    with pytest.raises(UsageError, match="unknown temperature 'hot'"):
        apply_settings(plan, ["temperature=hot"], catalogue)
    warm = apply_only(plan, ["*warm]"])
    with pytest.raises(UsageError, match="no cell of the plan is measured cold"):
        apply_settings(warm, ["temperature=cold"], catalogue)


def test_an_axis_that_no_target_has_is_refused(plan, catalogue):
    with pytest.raises(UsageError, match="unknown axis of this plan 'program'") as caught:
        apply_settings(plan, ["program=/bin/true"], catalogue)
    assert "parent_bytes" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="did you mean 'clean'"):
        apply_settings(plan, ["pages=cleen"], catalogue)
