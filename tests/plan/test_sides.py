from __future__ import annotations

import pytest
from tests.catalogue import CATALOGUE

from clonometer.errors import UsageError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.sides import Side, plan_of_sides, read_side, sides_of_workloads, with_side_axis
from clonometer.plan.types import Catalogue, Plan


@pytest.fixture
def catalogue() -> Catalogue:
    return CATALOGUE


def sided(catalogue: Catalogue, a: list[str], b: list[str], *workloads: str, settings: tuple[str, ...] = ()) -> Plan:
    sides = read_side("a", a, catalogue), read_side("b", b, catalogue)
    plan = plan_from_arguments(workloads, settings, catalogue)
    return plan_of_sides(plan, sides, with_side_axis(catalogue), strict=True)


def test_a_side_is_read(catalogue: Catalogue) -> None:
    words = ["parent_bytes=64MiB", "env:X=a=b", "env:EMPTY=", "driver=python3 'my driver.py'", "do=s 1", "undo=s 0"]
    side = read_side("a", words, catalogue)
    assert dict(side.axes) == {"parent_bytes": 64 << 20}
    assert dict(side.environment) == {"X": "a=b", "EMPTY": ""}
    assert (side.driver, side.do, side.undo) == (("python3", "my driver.py"), "s 1", "s 0")
    assert side.settings == tuple(words)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["linkage"], "not a setting"),
        (["=static"], "not a setting"),
        (["linkgae=static"], "did you mean 'linkage'"),
        (["linkage=elastic"], "unknown value of linkage"),
        (["parent_bytes=much"], "parent_bytes takes a size"),
        (["temperature=cold"], "always measured and compared separately"),
        (["linkage=static", "linkage=static"], "linkage twice"),
        (["env:X=1", "env:X=2"], "env:X twice"),
        (["env:1X=1"], "not the name of a variable"),
        (["do=true"], "do without undo"),
        (["undo=true"], "undo without do"),
        (["do=", "undo=true"], "needs a command"),
        (["driver='open"], "no closing quotation"),
    ],
)
def test_what_is_no_side_is_refused(settings: list[str], complaint: str, catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_side("b", settings, catalogue)


def test_the_plan_has_each_target_twice_with_the_same_limits(catalogue: Catalogue) -> None:
    plan = sided(catalogue, [], ["parent_bytes=1GiB"], "launch.fork", "launch.pthread")
    texts = [target.cells[-1].text for target in plan.targets]
    assert texts == [
        "launch.fork[side=a,temperature=warm]",
        "launch.fork[parent_bytes=1GiB,side=b,temperature=warm]",
        "launch.pthread[side=a,temperature=warm]",
        "launch.pthread[parent_bytes=1GiB,side=b,temperature=warm]",
    ]
    # What makes each launch dear on one side makes both take fewer.
    assert plan.targets[0].limits == plan.targets[1].limits
    assert plan.targets[0].limits.warmup == 1


def test_a_scan_over_the_axis_of_a_side_is_one_pair(catalogue: Catalogue) -> None:
    plan = sided(catalogue, ["vmas=1"], ["vmas=2"], "launch.fork", settings=("vmas=1,2,3",))
    assert len(plan.targets) == 2


def test_only_temperatures_that_both_sides_have_are_compared(catalogue: Catalogue) -> None:
    plan = sided(catalogue, [], ["pages=clean"], "launch.fork", settings=("parent_bytes=2MiB",))
    assert {cell.temperature for cell in plan.cells} == {"warm"}


@pytest.mark.parametrize(
    ("a", "b", "workload", "complaint"),
    [
        ([], ["linkage=static"], "launch.fork", "do not differ"),
        (["env:X=1"], ["env:X=1"], "launch.fork", "do not differ"),
        ([], ["program=target_static"], "launch.pthread", "does not have the axis program"),
        ([], ["page_kind=thp"], "launch.fork", "has no effect"),
    ],
)
def test_sides_that_cannot_be_compared_are_refused(
    a: list[str], b: list[str], workload: str, complaint: str, catalogue: Catalogue
) -> None:
    with pytest.raises(UsageError, match=complaint):
        sided(catalogue, a, b, workload)


def test_workloads_without_the_axis_are_left_out_of_a_plan(catalogue: Catalogue) -> None:
    sides = Side("a"), read_side("b", ["program=target_dynamic"], catalogue)
    plan = plan_from_arguments(["launch.*"], (), catalogue)
    kept = plan_of_sides(plan, sides, with_side_axis(catalogue), strict=False)
    assert kept.targets
    assert all("exec" in target.workload or "spawn" in target.workload for target in kept.targets)


def test_a_catalogue_with_sides_can_be_read_again(catalogue: Catalogue) -> None:
    wide = with_side_axis(catalogue)
    assert read_catalogue([wide.raw]) == wide
    assert "side" not in catalogue.axes


def of_workloads(catalogue: Catalogue, *workloads: str, settings: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
    plan = plan_from_arguments(workloads, settings, catalogue)
    targets = plan_of_sides(plan, sides_of_workloads(plan), with_side_axis(catalogue), strict=True).targets
    axes = ("side", "parent_bytes", "stack_bytes")
    return [(each.workload, *(each.condition.get(axis) for axis in axes)) for each in targets]


def test_two_workloads_are_paired_where_all_that_both_have_is_alike(catalogue: Catalogue) -> None:
    settings = ("parent_bytes=0,64MiB", "stack_bytes=64KiB")
    assert of_workloads(catalogue, "fork", "pthread", settings=settings) == [
        ("launch.fork", "a", 0, None),
        ("launch.pthread", "b", 0, 64 << 10),
        ("launch.fork", "a", 64 << 20, None),
        ("launch.pthread", "b", 64 << 20, 64 << 10),
    ]


@pytest.mark.parametrize(
    ("workloads", "complaint"),
    [
        (("fork",), "the two sides do not differ"),
        (("fork", "pthread", "vfork"), "3 workloads are named"),
        (("fork", "clock.used"), "launch.fork and clock.used have no launches in common"),
    ],
)
def test_other_numbers_of_workloads_and_unlike_ones_are_refused(
    workloads: tuple[str, ...], complaint: str, catalogue: Catalogue
) -> None:
    with pytest.raises(UsageError, match=complaint):
        of_workloads(catalogue, *workloads)
