"""Plans of the studies on this machine's catalogue: quick, shrunk, resumed."""

from __future__ import annotations

from itertools import product

import pytest

from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.planfile import load_plan
from clonometer.runner.drivers import find_drivers
from clonometer.studies.cells import axes_of, cell
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.parts import CappedRounds, load_part, plans_for, remaining, say_shrunk
from clonometer.studies.published import load_published

GIB = 1 << 30


@pytest.fixture(scope="module")
def catalogue():
    return read_catalogue(find_drivers().descriptions)


def test_every_study_has_its_plans_once():
    named = plans_for(["sysel-2020", "loop-10000"])
    assert {"sysel-2020", "flags", "contend", "loop-10000", "reconcile"} <= set(named)
    assert named[-1] == "reconcile"
    assert len(set(named)) == len(named)


def test_every_cell_that_stands_beside_a_published_number_is_planned(catalogue):
    published = load_published()
    names = plans_for(published.studies)
    cells = {cell.text for name in names for cell in load_plan(name, catalogue).cells}
    named = {value.cell for item in published.items for value in item.values if value.cell}
    assert named <= cells


def test_the_factorials_are_planned_whole(catalogue):
    cells = {cell.text for cell in load_plan("reconcile", catalogue).cells}
    cells |= {cell.text for cell in load_plan("reconcile-work", catalogue).cells}
    for pairing in PAIRINGS:
        for design in pairing.designs:
            for side in (pairing.a, pairing.b):
                workload, fixed = axes_of(side)
                for levels in product((0, 1), repeat=len(design.factors)):
                    axes = design.held | {axis: two[level] for (axis, two), level in
                                          zip(design.factors.items(), levels, strict=True)}  # fmt: skip
                    settings = {axis: value for axis, value in axes.items()
                           if value and (side == pairing.a or axis not in design.first_only)}  # fmt: skip
                    assert cell(workload, **fixed, **settings) in cells, design.words


def test_quick_and_full_keep_their_time(catalogue):
    names = plans_for(load_published().studies)
    quick = [load_part(name, catalogue, quick=True, available_bytes=64 * GIB)[0] for name in names]
    full = [load_part(name, catalogue, quick=False, available_bytes=64 * GIB)[0] for name in names]
    assert sum(plan.budget_seconds for plan in quick) <= 150
    assert sum(plan.budget_seconds for plan in full) <= 1050
    assert all(plan.name.endswith("-quick") for plan in quick)
    assert {target.limits.processes >= 6 for plan in quick for target in plan.targets} == {True}


def test_too_little_memory_makes_the_four_gigabytes_smaller_and_says_so(catalogue):
    plan, shrunk = load_part("sysel-2020", catalogue, quick=False, available_bytes=2 * GIB)
    written = [target for target in plan.targets if target.condition.get("page_kind") != "untouched"]
    assert max(target.condition.get("parent_bytes", 0) for target in written) == GIB
    # What is never touched needs no memory.
    controls = [target for target in plan.targets if target not in written]
    assert {target.condition["parent_bytes"] for target in controls} == {4_000_000_000}
    assert {change.planned_bytes for change in shrunk} == {4_000_000_000}
    [sentence] = say_shrunk(shrunk)
    assert "1 GiB" in sentence
    assert "no figures are given" in sentence
    assert all("3906250KiB" not in cell.text for target in written for cell in target.cells)
    whole, nothing = load_part("sysel-2020", catalogue, quick=False, available_bytes=64 * GIB)
    assert nothing == ()
    assert any("3906250KiB" in cell.text for cell in whole.cells)
    tiny, _ = load_part("sysel-2020", catalogue, quick=False, available_bytes=64 << 20)
    written = [target for target in tiny.targets if target.condition.get("page_kind") != "untouched"]
    assert max(target.condition.get("parent_bytes", 0) for target in written) == 32 << 20


def test_what_is_measured_is_not_measured_again(catalogue):
    plan, _ = load_part("loop-10000", catalogue, quick=True, available_bytes=None)
    done = {cell.text: plan.targets[0].limits.processes for cell in plan.targets[0].cells}
    done |= {cell.text: 2 for cell in plan.targets[1].cells}
    left = remaining(plan, done)
    assert left.targets[0].workload == plan.targets[1].workload
    assert left.targets[0].limits.processes == plan.targets[1].limits.processes - 2
    assert left.targets[1:] == plan.targets[2:]
    assert remaining(plan, dict.fromkeys((cell.text for cell in plan.cells), 99)).targets == ()


def test_rounds_end_with_the_budget_but_every_target_has_its_first(catalogue):
    plan, _ = load_part("loop-10000", catalogue, quick=True, available_bytes=None)
    scheduler = CappedRounds(1, 10.0)
    scheduler.begin(plan)
    seen = []
    while (target := scheduler.next_target(100.0)) is not None:
        seen.append(target)
        scheduler.process_ended(target, 1.0)
    assert sorted(seen) == list(range(len(plan.targets)))
    assert scheduler.stopped_by(0) == "budget"
    # Until three times the budget a target gets the processes that a ratio needs.
    patient = CappedRounds(1, 10.0)
    patient.begin(plan)
    while (target := patient.next_target(20.0)) is not None:
        patient.process_ended(target, 1.0)
    assert {len(times) for times in patient._seconds} == {6}
    endless = CappedRounds(1, 1e9)
    endless.begin(plan)
    count = 0
    while (target := endless.next_target(0.0)) is not None:
        endless.process_ended(target, 1.0)
        count += 1
    assert count == sum(target.limits.processes for target in plan.targets)
    assert endless.stopped_by(0) == "processes"
