"""``make matrix``: what it asks for, and that it can fail."""

from __future__ import annotations

from tests.views.sample_results import sample_results

from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.cell import Cell
from clonometer.plan.types import Limits, Plan, Target
from clonometer.results.types import CellOutcome
from clonometer.runner.drivers import find_drivers
from tools import matrix


def test_every_workload_and_every_choice_of_the_two_main_ones_is_asked_for():
    catalogue = read_catalogue(find_drivers().descriptions)
    plan = matrix.make_plan(catalogue)
    assert {target.workload for target in plan.targets} == set(catalogue.workloads)
    for workload in matrix.MAIN_WORKLOADS:
        for name in catalogue.workloads[workload].axes:
            axis = catalogue.axes[name]
            seen = {target.condition[name] for target in plan.targets if target.workload == workload}
            assert seen >= set(axis.values)
            assert axis.kind == "choice" or len(seen) > 1, name


def verdicts(status, reason=None, **changes):
    results = sample_results()
    row = results.cells[0]
    cell = Cell(row.cell, row.workload, row.condition, row.temperature)
    plan = Plan("matrix", "", 1.0, (Target(row.workload, row.condition, (cell,), Limits()),))
    return matrix.judge(plan, sample_results(cell_outcomes=[CellOutcome(row.cell, status, reason)], **changes))[0]


def test_each_end_has_its_word():
    assert verdicts("ok").word == "ok"
    assert verdicts("skipped", "no musl").word == "unavailable"
    assert verdicts("skipped", "no musl").text == "no musl"
    assert verdicts("failed", "it died").word == "failed"
    assert verdicts("missing").word == "failed"


def test_a_cell_without_a_sample_has_failed_whatever_its_driver_says():
    assert verdicts("ok", cells=[]).word == "failed"
