"""Pairs in random order, until all is sure: without starting anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from tests import catalogue

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.sides import Side, plan_of_sides, with_side_axis
from clonometer.plan.types import Plan, Target
from clonometer.results.ab.schedule import PairsScheduler
from clonometer.results.ab.turns import Counted
from clonometer.stats.sequential import PairedDesign

CATALOGUE = with_side_axis(catalogue.CATALOGUE)
SIDES = Side("a"), Side("b", environment={"X": "1"})
Level = Callable[[Target, np.random.Generator], float]


def make_plan(*workloads: str) -> Plan:
    plan = plan_from_arguments(workloads, ["temperature=warm"], CATALOGUE)
    return plan_of_sides(plan, SIDES, CATALOGUE, strict=True)


def make_scheduler(most_pairs: int = 60, budget_s: float = 1e6, seed: int = 3, **design: Any) -> PairsScheduler:
    return PairsScheduler(seed, budget_s, PairedDesign(most_pairs, 0.02, **design), CATALOGUE, Counted(("reaped",)))


def columns(reaped_ns: float) -> Mapping[str, Any]:
    reaped = np.full(5, reaped_ns, np.int64)
    return {
        "reaped_ns": reaped,
        "errno": np.zeros(5, np.int32),
        "cpu_before": np.ones(5, np.int32),
        "cpu_child": np.ones(5, np.int32),
    }


def play(scheduler: PairsScheduler, plan: Plan, level_ns: Level, cost_s: float = 0.1) -> list[tuple[int, int]]:
    """Each start as target and pair."""
    random = np.random.default_rng(8)
    scheduler.begin(plan)
    order = []
    while (index := scheduler.next_target(len(order) * cost_s)) is not None:
        order.append((index, scheduler.pair_of(index)))
        assert len(order) < 5000
        target = plan.targets[index]
        samples = [(target.cells[0].text, columns(level_ns(target, random)))]
        scheduler.process_ended(index, cost_s, samples)
    return order


def noisy(target: Target, random: np.random.Generator) -> float:
    return float(np.exp(random.normal(11.0, 0.3)))


def slower_b(target: Target, random: np.random.Generator) -> float:
    return float(np.exp(random.normal(11.0, 0.01))) * (1.5 if target.condition["side"] == "b" else 1.0)


def test_pairs_are_whole_and_a_coin_says_who_is_first() -> None:
    plan = make_plan("launch.fork", "launch.pthread")
    order = play(make_scheduler(40), plan, noisy)
    pairs = [order[at : at + 2] for at in range(0, len(order), 2)]
    assert len(pairs) == 80
    for number, ((first, pair), (second, its_pair)) in enumerate(pairs):
        assert (pair, its_pair) == (number, number)
        assert first // 2 == second // 2
        assert first != second
    b_first = [first % 2 for (first, _), _ in pairs]
    assert 25 <= sum(b_first) <= 55
    # Each round has every kind once.
    assert all({pairs[at][0][0] // 2, pairs[at + 1][0][0] // 2} == {0, 1} for at in range(0, 80, 2))


def test_the_seed_fixes_the_order() -> None:
    plan = make_plan("launch.fork", "launch.pthread")
    orders = [play(make_scheduler(12, seed=seed), plan, noisy) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_who_is_sure_at_a_look_gets_no_more_pairs_and_the_others_go_on() -> None:
    plan = make_plan("launch.fork", "launch.pthread")
    scheduler = make_scheduler(30)
    order = play(
        scheduler, plan, lambda target, random: (slower_b if "fork" in target.workload else noisy)(target, random)
    )
    assert [sum(index == target for index, _ in order) for target in range(4)] == [22, 22, 30, 30]
    assert [scheduler.stopped_by(target) for target in range(4)] == ["target"] * 2 + ["processes"] * 2


def test_the_budget_ends_it_between_pairs_but_not_before_each_kind_had_one() -> None:
    plan = make_plan("launch.fork", "launch.pthread")
    scheduler = make_scheduler(60, budget_s=1.0)
    assert len(play(scheduler, plan, noisy)) in (8, 10)
    assert scheduler.stopped_by(0) == "budget"
    assert len(play(make_scheduler(60, budget_s=0.01), plan, noisy)) == 4


@pytest.mark.parametrize("before", [True, False])
def test_what_one_side_cannot_measure_is_not_measured_on_the_other(before: bool) -> None:
    plan = make_plan("launch.fork", "launch.pthread")
    scheduler = make_scheduler(12)
    scheduler.begin(plan)
    if before:
        scheduler.drop(1)
    started = []
    while (index := scheduler.next_target(0.0)) is not None:
        started.append(index)
        scheduler.process_ended(index, 0.1, [])
        if index == 1:
            scheduler.drop(1)
    assert scheduler.stopped_by(0) is None
    assert started.count(1) == (0 if before else 1)
    assert started.count(0) <= 1
    assert (started.count(2), started.count(3)) == (12, 12)


def test_what_is_left_is_an_estimate_from_the_first_pairs() -> None:
    plan = make_plan("launch.fork")
    scheduler = make_scheduler(10)
    scheduler.begin(plan)
    assert scheduler.remaining_s(0.0) is None
    for _ in range(2):
        index = scheduler.next_target(0.0)
        assert index is not None
        scheduler.process_ended(index, 0.5, [])
    assert scheduler.remaining_s(1.0) == pytest.approx(9.0)


@pytest.mark.parametrize("senses", [True, False])
def test_pairs_are_of_launches_that_had_their_core_to_themselves(senses: bool) -> None:
    """B is 4% slower, and a launch beside a neighbour takes 1.6 times as long: more than half of them, or less."""
    plan = make_plan("launch.fork")
    scheduler = make_scheduler(60)
    random = np.random.default_rng(4)
    scheduler.begin(plan)
    starts = 0
    while (index := scheduler.next_target(0.0)) is not None:
        starts += 1
        beside = random.permutation(12) < random.integers(2, 8)
        took = 60_000 * np.where(beside, 1.6, 1.0) * np.exp(random.normal(0.0, 0.005, 12)) * (1.04 if index else 1.0)
        made = {name: np.resize(column, 12) for name, column in columns(0.0).items()}
        made |= {"reaped_ns": took.astype(np.int64), "cpu_after": np.ones(12, np.int32)}
        if senses:
            additions = np.where(beside, 1200, 640).astype(np.int32)
            made |= {"additions_before_ns": additions, "additions_after_ns": additions}
        scheduler.process_ended(index, 0.1, [(plan.targets[index].cells[0].text, made)])
    assert starts == (44 if senses else 120)
